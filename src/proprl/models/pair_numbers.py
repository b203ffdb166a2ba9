"""Named numbers about ordered pairs of concepts, as the columns of a table."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from proprl.arrays import FloatArray, IntArray

# Where a number depends on the order, its name says whose it is.
REVERSED, OF_SOURCE, OF_TARGET = ", reversed", " of the source", " of the target"
DIFFERENCE = ", difference"

Blocks: TypeAlias = Callable[[IntArray, IntArray], Mapping[str, FloatArray]]
"""Gives named numbers of every pair of some sources and targets: (s,), (t,) -> (s, t) each."""


class PairNumbers:
    """A table with a row for every ordered pair (a, b), of which only those asked for are made.

    A number that depends on the order stands there for (a, b), and again for (b, a).
    """

    def __init__(self) -> None:
        self.symmetric: list[Blocks] = []
        self.directed: list[Blocks] = []
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
        for blocks in self.symmetric:
            for name, there in blocks(sources, targets).items():
                yield name, there[row, column]
        for blocks in self.directed:
            back = blocks(targets, sources)
            for name, there in blocks(sources, targets).items():
                yield name, there[row, column]
                yield f"{name}{REVERSED}", back[name][column, row]
        for name, values in self.about_concepts.items():
            yield f"{name}{OF_SOURCE}", values[a]
            yield f"{name}{OF_TARGET}", values[b]
            yield f"{name}{DIFFERENCE}", values[a] - values[b]


def matrix_blocks(matrices: Mapping[str, FloatArray]) -> Blocks:
    """Give the numbers of n × n matrices.

    >>> matrix = np.arange(9.0).reshape(3, 3)
    >>> matrix_blocks({"number": matrix})(np.array([0, 2]), np.array([1]))
    {'number': array([[1.],
           [7.]])}
    """

    def blocks(sources: IntArray, targets: IntArray) -> dict[str, FloatArray]:
        chosen = np.ix_(sources, targets)
        return {name: matrix[chosen] for name, matrix in matrices.items()}

    return blocks


def turned_round(rows: FloatArray, names: Sequence[str]) -> FloatArray:
    """Give the rows of the reverse pairs: the same numbers in other columns.

    >>> names = ["moves", "moves, reversed", "level, difference"]
    >>> turned_round(np.array([[3.0, 1.0, 0.5]]), names)
    array([[ 1. ,  3. , -0.5]])
    """
    place = {name: column for column, name in enumerate(names)}
    turned = rows[:, [place[_of_reverse(name, place)] for name in names]]
    turned[:, [name.endswith(DIFFERENCE) for name in names]] *= -1
    return turned


def _of_reverse(name: str, names: Container[str]) -> str:
    """Give the column in which the number of this name stands for the reverse pair."""
    for one, other in ((OF_SOURCE, OF_TARGET), (OF_TARGET, OF_SOURCE), (REVERSED, "")):
        if name.endswith(one):
            return name.removesuffix(one) + other
    return name + REVERSED if name + REVERSED in names else name
