"""GAE and VGAE (Kipf & Welling, "Variational Graph Auto-Encoders", 2016), and what others share.

R-VGAE and MHAVGAE take their graphs, decoders, losses and scorer from here. All matrices are dense:
a reconstruction compares a score for every pair of nodes, so sparse graphs would save nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - everybody calls it F

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.parts import PairSplit
from proprl.errors import SplitError
from proprl.graphs.evidence import Evidence
from proprl.models.needs import refuse_beyond_limit
from proprl.models.networks.layers import ends
from proprl.models.networks.scorer import Batch, Named, NetworkScorer, NetworkSettings, ours
from proprl.training.loop import Schedule

Decoding: TypeAlias = Literal["directed", "inner"]
"""Whether a pair is decoded with a trainable matrix R, or by the inner product (symmetric)."""
Zeros: TypeAlias = Literal["labelled", "all"]
"""What counts as no link: the training pairs with label 0, or every pair but the held-out ones."""


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
    return np.asarray(scale[:, None] * looped * scale)


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

        This is 1/n of the divergence, as in the published code, whose other term is a mean over n²
        cells.
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

    def __init__(self, size: int, decoder: Decoding) -> None:
        super().__init__()
        self.R = nn.Parameter(torch.empty(size, size)) if decoder == "directed" else None
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


class AutoencoderSettings(NetworkSettings):
    """Settings that every graph autoencoder has; sizes, rate and epochs are Kipf & Welling's."""

    epochs: int = Field(200, ge=1)
    batch_size: None = None  # each step reconstructs the whole matrix
    learning_rate: float = Field(0.01, gt=0)
    hidden: int = Field(32, ge=1)
    size: int = Field(16, ge=1)
    decoder: Decoding = "directed"
    # "all" (published) takes every pair without a label for a negative. That wastes the labelled
    # ones: on the public sets it cost GAE 3 and VGAE 7 points of validation AUC.
    zeros: Zeros = "labelled"

    def schedule(self, training_pairs: int) -> Schedule:
        """Give one full step for each epoch."""
        return replace(super().schedule(training_pairs), batch_size=training_pairs)


class AutoencoderScorer(NetworkScorer):
    """A method that encodes concepts over a graph and decodes links between them.

    The last of its inputs is `links`, the reconstruction of the training positives; from the
    others the network gives the posterior. The network has a `decoder`. Each step reconstructs
    the whole matrix whatever the batch, and `pos_weight` balances the classes.
    """

    settings_type: ClassVar[type[AutoencoderSettings]] = AutoencoderSettings
    presets = ours(paper={"decoder": "inner", "zeros": "all"})

    def posterior(self, network: Any, inputs: Any) -> Posterior:
        """Give the codes of all concepts."""
        *given, _links = inputs
        return network(*given)  # type: ignore[no-any-return]

    def encode(self, network: Any, inputs: Any) -> dict[str, Tensor]:
        """Give the mean of each concept's code."""
        return {"Z": self.posterior(network, inputs).mu}

    def logits(self, network: Any, encoded: Named, pairs: Tensor) -> dict[str, Tensor]:
        """Give z_aᵀ R z_b, or z_aᵀ z_b."""
        return {"link": network.decoder(*ends(encoded["Z"], pairs))}

    def loss(self, network: Any, inputs: Any, batch: Batch) -> Tensor:  # noqa: ARG002
        """L = norm · BCE(Z R Zᵀ, A) + KL."""
        posterior = self.posterior(network, inputs)
        loss: Tensor = inputs.links.loss(network.decoder.matrix(posterior.sample()))
        return loss + posterior.divergence()

    def adjacency(self, split: PairSplit, n: int) -> FloatArray:
        """Give the directed 0/1 matrix of the training positives; an error where there is none."""
        refuse_beyond_limit(self.name, n, "concepts")
        if not len(split.train.positives):
            raise SplitError(
                "no training pair has label 1: an autoencoder learns from known prerequisites; "
                "label some, or choose a split that leaves some in train"
            )
        return adjacency(split.train.positives, n)

    def messages(self, A: FloatArray) -> Tensor:
        """Give Â of max(A, Aᵀ): messages pass along known prerequisites in both directions."""
        return self.tensor(normalised_adjacency(symmetrise(A)))

    def links(self, A: FloatArray, split: PairSplit) -> Reconstruction:
        """Give what is to be reconstructed of the training positives A.

        A itself, or A ∪ Aᵀ + I where the decoder is "inner". Validation and test cells never
        count; see `counted_cells`.
        """
        inner = self.settings.decoder == "inner"
        target = symmetrise(A) if inner else A
        counted = counted_cells(target, split, self.settings.zeros)
        if not (counted > target).any():
            raise SplitError(
                "no training pair has label 0, so everything would be a prerequisite: label some, "
                'give background, or set zeros="all" to take pairs without a label for negatives'
            )
        return Reconstruction.of(self.tensor(target), self.tensor(counted), loops=inner)


def counted_cells(A: FloatArray, split: PairSplit, zeros: Zeros) -> FloatArray:
    """Return which cells of a label matrix count in training: n × n, 1 or 0.

    The links in A and all training rows count, background among them. With "all" every other cell
    counts too, as a zero, except the cells of validation and test pairs in both orders: held-out
    prerequisites must not be trained as zeros. Which pairs are held out decides this, never their
    labels. A training row counts even if it is held out as well (the published splits overlap).
    """
    counted = np.zeros_like(A)
    if zeros == "all":
        held_out = np.concatenate([split.validation.pairs, split.test.pairs])
        counted = 1.0 - symmetrise(adjacency(held_out, len(A)))
    counted[A > 0] = 1.0
    counted[split.train.pairs[:, 0], split.train.pairs[:, 1]] = 1.0
    return counted


class GraphAutoencoder(nn.Module):
    """A convolutional encoder over training positives, and a decoder of pairs."""

    variational: ClassVar[bool] = False

    def __init__(self, in_size: int, hidden: int, size: int, decoder: Decoding) -> None:
        super().__init__()
        self.encoder = ConvolutionalEncoder(in_size, hidden, size, variational=self.variational)
        self.decoder = Decoder(size, decoder)

    def forward(self, X: Tensor, A: Tensor) -> Posterior:
        """Encode n concepts: (n, in_size) -> (n, size)."""
        return self.encoder(X, A)  # type: ignore[no-any-return]


class VariationalGraphAutoencoder(GraphAutoencoder):
    """The same, with a normal distribution for each concept's code."""

    variational: ClassVar[bool] = True


class Inputs(NamedTuple):
    """The features, the graph of training positives, and what is to be reconstructed."""

    X: Tensor  # (n, d)
    A: Tensor  # (n, n): Â
    links: Reconstruction


class GAEScorer(AutoencoderScorer):
    """Graph autoencoder: concepts are encoded over the graph that they are to reconstruct.

    Messages pass over the symmetrised training positives. With the directed decoder the target
    is the directed matrix of training positives; with "inner", the symmetrised one with loops,
    as published, which cannot tell a pair from its reverse.

    The cells of validation and test pairs, in both orders, are masked out of the loss; other
    cells without a label count as zeros where `zeros` is "all": see `counted_cells`.
    """

    network_type = GraphAutoencoder

    def prepare(self, evidence: Evidence, split: PairSplit) -> Inputs:
        """Give the features, Â, and the matrix to reconstruct."""
        A = self.adjacency(split, evidence.concept_count)
        return Inputs(self.features(evidence), self.messages(A), self.links(A, split))


class VGAEScorer(GAEScorer):
    """Variational graph autoencoder: GAE whose codes are normal distributions."""

    network_type = VariationalGraphAutoencoder
