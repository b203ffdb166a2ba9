"""ConLearn (Sun et al., SDM 2022): concepts refined on the graph of known prerequisites.

Departures from the released code: its pair head reads the first concept twice and never the second;
it evaluates on a graph made of half of the evaluated positives; it oversamples targets and makes
its own negatives. Here both concepts are read, every graph is made of training positives, and the
given negatives are used.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - everybody calls it F

from proprl.data.splits.parts import PairSplit
from proprl.graphs.evidence import Evidence
from proprl.models.needs import refuse_beyond_limit
from proprl.models.networks.layers import PairHead, ends, pair_representation
from proprl.models.networks.scorer import Batch, Named, NetworkScorer, NetworkSettings, ours


class ConLearnSettings(NetworkSettings):
    """Settings of ConLearn. The defaults are the paper's; the presets say where ours differ."""

    size: int = Field(128, ge=1)
    heads: int = Field(4, ge=1)
    steps: int = Field(2, ge=1)
    dropout: float = Field(0.5, ge=0, lt=1)
    epochs: int = Field(100, ge=1)
    batch_size: int | None = Field(512, ge=1)
    weight_decay: float = Field(1e-2, ge=0)
    patience: int | None = Field(60, ge=1)
    published: ClassVar[dict[str, Any]] = {"decoupled_decay": True}  # AdamW


class GatedGraphLayer(nn.Module):
    r"""A step of a gated graph network over edges u → v (Li et al., ICLR 2016).

    .. math:: m = [A_{in}(h W_i + b_i) + b_1;\; A_{out}(h W_o + b_o) + b_2], \quad
              h' = \mathrm{GRU}(m, h)

    A_in averages over the sources of a node's edges, A_out over their targets.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.W_i, self.W_o = nn.Linear(size, size), nn.Linear(size, size)
        self.b_1, self.b_2 = nn.Parameter(torch.empty(size)), nn.Parameter(torch.empty(size))
        self.gru = nn.GRUCell(2 * size, size)

    def forward(self, h: Tensor, edges: Tensor) -> Tensor:
        """Take one step: (n, size), (2, e) -> (n, size)."""
        sources, targets = edges
        m_in = mean_over_edges(self.W_i(h), sources, targets) + self.b_1
        m_out = mean_over_edges(self.W_o(h), targets, sources) + self.b_2
        return self.gru(torch.cat([m_in, m_out], dim=-1), h)  # type: ignore[no-any-return]


def mean_over_edges(H: Tensor, sources: Tensor, targets: Tensor) -> Tensor:
    """Give each node the mean row of the sources of its edges; 0 for a node that is no target."""
    total = torch.zeros_like(H).index_add(0, targets, H.index_select(0, sources))
    count = torch.bincount(targets, minlength=len(H)).clamp(min=1)
    return total / count[:, None]


class NodeAttention(nn.Module):
    """Every concept attends to all: softmax(Q Kᵀ) V by head, unscaled, with V = K.

    The heads are brought back to `size` and added to h; a feed-forward layer does so once more.
    """

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.Q, self.K = nn.Linear(size, heads * size), nn.Linear(size, heads * size)
        self.together = nn.Linear(heads * size, size)
        self.feed = nn.Sequential(nn.Linear(size, size), nn.ReLU(), nn.Linear(size, size))

    def forward(self, h: Tensor) -> Tensor:
        """Let n concepts hear each other: (n, size) -> (n, size)."""
        n = len(h)
        Q, K = (W(h).view(n, self.heads, -1).transpose(0, 1) for W in (self.Q, self.K))
        heard = torch.softmax(Q @ K.transpose(1, 2), dim=-1) @ K  # (heads, n, size)
        h = h + self.together(heard.transpose(0, 1).reshape(n, -1))
        return h + self.feed(h)  # type: ignore[no-any-return]


class ConLearnNetwork(nn.Module):
    """A trainable table of concepts, a gated graph network, attention over all, a pair head."""

    def __init__(
        self,
        n: int,
        in_size: int,
        size: int = 128,
        heads: int = 4,
        steps: int = 2,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.project = nn.Linear(in_size, size)
        self.layer = GatedGraphLayer(size)
        self.steps = steps
        self.attention = NodeAttention(size, heads)
        self.head = PairHead(size, size)
        self.dropout = nn.Dropout(dropout)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -(size**-0.5), size**-0.5)
        # The table is X and what training adds to it. So weight decay draws it back to X; the
        # released table is drawn to 0. At 1e-6 a step the difference is too small to matter.
        self.added = nn.Parameter(torch.zeros(n, in_size))

    def encode(self, X: Tensor, edges: Tensor) -> dict[str, Tensor]:
        """Encode n concepts over known prerequisites (2, e): (n, in_size) -> (n, size)."""
        h = self.project(X + self.added)
        for _ in range(self.steps):
            h = self.layer(h, edges)
        return {"concepts": self.attention(h)}

    def forward(self, encoded: Named, pairs: Tensor) -> dict[str, Tensor]:
        """Give the logits of m ordered pairs of encoded concepts: (m,)."""
        q_a, q_b = (
            self.dropout(torch.relu(self.head.rho(self.dropout(end))))
            for end in ends(encoded["concepts"], pairs)
        )
        return {"pair": self.head.w(pair_representation(q_a, q_b)).squeeze(-1)}


class Inputs(NamedTuple):
    """The features and the distinct training positives, as edges."""

    X: Tensor  # (n, d)
    edges: Tensor  # (2, e): prerequisites, dependents


class ConLearnScorer(NetworkScorer):
    """ConLearn under the common contract; at evaluation all training positives are the graph."""

    settings_type = ConLearnSettings
    network_type = ConLearnNetwork
    # Higher rates (3e-4, 1e-3) were faster and worse on validation on the public sets.
    presets = ours(patience=30)

    def sizes(self, evidence: Evidence) -> dict[str, int]:
        """Give the numbers of concepts and of features."""
        return {"n": evidence.concept_count, **super().sizes(evidence)}

    def prepare(self, evidence: Evidence, split: PairSplit) -> Inputs:
        """Give X and the training positives."""
        refuse_beyond_limit(self.name, evidence.concept_count, "concepts")
        edges = np.unique(split.train.positives, axis=0)
        return Inputs(self.features(evidence), self.tensor(edges.T))

    def loss(self, network: ConLearnNetwork, inputs: Inputs, batch: Batch) -> Tensor:
        """BCE of the pairs that are not in the graph; the graph is a new half of the positives.

        A pair in the graph could be read off it, so it weighs nothing. The other positives weigh
        more, so that both classes count as before.
        """
        pairs, y, (negative, positive) = batch
        shown = halve(inputs.edges)
        weight = target_weights(shown, inputs.edges, pairs, y, len(inputs.X))
        weight = weight * torch.where(y > 0.5, positive, negative)
        logits = network(network.encode(inputs.X, shown), pairs)["pair"]
        return F.binary_cross_entropy_with_logits(logits, y, weight=weight)


def halve(edges: Tensor) -> Tensor:
    """Draw half of the edges from torch's generator, one less than the rest if they are odd."""
    drawn = torch.randperm(edges.shape[1])[: edges.shape[1] // 2].to(edges.device)
    return edges[:, drawn]


def target_weights(shown: Tensor, edges: Tensor, pairs: Tensor, y: Tensor, n: int) -> Tensor:
    """Weigh m pairs as targets: 0 where the graph shows the pair, above 1 for other positives."""
    seen = torch.isin(pairs[:, 0] * n + pairs[:, 1], shown[0] * n + shown[1])
    whole, hidden = edges.shape[1], edges.shape[1] - shown.shape[1]
    weight = torch.where(y > 0.5, whole / max(hidden, 1), 1.0)
    return weight.masked_fill(seen, 0.0)
