"""The network of ProPRL: two graph views of each concept, and a gate that fuses them per pair.

The equations are the paper's; docs/paper-to-code.md says where each of them stands.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from proprl.graphs.evidence import VIEWS
from proprl.models.networks.layers import (
    Channel,
    GraphEncoder,
    PairHead,
    ends,
    mlp,
    pair_representation,
    take,
    times,
)

FUSED = "fused"


class BehaviourEncoder(nn.Module):
    """V = LN(φ(Z_out W_out + Z_in W_in)): where learners go from a concept and come from."""

    def __init__(
        self, in_size: int, size: int, layers: int, dropout: float, alpha: float, k: int
    ) -> None:
        super().__init__()
        self.out = GraphEncoder(in_size, size, layers, dropout)
        self.into = GraphEncoder(in_size, size, layers, dropout)
        self.W_out = nn.Linear(size, size)
        self.W_in = nn.Linear(size, size)
        self.norm = nn.LayerNorm(size)
        self.alpha, self.k = alpha, k

    def forward(self, X: Tensor, out: Channel, into: Channel, rows: Tensor | None = None) -> Tensor:
        """Encode n concepts, or those of `rows`: (n, in_size) -> (n or len(rows), size)."""
        Z_out = self.propagate(self.out(X, out), out, rows)  # (n, size)
        Z_in = self.propagate(self.into(X, into), into, rows)  # (n, size)
        return self.norm(torch.relu(self.W_out(Z_out) + self.W_in(Z_in)))  # type: ignore[no-any-return]

    def propagate(self, Q: Tensor, channel: Channel, rows: Tensor | None = None) -> Tensor:
        """Z⁰ = Q, Zᵗ⁺¹ = (1 - α) A Zᵗ + α Q; gives Zᵏ, or these rows of it."""
        if channel.S is not None:
            return times(channel.S, Q, rows)
        Z = Q
        for _ in range(self.k):
            Z = (1 - self.alpha) * channel.heard(Z) + self.alpha * Q
        return take(Z, rows)


class ProPRLNetwork(nn.Module):
    """Concept encoders and pair scorers. The views are those a course has, in a fixed order.

    With both views a gate fuses them; with one, that view alone feeds the fused scorer; with
    none, the concepts' own texts do ("content"). A view that is missing has no parameters, nor
    has the gate without `gate`: both views then count half.
    """

    def __init__(
        self,
        in_size: int,
        views: tuple[str, ...] = VIEWS,
        *,
        size: int = 256,
        layers: int = 2,
        dropout: float = 0.5,
        alpha: float = 0.05,
        k: int = 5,
        gate: bool = True,
    ) -> None:
        super().__init__()
        self.encoders = nn.ModuleDict()
        for view in views or ("content",):
            self.encoders[view] = (
                BehaviourEncoder(in_size, size, layers, dropout, alpha, k)
                if view == "behaviour"
                else GraphEncoder(in_size, size, layers, dropout)
            )
        self.branches = nn.ModuleDict({view: PairHead(size) for view in self.encoders})
        r = 4 * size
        with_gate = gate and len(views) == 2
        self.mlp_g = mlp(4 * r, size // 2, r, dropout=dropout) if with_gate else None
        self.mlp_p = mlp(r, size, size // 4, 1, dropout=dropout)

    def encode(
        self, X: Tensor, channels: Mapping[str, tuple[Channel, ...]], rows: Tensor | None = None
    ) -> dict[str, Tensor]:
        """Give each view of the n concepts, or of `rows`: U (resource), V (behaviour)."""
        return {
            view: encoder(X, *channels[view], rows=rows) for view, encoder in self.encoders.items()
        }

    def gate(self, r_u: Tensor, r_v: Tensor) -> Tensor:
        """g = σ(MLP_g([r^u; r^v; |r^u - r^v|; r^u ⊙ r^v])): (m, 4·size), the share of r^u."""
        if self.mlp_g is None:
            return torch.full_like(r_u, 0.5)
        both = torch.cat([r_u, r_v, (r_u - r_v).abs(), r_u * r_v], dim=-1)  # (m, 16·size)
        return torch.sigmoid(self.mlp_g(both))

    def fuse(self, views: Mapping[str, Tensor], pairs: Tensor) -> Tensor:
        """s^p = MLP_p(g ⊙ r^u + (1 - g) ⊙ r^v): (m,)."""
        # In the network's order: that of a mapping read back from a file may be another.
        r_a = [pair_representation(*ends(views[view], pairs)) for view in self.encoders]
        r = r_a[0]  # (m, 4·size)
        if len(r_a) == 2:
            g = self.gate(*r_a)
            r = g * r_a[0] + (1 - g) * r_a[1]  # (m, 4·size)
        return self.mlp_p(r).squeeze(-1)  # type: ignore[no-any-return]

    def forward(self, views: Mapping[str, Tensor], pairs: Tensor) -> dict[str, Tensor]:
        """Give the logits of every branch for m ordered pairs, the fused one last: each (m,)."""
        logits = {view: head(*ends(views[view], pairs)) for view, head in self.branches.items()}
        return {**logits, FUSED: self.fuse(views, pairs)}
