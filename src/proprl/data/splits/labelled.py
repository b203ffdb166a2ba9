"""Ordered pairs of concepts that somebody has labelled, and who picked each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from proprl.arrays import FloatArray, IntArray
from proprl.errors import SplitError

CHOSEN, ASKED, DRAWN = ORIGINS = ("chosen", "asked", "drawn")
"""Who picked a pair to label: a person, a model that asked about it, or a draw by known chance."""

PARTS = ("train", "validation", "test")
"""The parts that labelled pairs are divided into."""

ROW_BITS = 31
"""Two concept rows share one 64-bit code, so that a pair is compared as a single number."""


def pair_codes(pairs: IntArray) -> IntArray:
    """Return one number per ordered pair; the numbers sort as (source, target) does."""
    return (pairs[:, 0] << ROW_BITS) | pairs[:, 1]


def unordered_codes(pairs: IntArray) -> IntArray:
    """Return one number per pair, the same for both of its orders."""
    return pair_codes(np.sort(pairs, axis=1))


def distinct_pairs(pairs: IntArray) -> IntArray:
    """Return each ordered pair once, sorted.

    >>> distinct_pairs(np.array([[1, 0], [0, 1], [1, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    distinct: IntArray = pairs[np.unique(pair_codes(pairs), return_index=True)[1]]
    return distinct


@dataclass(frozen=True)
class LabelledPairs:
    """Ordered pairs of concept rows, each with label 1 (source before target) or 0.

    Drawn pairs, and only those, have a chance. Without `origin`, people chose all the pairs.
    """

    pairs: IntArray  # (m, 2): source, target
    labels: IntArray  # (m,): 0 or 1
    origin: npt.NDArray[np.str_] = None  # type: ignore[assignment]  # (m,): one of ORIGINS
    chance: FloatArray = None  # type: ignore[assignment]  # (m,): of being drawn, else NaN

    def __post_init__(self) -> None:
        pairs, labels = _integers("pairs", self.pairs), _integers("labels", self.labels)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise SplitError(f"pairs must have shape (m, 2), not {pairs.shape}")
        count = len(pairs)
        said = np.full(count, CHOSEN) if self.origin is None else self.origin
        origin = np.asarray(said, dtype=np.str_)
        given = np.full(count, np.nan) if self.chance is None else self.chance
        try:
            chance = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise SplitError(f"chance must hold numbers: {error}") from error
        for what, array in (("labels", labels), ("origin", origin), ("chance", chance)):
            if array.shape != (count,):
                raise SplitError(
                    f"{what} must have one entry per pair: shape ({count},), not {array.shape}"
                )
        _refuse((labels != 0) & (labels != 1), "labels must be 0 or 1", labels)
        out_of_range = (pairs >> ROW_BITS != 0).any(axis=1)  # negative, or too large
        expected = "pairs must hold concept rows, from 0 to the number of concepts minus 1"
        _refuse(out_of_range, expected, pairs)
        _refuse(~np.isin(origin, ORIGINS), f"origin must be one of {', '.join(ORIGINS)}", origin)
        drawn, possible = origin == DRAWN, (chance > 0) & (chance <= 1)
        _refuse(drawn & ~possible, "a drawn pair needs its chance, above 0 and at most 1", chance)
        expected = "only drawn pairs have a chance, the others hold NaN"
        _refuse(~drawn & ~np.isnan(chance), expected, origin, chance)
        checked = {"pairs": pairs, "labels": labels, "origin": origin, "chance": chance}
        for field, values in checked.items():
            object.__setattr__(self, field, values)

    def __len__(self) -> int:
        return len(self.pairs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabelledPairs):
            return NotImplemented
        arrays = zip(vars(self).values(), vars(other).values(), strict=True)
        return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in arrays)

    @classmethod
    def empty(cls) -> LabelledPairs:
        """Return no pairs at all."""
        return cls(np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64))

    def take(self, chosen: IntArray | npt.NDArray[np.bool_]) -> LabelledPairs:
        """Return the pairs at these positions, in this order; or those where a mask is true."""
        return LabelledPairs(*(array[chosen] for array in vars(self).values()))

    def joined(self, *others: LabelledPairs) -> LabelledPairs:
        """Return these pairs and then those of the others, repeats included."""
        arrays = zip(*(vars(part).values() for part in (self, *others)), strict=True)
        return LabelledPairs(*map(np.concatenate, arrays))

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


def _refuse(faulty: npt.NDArray[np.bool_], expected: str, *columns: npt.NDArray[Any]) -> None:
    """Raise a `SplitError` that shows the first faulty entry, if there is one."""
    if faulty.any():
        entry = int(np.argmax(faulty))
        values = [column[entry].tolist() for column in columns]
        shown = [repr(tuple(value) if isinstance(value, list) else value) for value in values]
        raise SplitError(f"{expected}: entry {entry} is {' and has '.join(shown)}")
