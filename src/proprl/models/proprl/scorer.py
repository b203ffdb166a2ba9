"""ProPRL as a method: its settings, its inputs and its objective."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Literal, NamedTuple

import torch
from pydantic import Field
from torch import Tensor

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.data.splits.parts import PairSplit
from proprl.graphs.evidence import VIEWS, Evidence
from proprl.graphs.matrices import (
    hypergraph_operator,
    normalise_rows,
    propagation_operator,
    standardise_columns,
)
from proprl.models.base import Presets, Settings
from proprl.models.networks.layers import DENSE_UP_TO, Channel, ends, involved, pair_representation
from proprl.models.networks.scorer import Batch, NetworkScorer, NetworkSettings
from proprl.models.proprl.network import FUSED, ProPRLNetwork
from proprl.training.objective import consistency_loss, irreversibility_loss


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


class Inputs(NamedTuple):
    """The features, and the operators of each view."""

    X: Tensor  # (n, d)
    channels: dict[str, tuple[Channel, ...]]


class ProPRLScorer(NetworkScorer):
    """Two graph views of each concept, fused by a gate for each ordered pair."""

    settings_type: ClassVar[type[Settings]] = ProPRLSettings
    options = ("size", "layers", "dropout", "alpha", "k", "gate")
    presets: ClassVar[Presets] = {
        "default": {
            # Each step encodes the whole graph, so few large steps cost little: trained for as long
            # as it gains, a sixth of the steps an epoch takes less than a fifth of the time;
            # benchmarks/train.py compares both presets in one run. With fewer steps, half of the
            # units dropped are too many to learn from.
            "batch_size": None,
            "learning_rate": 5e-4,
            "dropout": 0.3,
            "patience": 10,
            # Chosen on validation, after the branches' weights, which then only have to rank well.
            "threshold": None,
        },
        "paper": {},
    }
    views = VIEWS
    weighs_branches = True

    def build(self, sizes: Mapping[str, int], views: tuple[str, ...]) -> ProPRLNetwork:
        """Give a network with the views that the course has."""
        return ProPRLNetwork(sizes["in_size"], views, **self.chosen)

    def prepare(self, evidence: Evidence, split: PairSplit) -> Inputs:  # noqa: ARG002
        """Give X and the operators of each view, with all that is constant computed once."""
        X = self.tensor(standardise_columns(evidence.features))
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
