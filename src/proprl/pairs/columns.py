"""Named numbers about ordered pairs of concepts: the columns of a table, made for asked pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

import numpy as np

from proprl.arrays import FloatArray, IntArray

Kind: TypeAlias = Literal["labels", "moves", "resources", "texts", "reader"]
"""The kind of evidence that a column comes from."""


@dataclass(frozen=True)
class Column:
    """What a column says, in words for people, and the kind of evidence it comes from."""

    name: str
    kind: Kind


class Columns:
    """What is known about ordered pairs (first, second), gathered as matrices and vectors.

    A number that depends on the order stands in two columns: for the pair, and turned round.
    """

    def __init__(
        self,
        symmetric: Mapping[Column, FloatArray],  # (n, n) each, the same in both orders
        directed: Mapping[Column, FloatArray],  # (n, n) each
        about_concepts: Mapping[Column, FloatArray],  # (n,) each
    ) -> None:
        self._symmetric, self._directed = dict(symmetric), dict(directed)
        self._about_concepts = dict(about_concepts)

    @classmethod
    def of(
        cls,
        kind: Kind,
        *,
        symmetric: Mapping[str, FloatArray] | None = None,
        directed: Mapping[str, FloatArray] | None = None,
        about_concepts: Mapping[str, FloatArray] | None = None,
    ) -> Self:
        """Gather named numbers of one kind of evidence."""
        named = (
            {Column(name, kind): numbers for name, numbers in (given or {}).items()}
            for given in (symmetric, directed, about_concepts)
        )
        return cls(*named)

    def __add__(self, others: Columns) -> Columns:
        return Columns(
            self._symmetric | others._symmetric,
            self._directed | others._directed,
            self._about_concepts | others._about_concepts,
        )

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
        a, b = pairs[:, 0], pairs[:, 1]
        for column, matrix in self._symmetric.items():
            yield column, matrix[a, b]
        for column, matrix in self._directed.items():
            yield column, matrix[a, b]
            yield Column(f"{column.name}, turned round", column.kind), matrix[b, a]
        for column, values in self._about_concepts.items():
            yield Column(f"{column.name} of the first", column.kind), values[a]
            yield Column(f"{column.name} of the second", column.kind), values[b]
            yield Column(f"{column.name}, difference", column.kind), values[a] - values[b]
