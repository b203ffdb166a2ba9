"""DGCPL (IJCAI 2025): what resources and what behaviour say of a concept, fused by a gate.

Departures from the released code: its loader reads the behaviour graph one row out, which is put
right where a course is read; partial batches are kept; a concept without a resource has inverse
degree 0, not infinity.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from pydantic import Field
from torch import Tensor, nn

from proprl.arrays import SparseMatrix
from proprl.data.splits.parts import PairSplit
from proprl.graphs.evidence import Evidence
from proprl.graphs.matrices import hypergraph_operator, normalise_rows
from proprl.models.needs import BEHAVIOUR, RESOURCE, SUPERVISED
from proprl.models.networks.layers import Channel, GraphEncoder, PairHead, ends, involved
from proprl.models.networks.scorer import Batch, Named, NetworkScorer, NetworkSettings, ours

H, N, T = "resource", "behaviour", "fused"  # the branches, by the paper's letters


class DGCPLSettings(NetworkSettings):
    """Settings of DGCPL. The defaults are the paper's for MOOC; the presets say where ours differ.

    The paper takes κ 1e-5, 1e-6, 1e-1 and weight decay 1e-3, 1e-4, 1e-2 on MOOC, UCD and
    LectureBank.
    """

    size: int = Field(256, ge=1)
    dropout: float = Field(0.5, ge=0, lt=1)
    weighting: Literal["count", "log1p"] = "count"
    kappa: float = Field(1e-5, ge=0)
    tau: float = Field(0.5, gt=0)
    weight_decay: float = Field(1e-3, ge=0)


class GraphConvolutionEncoder(GraphEncoder):
    """x' = Dropout(ReLU(A x W + b) + Linear(x)), twice; W and b start uniform in ±1/√out."""

    def __init__(self, in_size: int, size: int, dropout: float) -> None:
        super().__init__(in_size, size, layers=2, dropout=dropout)
        bound = size**-0.5
        for convolution in self.graph:
            for parameter in convolution.parameters():
                nn.init.uniform_(parameter, -bound, bound)


class HypergraphEncoder(GraphConvolutionEncoder):
    """x' = Dropout(ReLU(G (x W + b)) + Linear(x)), twice: the bias passes through the graph too.

    G's rows do not sum to 1, so this is not ReLU(G x W + b).
    """

    def heard(self, layer: int, H: Tensor, channel: Channel, rows: Tensor | None) -> Tensor:
        """G (H W + b)."""
        return channel.heard(self.graph[layer](H), rows)


class DGCPLNetwork(nn.Module):
    """X_N = ReLU(W_1 X_out + W_2 X_in), θ = σ(W_3 X_H + W_4 X_N), X_T = θ ⊙ X_H + (1 - θ) ⊙ X_N.

    A head S of its own scores the pairs of each of X_H, X_N, X_T.
    """

    def __init__(self, in_size: int, size: int = 256, dropout: float = 0.5) -> None:
        super().__init__()
        self.hypergraph = HypergraphEncoder(in_size, size, dropout)
        self.out = GraphConvolutionEncoder(in_size, size, dropout)
        self.into = GraphConvolutionEncoder(in_size, size, dropout)
        self.W_1, self.W_2, self.W_3, self.W_4 = (nn.Linear(size, size) for _ in range(4))
        self.heads = nn.ModuleDict({branch: PairHead(size) for branch in (H, N, T)})

    def encode(
        self, X: Tensor, G: Channel, out: Channel, into: Channel, rows: Tensor | None = None
    ) -> dict[str, Tensor]:
        """Give X_H, X_N and X_T of n concepts, or of `rows`: each (n or len(rows), size)."""
        X_H = self.hypergraph(X, G, rows)
        X_N = torch.relu(self.W_1(self.out(X, out, rows)) + self.W_2(self.into(X, into, rows)))
        theta = torch.sigmoid(self.W_3(X_H) + self.W_4(X_N))
        return {H: X_H, N: X_N, T: theta * X_H + (1 - theta) * X_N}

    def forward(self, encoded: Named, pairs: Tensor) -> dict[str, Tensor]:
        """Give the logits of the three heads for m ordered pairs: each (m,)."""
        return {branch: head(*ends(encoded[branch], pairs)) for branch, head in self.heads.items()}


def mutual_distillation(logits: Named, tau: float) -> Tensor:
    """Σ_batch |σ(l_T/τ) - σ(l_H/τ)| + |σ(l_T/τ) - σ(l_N/τ)|.

    As released it is a sum, so κ weighs more in larger batches. Nothing is detached: teacher and
    students move towards each other.
    """
    teacher = torch.sigmoid(logits[T] / tau)
    return sum(  # type: ignore[return-value]
        (teacher - torch.sigmoid(logits[branch] / tau)).abs().sum() for branch in (H, N)
    )


class Inputs(NamedTuple):
    """The features and the three graphs."""

    X: Tensor  # (n, d)
    G: Channel
    out: Channel
    into: Channel


class DGCPLScorer(NetworkScorer):
    """DGCPL under the common contract; p is the mean of the three heads' probabilities."""

    settings_type = DGCPLSettings
    network_type = DGCPLNetwork
    presets = ours(
        # Larger and fewer steps: each of them encodes the whole graph.
        batch_size=None,
        learning_rate=1e-3,
        patience=12,
        # Counts reach 20,000 and drown the self-loop.
        weighting="log1p",
    )
    needs = SUPERVISED | {RESOURCE, BEHAVIOUR}

    def prepare(self, evidence: Evidence, split: PairSplit) -> Inputs:  # noqa: ARG002
        """Give X and the three graphs."""
        X = self.features(evidence)
        B: SparseMatrix = evidence.transitions
        graphs = (
            hypergraph_operator(evidence.incidence),
            normalise_rows(B, weighting=self.settings.weighting),
            normalise_rows(B.T.tocsr(), weighting=self.settings.weighting),
        )
        return Inputs(X, *(self.channel(graph, X) for graph in graphs))

    def loss(self, network: DGCPLNetwork, inputs: Inputs, batch: Batch) -> Tensor:
        """Σ BCE of the three heads + κ times the mutual distillation."""
        concepts, pairs = involved(batch.pairs)
        logits = network(network.encode(*inputs, concepts), pairs)
        distillation = mutual_distillation(logits, self.settings.tau)
        kappa: float = self.settings.kappa
        return batch.cross_entropy(logits) + kappa * distillation
