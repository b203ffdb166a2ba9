"""Named numbers about ordered pairs of concepts: columns, and those that a course itself gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.graphs.affinity import text_affinity, visits
from proprl.graphs.evidence import Evidence
from proprl.graphs.matrices import divided

Kind: TypeAlias = Literal["labels", "moves", "resources", "texts", "reader"]
"""The kind of evidence that a column comes from."""
Numbers: TypeAlias = Mapping[str, FloatArray]

# Walks that never come by leave no trace: their logarithm ends here.
RARE = 1e-5
# So few resources before or after those of a concept say little about its place.
FEW_RESOURCES = 5.0


@dataclass(frozen=True)
class Column:
    """What a column says, in words for people, and the kind of evidence it comes from."""

    name: str
    kind: Kind


class Columns:
    """What one kind of evidence, or several added up, say about ordered pairs (first, second).

    A number that depends on the order stands in two columns: for the pair, and turned round. A
    number about a concept stands in three: of the first, of the second, and their difference.
    """

    def __init__(
        self,
        kind: Kind,
        *,
        symmetric: Numbers | None = None,  # (n, n) each, the same in both orders
        directed: Numbers | None = None,  # (n, n) each
        about_concepts: Numbers | None = None,  # (n,) each
    ) -> None:
        self._groups = [
            [(Column(name, kind), numbers) for name, numbers in (group or {}).items()]
            for group in (symmetric, directed, about_concepts)
        ]

    def __add__(self, others: Columns) -> Columns:
        both = copy(self)
        pairs = zip(self._groups, others._groups, strict=True)
        both._groups = [mine + theirs for mine, theirs in pairs]
        return both

    @property
    def columns(self) -> list[Column]:
        """What each column of `rows` says."""
        return [column for column, _ in self._made(np.zeros((0, 2), dtype=np.int64))]

    def rows(self, pairs: IntArray) -> FloatArray:
        """Give the numbers of each pair, single precision: (m, 2) -> (m, columns)."""
        rows = np.empty((len(pairs), len(self.columns)), dtype=np.float32, order="F")
        for place, (_, values) in enumerate(self._made(pairs)):
            rows[:, place] = values
        return rows

    def _made(self, pairs: IntArray) -> Iterator[tuple[Column, FloatArray]]:
        a, b = pairs.T
        symmetric, directed, about_concepts = self._groups
        for column, matrix in symmetric:
            yield column, matrix[a, b]
        for column, matrix in directed:
            yield column, matrix[a, b]
            yield Column(f"{column.name}, turned round", column.kind), matrix[b, a]
        for column, values in about_concepts:
            yield Column(f"{column.name} of the first", column.kind), values[a]
            yield Column(f"{column.name} of the second", column.kind), values[b]
            yield Column(f"{column.name}, difference", column.kind), values[a] - values[b]


def course_columns(evidence: Evidence) -> Columns:
    """Give what a course itself says about pairs: its texts, moves and resources."""
    columns = _of_texts(evidence)
    if evidence.transitions is not None:
        columns += move_columns(evidence.transitions)
    if evidence.incidence is not None:
        columns += resource_columns(evidence.incidence, evidence.resource_links)
    return columns


def _of_texts(evidence: Evidence) -> Columns:
    likeness = {"likeness of texts": text_affinity(evidence.features)}
    names = evidence.named_in
    named = {} if names is None else {"the second's text names the first": names.toarray()}
    return Columns("texts", symmetric=likeness, directed=named)


def move_columns(B: SparseMatrix, among: IntArray | None = None) -> Columns:
    """Give what moves say; only of pairs `among` these concepts, numbered anew, if they are given.

    For a single pair that takes a tenth of the time.
    """
    moves = B.toarray()
    np.fill_diagonal(moves, 0.0)
    leaving, arriving = moves.sum(axis=1), moves.sum(axis=0)
    links = (moves > 0).astype(np.float64)
    here = slice(None) if among is None else among
    walks = {
        "visits on walks": visits(B, weighting="count", of=among),
        "visits on walks, moves by logarithm": visits(B, weighting="log1p", of=among),
        "visits on walks against the moves": visits(B.T.tocsr(), weighting="log1p", of=among),
    }
    walks = {name: share[:, here] for name, share in walks.items()}
    links_away, links_to = links.sum(axis=1)[here], links.sum(axis=0)[here]
    led_on = links[here] @ links[:, here]
    moves, leaving, arriving = moves[here][:, here], leaving[here], arriving[here]
    return Columns(
        "moves",
        directed={
            "moves": np.log1p(moves),
            "share of the first's moves": divided(moves, leaving[:, None]),
            "share of the second's arrivals": divided(moves, arriving[None, :]),
            **{name: np.log(share + RARE) for name, share in walks.items()},
            # One half of RefD: the share of a's neighbours that lead to b.
            "share of neighbours that lead there": led_on / np.maximum(links_away[:, None], 1),
        },
        about_concepts={
            "moves away": np.log1p(leaving),
            "arrivals": np.log1p(arriving),
            "moves away per arrival": np.log1p(leaving) - np.log1p(arriving),
            "links away": links_away,
            "links to it": links_to,
        },
    )


def resource_columns(M: SparseMatrix, links: SparseMatrix | None) -> Columns:
    """Give what resources say of pairs of the concepts that are rows of M."""
    of_resources = _of_resources(M)
    return of_resources if links is None else of_resources + _of_their_order(M, links)


def _of_resources(M: SparseMatrix) -> Columns:
    together = (M @ M.T).toarray()
    count = M.sum(axis=1)
    either = count[:, None] + count[None, :] - together
    return Columns(
        "resources",
        symmetric={
            "resources together": np.log1p(together),
            "overlap of resources": divided(together, either),
        },
        directed={"share of the first's resources": divided(together, count[:, None])},
        about_concepts={"resources": np.log1p(count)},
    )


def _of_their_order(M: SparseMatrix, L: SparseMatrix) -> Columns:
    """Steps from a resource with the one concept to a later resource with the other."""
    ahead, behind = M @ L.sum(axis=1), M @ L.sum(axis=0)
    return Columns(
        "resources",
        directed={"steps between resources": np.log1p((M @ L @ M.T).toarray())},
        about_concepts={
            "resources rather first": (ahead - behind) / (ahead + behind + FEW_RESOURCES)
        },
    )
