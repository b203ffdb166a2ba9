"""The network of LCPRE: attention along typed paths, over paths, and over schemas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - everybody calls it F

from proprl.models.networks.attention import edge_softmax
from proprl.models.rivals.lcpre.paths import Paths


class PathAttention(nn.Module):
    """Self-attention along a path, for its first and its last node alone.

    softmax(Q Kᵀ / √(size / heads)) V W_o over the nodes x + p of a path, p a learned vector for
    each position. Q, K and V are linear, so nodes are projected once for all their paths, and
    positions once for all nodes.
    """

    def __init__(self, size: int = 128, heads: int = 4, longest: int = 5) -> None:
        super().__init__()
        self.heads = heads
        self.p = nn.Parameter(0.02 * torch.randn(longest, size))
        self.Q, self.K, self.V = (nn.Linear(size, size) for _ in range(3))
        self.W_o = nn.Linear(size, size)

    def forward(self, X: Tensor, paths: Tensor) -> tuple[Tensor, Tensor]:
        """Encode p paths (p, length) of nodes (nodes, size): (p, size) for either end."""
        length = paths.shape[1]
        first_and_last = [0, length - 1]
        Q = self._along(self.Q, X, paths[:, first_and_last], self.p[first_and_last])
        K, V = (self._along(W, X, paths, self.p[:length]) for W in (self.K, self.V))
        # Sums of products: far faster than batches of products of 2 × 5 matrices.
        scores = (Q[:, :, None] * K[:, None]).sum(dim=-1)  # (p, 2, length, heads)
        scores = scores / Q.shape[-1] ** 0.5
        alpha = scores.softmax(dim=2)
        heard = (alpha[..., None] * V[:, None]).sum(dim=2)  # (p, 2, heads, d)
        s, t = self.W_o(heard.flatten(2)).unbind(dim=1)
        return s, t

    def _along(self, W: nn.Linear, X: Tensor, paths: Tensor, p: Tensor) -> Tensor:
        """W (x + p) for each node of each path: (p, length, heads, size / heads)."""
        projected = F.embedding(paths, W(X)) + F.linear(p, W.weight)
        return projected.view(*paths.shape, self.heads, X.shape[1] // self.heads)


class RoleEncoder(nn.Module):
    """A concept in one role (prerequisite, or dependent), from its paths of every schema.

    Over the paths of schema i: α^h = softmax LeakyReLU(w_i^h · s + v_i^h · t^h), and
    o_i = ReLU(‖_h Σ α^h t^h); 0 for a concept without a path. Over schemas: a = softmax of
    q · mean ReLU(W_i o_i), and h = W Σ_i a_i o_i.
    """

    def __init__(self, schemas: int, size: int = 128, heads: int = 4, out_size: int = 64) -> None:
        super().__init__()
        self.heads = heads
        self.w = nn.ParameterList(nn.Parameter(torch.empty(heads, size)) for _ in range(schemas))
        self.v = nn.ParameterList(
            nn.Parameter(torch.empty(heads, size // heads)) for _ in range(schemas)
        )
        for weight in (*self.w, *self.v):
            nn.init.xavier_uniform_(weight)
        self.W_schema = nn.ModuleList(nn.Linear(size, out_size) for _ in range(schemas))
        self.q = nn.Linear(out_size, 1, bias=False)
        self.W = nn.Linear(size, out_size)

    def summarise(self, encoded: Sequence[Encoded], concepts: Tensor, n: int) -> Tensor:
        """What the paths of some of n concepts come to, by schema: o, (schemas, c, size)."""
        row = torch.full((n,), -1, device=concepts.device)
        row[concepts] = torch.arange(len(concepts), device=concepts.device)
        parts = []
        for (owner, s, t), w, v in zip(encoded, self.w, self.v, strict=True):
            own = torch.nonzero(row[owner] >= 0).squeeze(1)
            rows, s, t_h = row[owner[own]], s[own], t[own].view(len(own), *v.shape)
            g = F.leaky_relu(F.linear(s, w) + (t_h * v).sum(dim=-1))
            alpha = edge_softmax(g, rows, len(concepts))  # (p, heads)
            nothing = t_h.new_zeros(len(concepts), *t_h.shape[1:])
            o = nothing.index_add(0, rows, alpha[:, :, None] * t_h)  # (c, heads, d)
            parts.append(torch.relu(o).flatten(1))
        return torch.stack(parts)

    def schema_weights(self, O: Tensor) -> Tensor:
        """How much each schema counts, judged over the given concepts: (schemas, c, size) -> a."""
        heard = [torch.relu(W(o)).mean(dim=0) for W, o in zip(self.W_schema, O, strict=True)]
        return self.q(torch.stack(heard)).squeeze(1).softmax(dim=0)  # type: ignore[no-any-return]

    def forward(self, O: Tensor, a: Tensor) -> Tensor:
        """h of c concepts: (schemas, c, size), (schemas,) -> (c, out_size)."""
        return self.W(torch.einsum("i,ics->cs", a, O))  # type: ignore[no-any-return]


class Encoded(NamedTuple):
    """The paths of one schema, encoded."""

    owner: Tensor  # (p,): the concept that a path starts from
    s: Tensor  # (p, size): its first node
    t: Tensor  # (p, size): its last node


class LCPRENetwork(nn.Module):
    """Nodes of two kinds, one attention along paths, and an encoder for each role."""

    def __init__(
        self, in_size: int, resource_size: int, schemas: Sequence[str], *, size: int, dropout: float
    ) -> None:
        super().__init__()
        self.concept, self.resource = nn.Linear(in_size, size), nn.Linear(resource_size, size)
        self.dropout = nn.Dropout(dropout)
        self.path = PathAttention(size, longest=max(len(schema) for schema in schemas))
        self.before, self.after = (
            RoleEncoder(len(schemas), size, out_size=size // 2) for _ in range(2)
        )

    def nodes(self, X: Tensor, X_r: Tensor) -> Tensor:
        """Project n concepts, then m resources: (n + m, size)."""
        return torch.cat([self.concept(self.dropout(X)), self.resource(self.dropout(X_r))])

    def encode(self, H: Tensor, paths: Sequence[Paths]) -> list[Encoded]:
        """Encode the paths of every schema through nodes (n + m, size)."""
        return [Encoded(p.owner, *self.path(H, p.nodes)) for p in paths]
