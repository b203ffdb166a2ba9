"""ProPRL, the paper's model: two graph views of each concept, and a gate for each ordered pair.

The equations are the paper's; docs/paper-to-code.md says where each of them stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - everybody calls it F

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.data.splits.parts import PairSplit
from proprl.graphs.evidence import VIEWS, Evidence
from proprl.graphs.matrices import hypergraph_operator, normalise_rows, propagation_operator
from proprl.models.networks.layers import (
    DENSE_UP_TO,
    Channel,
    GraphEncoder,
    PairHead,
    ends,
    involved,
    mlp,
    pair_representation,
    take,
    times,
)
from proprl.models.networks.scorer import Batch, Named, NetworkScorer, NetworkSettings, ours

FUSED = "fused"


class ProPRLSettings(NetworkSettings):
    """Settings of ProPRL. The defaults are the paper's; the presets say where ours differ."""

    size: int = Field(256, ge=4, multiple_of=4)
    layers: int = Field(2, ge=1)
    dropout: float = Field(0.5, ge=0, lt=1)
    alpha: float = Field(0.05, gt=0, le=1)
    k: int = Field(5, ge=0)
    gate: bool = True  # False: both views count half in every pair
    weighting: Literal["count", "log1p"] = "count"
    mu: float = Field(0.8, ge=0, le=2)
    t: float = Field(0.5, gt=0)
    beta: float = Field(1e-5, ge=0)
    lam: float = Field(1e-3, ge=0)
    weight_decay: float = Field(1e-3, ge=0)
    batch_share: ClassVar[tuple[int, int]] = (16, 64)  # of 1,600 pairs 100, of 9,600 256


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

    def fuse(self, views: Named, pairs: Tensor) -> Tensor:
        """s^p = MLP_p(g ⊙ r^u + (1 - g) ⊙ r^v): (m,)."""
        # In the network's order: that of a mapping read back from a file may be another.
        r_a = [pair_representation(*ends(views[view], pairs)) for view in self.encoders]
        r = r_a[0]  # (m, 4·size)
        if len(r_a) == 2:
            g = self.gate(*r_a)
            r = g * r_a[0] + (1 - g) * r_a[1]  # (m, 4·size)
        return self.mlp_p(r).squeeze(-1)  # type: ignore[no-any-return]

    def forward(self, views: Named, pairs: Tensor) -> dict[str, Tensor]:
        """Give the logits of every branch for m ordered pairs, the fused one last: each (m,)."""
        logits = {view: head(*ends(views[view], pairs)) for view, head in self.branches.items()}
        return {**logits, FUSED: self.fuse(views, pairs)}


def consistency_loss(views: Named, s_p: Tensor, t: float) -> Tensor:
    """How far each view's prediction is from the fused one, which serves as a fixed teacher.

    mean_b Σ_a |σ(s^a / t) - σ(sg(s^p) / t)|
    """
    teacher = torch.sigmoid(s_p.detach() / t)
    gaps = [(torch.sigmoid(s / t) - teacher).abs().mean() for s in views.values()]
    return torch.stack(gaps).sum()


def irreversibility_loss(forward: Tensor, reverse: Tensor, mu: float) -> Tensor:
    """What a positive pair costs when both of its directions are believed.

    mean over positives of max(0, σ(s_ij) + σ(s_ji) - μ); 0 when there is no positive.
    """
    if len(forward) == 0:
        return forward.sum()
    return F.relu(torch.sigmoid(forward) + torch.sigmoid(reverse) - mu).mean()


class Inputs(NamedTuple):
    """The features, and the operators of each view."""

    X: Tensor  # (n, d)
    channels: dict[str, tuple[Channel, ...]]


class ProPRLScorer(NetworkScorer):
    """Two graph views of each concept, fused by a gate for each ordered pair."""

    settings_type = ProPRLSettings
    network_type = ProPRLNetwork
    # Each step encodes the whole graph, so few large steps cost little: trained for as long as it
    # gains, a sixth of the steps an epoch takes less than a fifth of the time; benchmarks/train.py
    # compares both presets in one run. With fewer steps, half of the units dropped are too many to
    # learn from.
    presets = ours(batch_size=None, learning_rate=5e-4, dropout=0.3, patience=10)
    uses_if_there = VIEWS
    weighs_branches = True

    def build(self, sizes: Mapping[str, int], views: tuple[str, ...]) -> ProPRLNetwork:
        """Give a network with the views that the course has."""
        return ProPRLNetwork(sizes["in_size"], views, **self.chosen)

    def prepare(self, evidence: Evidence, split: PairSplit) -> Inputs:  # noqa: ARG002
        """Give X and the operators of each view, with all that is constant computed once."""
        X = self.features(evidence)
        channels: dict[str, tuple[Channel, ...]] = {}
        if evidence.incidence is not None:
            channels["resource"] = (self.channel(hypergraph_operator(evidence.incidence), X),)
        if evidence.transitions is not None:
            B = evidence.transitions
            channels["behaviour"] = tuple(self._moves(graph, X) for graph in (B, B.T.tocsr()))
        return Inputs(X, channels or {"content": (Channel(None, X),)})

    def loss(self, network: ProPRLNetwork, inputs: Inputs, batch: Batch) -> Tensor:
        """L = L_cls + β L_con + λ L_irr."""
        s: ProPRLSettings = self.settings
        concepts, pairs = involved(batch.pairs)
        views = network.encode(inputs.X, inputs.channels, concepts)
        logits = network(views, pairs)
        s_p = logits[FUSED]
        L_con = consistency_loss({view: logits[view] for view in views}, s_p, s.t)
        L = batch.cross_entropy(logits) + s.beta * L_con
        if s.lam == 0:
            return L
        positive = batch.y > 0.5
        s_ji = network.fuse(views, pairs[positive].flip(1))
        L_irr = irreversibility_loss(s_p[positive], s_ji, s.mu)
        return L + s.lam * L_irr

    def details(self, pairs: IntArray) -> dict[str, FloatArray]:
        """Give each branch's probability, and the gate's mean share of the resource view."""
        parts = super().details(pairs)
        if self.network.mlp_g is not None:
            r_u, r_v = (
                pair_representation(*ends(self.encoded[view], self.tensor(pairs))) for view in VIEWS
            )
            with torch.inference_mode():
                parts["gate"] = self.network.gate(r_u, r_v).mean(dim=1).cpu().numpy()
        return parts

    def _moves(self, B: SparseMatrix, X: Tensor) -> Channel:
        """Give the channel of moves in one direction; for few concepts with all k steps at once."""
        s = self.settings
        A = normalise_rows(B, weighting=s.weighting)
        channel = self.channel(A, X)
        if s.k == 0 or A.shape[0] > DENSE_UP_TO:
            return channel
        return replace(channel, S=self.tensor(propagation_operator(A, s.alpha, s.k)))


def without(**removed: Any) -> type[ProPRLScorer]:
    """Give ProPRL with a part taken away: these settings are fixed, whatever is asked for.

    So the settings chosen for ProPRL on a data set serve every ablation as they are, and a bundle
    records what ran.
    """

    class AblatedSettings(ProPRLSettings):
        """ProPRL's settings, some of them fixed."""

        @model_validator(mode="before")
        @classmethod
        def _remove(cls, given: Mapping[str, Any]) -> dict[str, Any]:
            """Put the fixed settings in place of those asked for."""
            return {**given, **removed}

    class AblatedScorer(ProPRLScorer):
        """ProPRL with these settings."""

        settings_type = AblatedSettings

    return AblatedScorer
