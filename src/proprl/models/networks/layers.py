"""Layers that several methods share."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - everybody calls it F

from proprl.arrays import SparseMatrix

DENSE_UP_TO = 2_000
"""Up to this many concepts a dense operator is small and its product faster than a sparse one."""


def as_operator(A: SparseMatrix, device: torch.device) -> Tensor:
    """Give a scipy matrix as a float32 tensor for `A @ H`: dense when small, else sparse CSR."""
    if A.shape[0] <= DENSE_UP_TO:
        return torch.from_numpy(A.toarray()).to(device, torch.float32)
    A = A.tocsr()
    return torch.sparse_csr_tensor(
        torch.from_numpy(A.indptr.astype("int64")),
        torch.from_numpy(A.indices.astype("int64")),
        torch.from_numpy(A.data).float(),
        size=A.shape,
        device=device,
    )


def take(H: Tensor, rows: Tensor | None) -> Tensor:
    """Give these rows of H, or all of them."""
    return H if rows is None else H.index_select(0, rows)


def times(A: Tensor, H: Tensor, rows: Tensor | None) -> Tensor:
    """A H, or these rows of it: a dense operator then computes no others."""
    if A.layout == torch.strided:
        return take(A, rows) @ H
    return take(A @ H, rows)  # rows of a sparse operator cost more to pick than they save


@dataclass(frozen=True)
class Channel:
    """A constant operator, with the products that need computing only once."""

    A: Tensor | None  # (n, n); None is the identity: a concept hears only itself
    AX: Tensor  # (n, d)
    S: Tensor | None = None  # (n, n): k propagation steps as one dense operator, for small n

    def heard(self, H: Tensor, rows: Tensor | None = None) -> Tensor:
        """A H: what each concept, or those of `rows`, hears from its neighbours."""
        return take(H, rows) if self.A is None else times(self.A, H, rows)


class GraphEncoder(nn.Module):
    """Message passing with shortcuts: H' = φ(A H W_g + b_g) + H W_0 + b_0.

    φ is ReLU; dropout follows each layer.
    """

    def __init__(self, in_size: int, size: int, layers: int = 2, dropout: float = 0.5) -> None:
        super().__init__()
        sizes = [in_size] + [size] * layers
        self.graph = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(sizes))  # W_g, b_g
        self.shortcut = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(sizes))  # W_0, b_0
        self.dropout = nn.Dropout(dropout)

    def forward(self, X: Tensor, channel: Channel, rows: Tensor | None = None) -> Tensor:
        """Encode n concepts, or those of `rows`: (n, in_size) -> (n or len(rows), size)."""
        H = X
        for layer, shortcut in enumerate(self.shortcut):
            wanted = rows if layer == len(self.shortcut) - 1 else None  # neighbours need the others
            heard = torch.relu(self.heard(layer, H, channel, wanted))
            H = self.dropout(heard + shortcut(take(H, wanted)))
        return H

    def heard(self, layer: int, H: Tensor, channel: Channel, rows: Tensor | None) -> Tensor:
        """A H W_g + b_g: what concepts hear in a layer."""
        AH = take(channel.AX, rows) if layer == 0 else channel.heard(H, rows)
        return self.graph[layer](AH)  # type: ignore[no-any-return]


class PairHead(nn.Module):
    """Siamese score of an ordered pair: s = wᵀ[x̃_i; x̃_j; x̃_i - x̃_j; x̃_i ⊙ x̃_j] + b, x̃ = ρ(x)."""

    def __init__(self, in_size: int, size: int = 64) -> None:
        super().__init__()
        self.rho = nn.Linear(in_size, size)
        self.w = nn.Linear(4 * size, 1)

    def forward(self, x_i: Tensor, x_j: Tensor) -> Tensor:
        """Score m pairs: (m, in_size) twice -> (m,)."""
        r = pair_representation(torch.relu(self.rho(x_i)), torch.relu(self.rho(x_j)))
        return self.w(r).squeeze(-1)  # type: ignore[no-any-return]


def ends(H: Tensor, pairs: Tensor) -> tuple[Tensor, Tensor]:
    """Give the rows of the sources and of the targets: (n, size), (m, 2) -> (m, size) twice."""
    return H.index_select(0, pairs[:, 0]), H.index_select(0, pairs[:, 1])


def involved(pairs: Tensor) -> tuple[Tensor, Tensor]:
    """Give the concepts that occur in pairs, and the pairs as positions among them.

    A batch of few pairs needs the last layer for few concepts only.

    >>> involved(torch.tensor([[7, 2], [2, 9]]))
    (tensor([2, 7, 9]), tensor([[1, 0],
            [0, 2]]))
    """
    concepts, positions = torch.unique(pairs, return_inverse=True)
    return concepts, positions


def pair_representation(x_i: Tensor, x_j: Tensor) -> Tensor:
    """r_ij = [x_i; x_j; x_i - x_j; x_i ⊙ x_j]: (m, h) twice -> (m, 4h)."""
    return torch.cat([x_i, x_j, x_i - x_j, x_i * x_j], dim=-1)


def mlp(*sizes: int, dropout: float = 0.0) -> nn.Sequential:
    """Linear layers of these sizes, with ReLU and dropout between them."""
    layers: list[nn.Module] = []
    for a, b in pairwise(sizes):
        layers += [nn.Linear(a, b), nn.ReLU(), nn.Dropout(dropout)]
    return nn.Sequential(*layers[:-2])


def edge_softmax(scores: Tensor, targets: Tensor, n: int) -> Tensor:
    """Turn the scores of edges into shares that sum to 1 over each target's edges.

    Scores are (e, heads), targets (e,) are rows below n. A target's largest score is taken off
    first, so that exp cannot overflow.
    """
    where = targets[:, None].expand_as(scores)
    top = scores.new_full((n, scores.shape[1]), -torch.inf)
    top = top.scatter_reduce(0, where, scores.detach(), "amax")
    share = (scores - top.index_select(0, targets)).exp()
    total = share.new_zeros(n, scores.shape[1]).index_add(0, targets, share)
    return share / total.index_select(0, targets)


def weighted_sum(alpha: Tensor, WH: Tensor, edges: Tensor) -> Tensor:
    """Add up each target's sources by their shares: (e, heads), (n, heads, size) -> like WH."""
    sources, targets = edges
    n, heads, size = WH.shape
    if n > DENSE_UP_TO or len(sources) * size < n * n:
        messages = alpha[:, :, None] * WH.index_select(0, sources)  # (e, heads, size)
        return torch.zeros_like(WH).index_add(0, targets, messages)
    # One message for each of many edges moves more memory than a dense product with the graph.
    head = torch.arange(heads, device=WH.device)[:, None]
    A = alpha.new_zeros(heads, n, n).index_put((head, targets, sources), alpha.T, accumulate=True)
    return (A @ WH.transpose(0, 1)).transpose(0, 1)


class GraphAttention(nn.Module):
    r"""A node hears the sources of its edges, each by its share (Veličković et al., ICLR 2018).

    .. math:: h'_i = \Big\Vert_h \sum_{j \to i} \alpha^h_{ij} W^h h_j + b, \quad
              \alpha^h_{ij} = \mathrm{softmax}_{j \to i}\, \mathrm{LeakyReLU}
              (a^h \cdot W^h h_j + c^h \cdot W^h h_i + v^h w_{ij})

    The last term is there for `weighted` edges only. A node without incoming edges hears nothing
    and gets b. There are no self-loops but those among the edges.
    """

    def __init__(
        self,
        in_size: int,
        size: int,
        heads: int = 1,
        *,
        weighted: bool = False,
        negative_slope: float = 0.2,
    ) -> None:
        super().__init__()
        self.heads, self.negative_slope = heads, negative_slope
        self.W = nn.Linear(in_size, heads * size, bias=False)
        self.a = nn.Parameter(torch.empty(heads, size))
        self.c = nn.Parameter(torch.empty(heads, size))
        self.v = nn.Parameter(torch.empty(1, heads)) if weighted else None
        self.b = nn.Parameter(torch.zeros(heads * size))
        for weight in (self.W.weight, self.a, self.c, self.v):
            if weight is not None:
                nn.init.xavier_uniform_(weight)

    def forward(self, H: Tensor, edges: Tensor, weights: Tensor | None = None) -> Tensor:
        """Give (n, heads·size) for n nodes (n, in_size) and edges (2, e): sources, targets."""
        n, (sources, targets) = len(H), edges
        WH = self.W(H).view(n, self.heads, -1)  # (n, heads, size)
        from_source, at_target = (WH * self.a).sum(dim=-1), (WH * self.c).sum(dim=-1)
        scores = from_source.index_select(0, sources) + at_target.index_select(0, targets)
        if self.v is not None and weights is not None:
            scores = scores + weights[:, None] * self.v
        alpha = edge_softmax(F.leaky_relu(scores, self.negative_slope), targets, n)  # (e, heads)
        return weighted_sum(alpha, WH, edges).reshape(n, -1) + self.b
