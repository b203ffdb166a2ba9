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
        self.symmetric: dict[str, FloatArray] = {}  # (n, n) each
        self.directed: dict[str, FloatArray] = {}  # (n, n) each
        self.worked_out: list[Blocks] = []  # directed, too, and never made for all pairs
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
        for name, matrix in self.symmetric.items():
            yield name, matrix[a, b]
        for name, matrix in self.directed.items():
            yield name, matrix[a, b]
            yield f"{name}{REVERSED}", matrix[b, a]
        sources, row = np.unique(a, return_inverse=True)
        targets, column = np.unique(b, return_inverse=True)
        for blocks in self.worked_out:
            # One order after the other: blocks of many concepts are large.
            there = {k: block[row, column] for k, block in blocks(sources, targets).items()}
            back = {k: block[column, row] for k, block in blocks(targets, sources).items()}
            for name in there:
                yield name, there[name]
                yield f"{name}{REVERSED}", back[name]
        for name, values in self.about_concepts.items():
            yield f"{name}{OF_SOURCE}", values[a]
            yield f"{name}{OF_TARGET}", values[b]
            yield f"{name}{DIFFERENCE}", values[a] - values[b]


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
