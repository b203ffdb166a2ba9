"""HGAPNet-style (reconstruction): attention over a graph of concepts and resources, by relation.

Of HGAPNet (Mazumder, Paik & Basu, CIKM 2023) only what the abstract tells was at hand: node
attention over a heterogeneous graph of concepts and documents. Layers, sizes and edges below are
our reconstruction, and results belong to it, not to the published system.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator
from scipy.sparse import coo_array
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - everybody calls it F

from proprl.arrays import FloatArray, SparseMatrix
from proprl.data.splits.parts import PairSplit
from proprl.graphs.affinity import associated_concepts, similar_rows
from proprl.graphs.evidence import Evidence, resource_vectors
from proprl.models.needs import RESOURCE, SUPERVISED
from proprl.models.networks.layers import GraphAttention, PairHead, ends
from proprl.models.networks.scorer import Named, NetworkScorer, NetworkSettings, ours

INTO_CONCEPTS = 2
"""A resource and its concept, a concept and an associated one: relations that concepts hear."""
INTO_RESOURCES = 2
"""A concept and its resource, a resource and one like it: relations that resources hear."""


class HGAPNetSettings(NetworkSettings):
    """Settings of the reconstruction."""

    size: int = Field(128, ge=1)
    heads: int = Field(4, ge=1)  # divides `size`
    dropout: float = Field(0.3, ge=0, lt=1)
    similar: float = Field(0.7, gt=0, le=1)  # resources with this cosine are linked
    epochs: int = Field(200, ge=1)
    batch_size: int | None = Field(64, ge=1)
    learning_rate: float = Field(1e-3, gt=0)
    weight_decay: float = Field(1e-4, ge=0)
    patience: int | None = Field(20, ge=1)

    @model_validator(mode="after")
    def _heads_divide_size(self) -> Self:
        """Raise unless every head has the same share of `size`."""
        if self.size % self.heads:
            raise ValueError(f"size {self.size} cannot be shared by {self.heads} heads")
        return self


class Relation(NamedTuple):
    """Edges of one kind between nodes, with their weights."""

    edges: Tensor  # (2, e): sources, targets
    weights: Tensor  # (e,)


class RelationalAttention(nn.Module):
    """What a node hears over each relation, summed: H' = dropout(ELU(Σ_r GAT_r(H) + W_0 H))."""

    def __init__(
        self, in_size: int, size: int, relations: int, heads: int = 4, dropout: float = 0.3
    ) -> None:
        super().__init__()
        self.attention = nn.ModuleList(
            GraphAttention(in_size, size // heads, heads, weighted=True) for _ in range(relations)
        )
        self.shortcut = nn.Linear(in_size, size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, H: Tensor, relations: Sequence[Relation]) -> Tensor:
        """Encode all nodes: (n + m, in_size) -> (n + m, size)."""
        heard = self.shortcut(H)
        for attention, (edges, weights) in zip(self.attention, relations, strict=True):
            heard = heard + attention(H, edges, weights)
        return self.dropout(F.elu(heard))  # type: ignore[no-any-return]


class HGAPNetwork(nn.Module):
    """Two layers of relational attention, and the Siamese head.

    Only concepts are scored, so the second layer has the relations that concepts hear.
    """

    def __init__(self, in_size: int, size: int = 128, heads: int = 4, dropout: float = 0.3) -> None:
        super().__init__()
        every = INTO_CONCEPTS + INTO_RESOURCES
        self.first = RelationalAttention(in_size, size, every, heads, dropout)
        self.second = RelationalAttention(size, size, INTO_CONCEPTS, heads, dropout)
        self.head = PairHead(size)

    def encode(self, X: Tensor, relations: Sequence[Relation], n: int) -> dict[str, Tensor]:
        """Encode n concepts, then m resources: (n + m, in_size) -> (n, size).

        Relations stand in the order of `Inputs.relations`.
        """
        H = self.second(self.first(X, relations), relations[:INTO_CONCEPTS])
        return {"concepts": H[:n].clone()}  # the second layer leaves resources out

    def forward(self, encoded: Named, pairs: Tensor) -> dict[str, Tensor]:
        """Give the head's logits for m ordered pairs: (m,)."""
        return {"pair": self.head(*ends(encoded["concepts"], pairs))}


class Inputs(NamedTuple):
    """All nodes, concepts first, and their edges by relation."""

    X: Tensor  # (n + m, d)
    relations: tuple[Relation, ...]  # those that concepts hear first
    concepts: int  # n


class HGAPNetScorer(NetworkScorer):
    """The reconstruction under the common contract."""

    settings_type = HGAPNetSettings
    network_type = HGAPNetwork
    # Each step encodes the whole graph: fewer and larger ones save most of the time. "paper" is the
    # setting of the reconstruction; the published one is not known.
    presets = ours(batch_size=None, epochs=60, patience=12)
    needs = SUPERVISED | {RESOURCE}

    def prepare(self, evidence: Evidence, split: PairSplit) -> Inputs:  # noqa: ARG002
        """Give the graph of concepts and resources; a resource starts as its concepts' mean."""
        M: SparseMatrix = evidence.incidence
        n = evidence.concept_count
        holds = containment_weights(M)
        alike = similar_rows(resource_vectors(evidence), self.settings.similar)
        relations = (
            self._relation(holds.T, n, 0),
            self._relation(associated_concepts(M), 0, 0),
            self._relation(holds, 0, n),
            self._relation(alike, n, n),
        )
        return Inputs(self.nodes(evidence), relations, n)

    def _relation(self, weights: SparseMatrix, first_source: int, first_target: int) -> Relation:
        """Give the cells of a matrix as edges between nodes, numbered from these two on."""
        cells = coo_array(weights)
        edges = np.stack(cells.coords) + np.array([[first_source], [first_target]])
        return Relation(self.tensor(edges.astype(np.int64)), self.tensor(cells.data))


def containment_weights(M: SparseMatrix) -> SparseMatrix:
    r"""Return how much each resource is about each of its concepts: n × m, where M is.

    .. math:: w = (G(x_1) + G(x_2)) \lg \frac{m}{df + 1}, \quad G(x) = e^{-e^{-x / 2.5}}, \quad
              x_1 = \frac{\lg(1 + tf)}{\lg 2}, \quad
              x_2 = tf \lg \Big(1 + \frac{\overline{|d|}}{|d|}\Big)

    tf = 1 / |d| for a resource of |d| concepts, since how often a text names one is not known;
    df is the concept's number of resources. A weight may be 0 or negative; its edge stays.
    """
    cells = coo_array(M)
    concept, resource = cells.coords
    length = np.asarray(M.sum(axis=0))
    tf = 1.0 / length[resource]
    x_1 = np.log10(1 + tf) / np.log10(2)
    x_2 = tf * np.log10(1 + length.mean() * tf)
    rarity = np.log10(M.shape[1] / (np.asarray(M.sum(axis=1))[concept] + 1))
    return coo_array(((_gumbel(x_1) + _gumbel(x_2)) * rarity, cells.coords), shape=M.shape)


def _gumbel(x: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-np.exp(-x / 2.5)))
