"""Named numbers about ordered pairs of concepts, as the columns of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from proprl.arrays import FloatArray, IntArray

Block: TypeAlias = Callable[[IntArray, IntArray], FloatArray]
"""Gives a number for every pair of some sources and some targets: (s,), (t,) -> (s, t)."""


class PairNumbers:
    """A table with a row for every ordered pair (a, b), of which only those asked for are made.

    A number that depends on the order stands there for (a, b), and again for (b, a).
    """

    def __init__(self) -> None:
        self.symmetric: dict[str, Block] = {}
        self.directed: dict[str, Block] = {}
        self.about_concepts: dict[str, FloatArray] = {}  # (n,) each

    @property
    def names(self) -> list[str]:
        """What each column of `rows` says."""
        return [name for name, _ in self._columns(np.zeros((0, 2), dtype=np.int64))]

    def rows(self, pairs: IntArray) -> FloatArray:
        """Give the numbers of each pair: (m, 2) -> (m, columns)."""
        return np.column_stack([column for _, column in self._columns(pairs)])

    def _columns(self, pairs: IntArray) -> Iterator[tuple[str, FloatArray]]:
        a, b = pairs[:, 0], pairs[:, 1]
        sources, row = np.unique(a, return_inverse=True)
        targets, column = np.unique(b, return_inverse=True)
        for name, block in self.symmetric.items():
            yield name, block(sources, targets)[row, column]
        for name, block in self.directed.items():
            yield name, block(sources, targets)[row, column]
            yield f"{name}, reversed", block(targets, sources)[column, row]
        for name, values in self.about_concepts.items():
            yield f"{name} of the source", values[a]
            yield f"{name} of the target", values[b]
            yield f"{name}, difference", values[a] - values[b]


def matrix_block(matrix: FloatArray) -> Block:
    """Give the numbers of an n × n matrix.

    >>> matrix_block(np.arange(9.0).reshape(3, 3))(np.array([0, 2]), np.array([1]))
    array([[1.],
           [7.]])
    """
    return lambda sources, targets: matrix[np.ix_(sources, targets)]
