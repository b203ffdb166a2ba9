"""Going through all pairs of a course, and keeping the strongest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from proprl.arrays import FloatArray, IntArray

# About so many pairs are scored between two steps of a progress bar. Sequitur works out what it
# needs of a course once for each of these steps: more of them would take longer.
PAIRS_AT_ONCE = 65_536


class Strongest:
    """The strongest pairs of a stream; with `top` it holds a few times that many, not all."""

    def __init__(self, top: int | None, threshold: float) -> None:
        self.top, self.threshold = top, threshold
        self.chunks: list[tuple[IntArray, FloatArray]] = []
        self.held = 0

    def add(self, pairs: IntArray, probabilities: FloatArray) -> None:
        """Take in some pairs with their probabilities."""
        keep = probabilities >= self.threshold
        self.chunks.append((pairs[keep], probabilities[keep]))
        self.held += int(keep.sum())
        if self.top is not None and self.held > 4 * self.top + 10_000:
            self.chunks = [self.result()]
            self.held = len(self.chunks[0][0])

    def result(self) -> tuple[IntArray, FloatArray]:
        """Give the strongest so far, strongest first; equals in the order they came."""
        pairs = np.concatenate([np.empty((0, 2), np.int64), *(c[0] for c in self.chunks)])
        probabilities = np.concatenate([np.empty(0), *(c[1] for c in self.chunks)])
        order = np.argsort(-probabilities, kind="stable")[: self.top]
        return pairs[order], probabilities[order]


class all_pairs:  # noqa: N801 - used like the function `range`
    """Every ordered pair of n concepts, in chunks of a few sources.

    >>> [chunk.tolist() for chunk in all_pairs(2)]
    [[[0, 1], [1, 0]]]
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.sources_at_once = max(1, PAIRS_AT_ONCE // max(n, 1))

    def __len__(self) -> int:
        return -(-self.n // self.sources_at_once)

    def __iter__(self) -> Iterator[IntArray]:
        targets = np.arange(self.n)
        for start in range(0, self.n, self.sources_at_once):
            sources = np.arange(start, min(start + self.sources_at_once, self.n))
            pairs = np.stack(np.meshgrid(sources, targets, indexing="ij"), axis=-1)
            pairs = pairs.reshape(-1, 2).astype(np.int64)
            yield pairs[pairs[:, 0] != pairs[:, 1]]
