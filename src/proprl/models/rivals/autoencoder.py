"""What the graph autoencoders share: normalised graphs, encoder, decoders and losses.

Kipf & Welling, "Variational Graph Auto-Encoders", 2016. Everything is dense: a reconstruction
compares a score for every pair of nodes, so that sparse graphs would save nothing.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Self, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - everybody calls it F

from proprl.arrays import FloatArray, IntArray
from proprl.errors import ProprlError

DENSE_LIMIT = 5_000
"""Beyond this many nodes a matrix of all their pairs is refused: 100 MB, several times over."""

Decoding: TypeAlias = Literal["directed", "inner"]
"""Whether a pair is decoded with a trainable matrix R, or by the inner product (symmetric)."""


def refuse_beyond_limit(method: str, count: int, nodes: str) -> None:
    """Raise unless a matrix of all pairs of so many nodes is small enough to hold."""
    if count > DENSE_LIMIT:
        raise ProprlError(
            f"{method} holds a matrix of all pairs of {nodes}, for at most {DENSE_LIMIT:,}; there "
            f"are {count:,}: choose a method that works on sparse graphs, such as proprl"
        )


def adjacency(pairs: IntArray, n: int) -> FloatArray:
    """Return the directed 0/1 matrix with A[a, b] = 1 for every pair (a, b): n × n."""
    A = np.zeros((n, n))
    A[pairs[:, 0], pairs[:, 1]] = 1.0
    return A


def symmetrise(A: FloatArray) -> FloatArray:
    """Return max(A, Aᵀ)."""
    return np.maximum(A, A.T)


def normalised_adjacency(A: FloatArray) -> FloatArray:
    """Return Â = D^{-1/2} (A + I) D^{-1/2} of a symmetric A, where D_ii = Σ_j (A + I)_ij."""
    looped = A + np.eye(len(A))
    scale = looped.sum(axis=1) ** -0.5  # at least 1, thanks to the self-loop
    hat: FloatArray = scale[:, None] * looped * scale
    return hat


class Reconstruction(NamedTuple):
    """A 0/1 matrix to be reconstructed, the cells that count, and the weights of the loss.

    L = norm · mean over counted cells of BCE(logit, target, pos_weight), where for C counted
    cells with P links pos_weight = (C - P) / P and norm = C / (2 (C - P)).
    """

    target: Tensor  # (rows, columns)
    counted: Tensor  # (rows, columns): 1 where a cell counts, else 0
    pos_weight: Tensor  # ()
    norm: float

    @classmethod
    def of(cls, A: Tensor, counted: Tensor | None = None, *, loops: bool = False) -> Self:
        """Give the reconstruction of A, or with `loops` of A + I.

        As in the published code the weights do not count the loops.
        """
        counted = torch.ones_like(A) if counted is None else counted
        C, P = counted.sum().item(), (A * counted).sum().item()
        target = A + torch.eye(len(A), dtype=A.dtype, device=A.device) if loops else A
        return cls(target, counted, A.new_tensor((C - P) / P), C / (2 * (C - P)))

    def loss(self, logits: Tensor) -> Tensor:
        """Give what these logits cost: (rows, columns) -> ()."""
        bce = F.binary_cross_entropy_with_logits(
            logits, self.target, pos_weight=self.pos_weight, weight=self.counted, reduction="sum"
        )
        return self.norm * bce / self.counted.sum()


class GraphConvolution(nn.Module):
    """Â X W, with Glorot's initial weights and no bias."""

    def __init__(self, in_size: int, size: int) -> None:
        super().__init__()
        self.W = nn.Parameter(torch.empty(in_size, size))
        nn.init.xavier_uniform_(self.W)

    def forward(self, X: Tensor, A: Tensor) -> Tensor:
        """Pass messages between n nodes: (n, in_size) -> (n, size)."""
        return A @ (X @ self.W)


class Posterior(NamedTuple):
    """The nodes' codes: their means, and the logarithms of their spreads where they have any."""

    mu: Tensor  # (n, size)
    log_sigma: Tensor | None = None  # (n, size)

    def sample(self) -> Tensor:
        """Give Z = μ + ε ⊙ σ, ε ~ N(0, I); just μ where there is no spread."""
        if self.log_sigma is None:
            return self.mu
        return self.mu + torch.randn_like(self.mu) * self.log_sigma.exp()

    def divergence(self) -> Tensor:
        """Give KL = -(1 / 2n) mean_i Σ_k (1 + 2 log σ - μ² - σ²); 0 where there is no spread.

        The mean makes it 1/n of the divergence, as the published code has it beside a mean
        over n² cells.
        """
        mu, log_sigma = self
        if log_sigma is None:
            return mu.new_zeros(())
        terms = 1 + 2 * log_sigma - mu**2 - (2 * log_sigma).exp()
        return -terms.sum(dim=1).mean() / (2 * len(mu))


class ConvolutionalEncoder(nn.Module):
    """H = ReLU(Â X W_0), μ = Â H W_μ, and for a variational encoder log σ = Â H W_σ."""

    def __init__(self, in_size: int, hidden: int, size: int, *, variational: bool) -> None:
        super().__init__()
        self.W_0 = GraphConvolution(in_size, hidden)
        self.W_mu = GraphConvolution(hidden, size)
        self.W_sigma = GraphConvolution(hidden, size) if variational else None

    def forward(self, X: Tensor, A: Tensor) -> Posterior:
        """Encode n nodes: (n, in_size) -> (n, size)."""
        H = torch.relu(self.W_0(X, A))  # (n, hidden)
        return Posterior(self.W_mu(H, A), self.W_sigma(H, A) if self.W_sigma else None)


class Decoder(nn.Module):
    """s_ab = z_aᵀ R z_b with a full trainable R; or z_aᵀ z_b, which scores both orders alike.

    A diagonal R (DistMult) would be symmetric again.
    """

    def __init__(self, size: int, decoding: Decoding) -> None:
        super().__init__()
        self.R = nn.Parameter(torch.empty(size, size)) if decoding == "directed" else None
        if self.R is not None:
            nn.init.xavier_uniform_(self.R)

    def left(self, Z: Tensor) -> Tensor:
        """Z R, or Z."""
        return Z if self.R is None else Z @ self.R

    def forward(self, z_a: Tensor, z_b: Tensor) -> Tensor:
        """Score m pairs: (m, size) twice -> (m,)."""
        return (self.left(z_a) * z_b).sum(dim=-1)

    def matrix(self, Z: Tensor) -> Tensor:
        """Score every pair: (n, size) -> (n, n), the source in the row."""
        return self.left(Z) @ Z.T
