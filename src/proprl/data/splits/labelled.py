"""Ordered pairs of concepts that somebody has labelled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.grouping import ROW_BITS, pair_codes
from proprl.data.splits.origins import check_origins
from proprl.errors import SplitError


@dataclass(frozen=True)
class LabelledPairs:
    """Ordered pairs of concept rows, each with label 1 (source before target) or 0.

    What is not said of where labels come from, is that people chose the pairs.
    """

    pairs: IntArray  # (m, 2): source, target
    labels: IntArray  # (m,): 0 or 1
    origin: npt.NDArray[np.str_] = None  # type: ignore[assignment]  # (m,): chosen, asked or drawn
    chance: FloatArray = None  # type: ignore[assignment]  # (m,): of being drawn, else NaN

    def __post_init__(self) -> None:
        pairs, labels = _integers("pairs", self.pairs), _integers("labels", self.labels)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise SplitError(f"pairs must have shape (m, 2), not {pairs.shape}")
        if labels.shape != (len(pairs),):
            raise SplitError(
                f"labels must have one entry per pair: shape ({len(pairs)},), not {labels.shape}"
            )
        foreign = np.flatnonzero((labels != 0) & (labels != 1))
        if foreign.size:
            raise SplitError(f"labels must be 0 or 1: entry {foreign[0]} is {labels[foreign[0]]}")
        outside = np.flatnonzero((pairs >> ROW_BITS != 0).any(axis=1))  # negative, or too large
        if outside.size:
            raise SplitError(
                "pairs must hold concept rows, from 0 to the number of concepts minus 1: "
                f"entry {outside[0]} is {tuple(pairs[outside[0]].tolist())}"
            )
        origin, chance = check_origins(self.origin, self.chance, len(pairs))
        checked = {"pairs": pairs, "labels": labels, "origin": origin, "chance": chance}
        for field, array in checked.items():
            object.__setattr__(self, field, array)

    def __len__(self) -> int:
        return len(self.pairs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabelledPairs):
            return NotImplemented
        return (
            np.array_equal(self.pairs, other.pairs)
            and np.array_equal(self.labels, other.labels)
            and np.array_equal(self.origin, other.origin)
            and np.array_equal(self.chance, other.chance, equal_nan=True)
        )

    @classmethod
    def empty(cls) -> LabelledPairs:
        """No pairs at all."""
        return cls(np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64))

    def take(self, indices: IntArray) -> LabelledPairs:
        """Return the pairs at these positions, in this order."""
        return LabelledPairs(
            self.pairs[indices], self.labels[indices], self.origin[indices], self.chance[indices]
        )

    def joined(self, *others: LabelledPairs) -> LabelledPairs:
        """Return these pairs and then those of the others, repeats included."""
        parts = (self, *others)
        return LabelledPairs(
            np.concatenate([part.pairs for part in parts]),
            np.concatenate([part.labels for part in parts]),
            np.concatenate([part.origin for part in parts]),
            np.concatenate([part.chance for part in parts]),
        )

    def distinct(self) -> LabelledPairs:
        """Return each ordered pair once, in order of (source, target)."""
        return self.take(np.unique(pair_codes(self.pairs), return_index=True)[1])

    @property
    def positives(self) -> IntArray:
        """The pairs with label 1, shape (p, 2)."""
        positives: IntArray = self.pairs[self.labels == 1]
        return positives

    @property
    def positive_share(self) -> float:
        """The share of pairs with label 1; NaN where there are no pairs."""
        return float(self.labels.mean()) if len(self) else float("nan")


def _integers(what: str, values: IntArray) -> IntArray:
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iub":
        raise SplitError(f"{what} must be whole numbers, not {array.dtype}")
    return array.astype(np.int64, copy=False)
