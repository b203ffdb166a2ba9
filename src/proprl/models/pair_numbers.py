"""Named numbers about ordered pairs, computed once for all pairs of a course."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from proprl.arrays import FloatArray, IntArray


class PairNumbers:
    """A table with a row for every ordered pair (a, b), of which only those asked for are made.

    A number that depends on the order stands there for (a, b), and again for (b, a).
    """

    def __init__(self) -> None:
        self.symmetric: dict[str, FloatArray] = {}  # (n, n) each
        self.directed: dict[str, FloatArray] = {}  # (n, n) each
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
        for name, values in self.symmetric.items():
            yield name, values[a, b]
        for name, values in self.directed.items():
            yield name, values[a, b]
            yield f"{name}, reversed", values[b, a]
        for name, values in self.about_concepts.items():
            yield f"{name} of the source", values[a]
            yield f"{name} of the target", values[b]
            yield f"{name}, difference", values[a] - values[b]
