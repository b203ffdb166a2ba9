"""The labelled rows of a course as arrays, repeated rows and all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from proprl.arrays import IntArray
from proprl.data.audit.finding import SHOWN
from proprl.data.course import Course
from proprl.data.splits.parts import PARTS


@dataclass(frozen=True)
class LabelledRows:
    """Every row of `pairs`, in order, with the part it stands in."""

    names: tuple[str, ...]  # of the concepts
    pairs: IntArray  # (m, 2)
    labels: IntArray  # (m,)
    parts: npt.NDArray[np.str_] | None  # (m,), None where the course names no parts

    @classmethod
    def of(cls, course: Course) -> LabelledRows:
        """Return the rows of a course that has labels."""
        labelled = course.labelled_pairs()
        split = course.split_column()
        parts = None if split is None else np.asarray(split, dtype=np.str_)
        return cls(course.names, labelled.pairs, labelled.labels, parts)

    def __len__(self) -> int:
        return len(self.pairs)

    @cached_property
    def codes(self) -> IntArray:
        """One number per ordered pair, so that pairs are compared as numbers."""
        return pair_codes(self.pairs, len(self.names))

    @cached_property
    def reverse_codes(self) -> IntArray:
        """The code of each row's pair the other way round."""
        return pair_codes(self.pairs[:, ::-1], len(self.names))

    @cached_property
    def positives(self) -> IntArray:
        """The distinct pairs with label 1, shape (p, 2), in order."""
        distinct: IntArray = np.unique(self.pairs[self.labels == 1], axis=0)
        return distinct

    def present_parts(self) -> list[str]:
        """Return the parts that hold rows, train first."""
        return [] if self.parts is None else [p for p in PARTS if (self.parts == p).any()]

    def where(self, part: str) -> npt.NDArray[np.bool_]:
        """Return which rows stand in this part."""
        if self.parts is None:
            return np.zeros(len(self), dtype=np.bool_)
        found: npt.NDArray[np.bool_] = self.parts == part
        return found

    def show(self, rows: npt.NDArray[np.bool_]) -> list[str]:
        """Return the first few pairs of these rows by the names of their concepts."""
        first = np.sort(np.unique(self.codes[rows], return_index=True)[1])[:SHOWN]
        return [self.arrow(pair) for pair in self.pairs[rows][first]]

    def arrow(self, concepts: Iterable[int]) -> str:
        """Return the names of these concepts, one leading to the next."""
        return " → ".join(self.names[concept] for concept in concepts)


def pair_codes(pairs: IntArray, n: int) -> IntArray:
    """Return one number per ordered pair of n concepts."""
    codes: IntArray = pairs[:, 0] * n + pairs[:, 1]
    return codes
