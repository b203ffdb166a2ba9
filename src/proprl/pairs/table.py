"""The table of pairs: everything known about an ordered pair, in one row.

No label is its own evidence. Pairs are dealt into folds, both orders of a pair into one. A pair is
described by the labels of the other folds, whether its own label is known or not: so pairs look
alike when they are learned from and when they are asked about.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property

import numpy as np

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.labelled import LabelledPairs
from proprl.graphs.affinity import behaviour_affinity, text_affinity
from proprl.graphs.closure import BoolArray, what_follows
from proprl.graphs.evidence import Evidence
from proprl.pairs.columns import Column, Columns, course_columns
from proprl.pairs.labels import label_columns
from proprl.pairs.like_pairs import likeness, nearness, role_affinity
from proprl.pairs.reader import expected_order, reading_likeness

# More folds leave more labels to describe a pair by, and take longer.
FOLDS = 20
# So many groups of concepts are taken for new, one after the other.
GROUPS = 5


class PairTable:
    """Rows about ordered pairs of a course in which some labels are known."""

    def __init__(self, evidence: Evidence, known: LabelledPairs) -> None:
        self.evidence, self.known = evidence, known
        self._course = course_columns(evidence)
        affinities = {"texts": text_affinity(evidence.features)}
        if evidence.transitions is not None:
            affinities["moves"] = behaviour_affinity(evidence.transitions)
        self._near = {source: nearness(affinity) for source, affinity in affinities.items()}
        self._alike = likeness(list(affinities.values()))
        readings = evidence.readings
        self._read_alike = None if readings is None else reading_likeness(readings)

    def knowing(self, known: LabelledPairs) -> PairTable:
        """Give the table of the same course in which other labels are known."""
        other = copy(self)
        other.known = known
        other.__dict__.pop("_follows", None)
        return other

    @cached_property
    def _follows(self) -> BoolArray:
        return what_follows(self.evidence.concept_count, self.known.positives)

    @cached_property
    def columns(self) -> list[Column]:
        """What each column says."""
        return [*self._course.columns, *self._labels(LabelledPairs.empty()).columns]

    def rows(self, pairs: IntArray) -> FloatArray:
        """Give the row of each pair: (m, 2) -> (m, columns), single precision."""
        fold_of_known, fold = fold_of(self.known.pairs, FOLDS), fold_of(pairs, FOLDS)
        rows = np.empty((len(pairs), len(self.columns)), dtype=np.float32, order="F")
        for one in np.unique(fold):
            here = fold == one
            rows[here] = self._described(pairs[here], np.flatnonzero(fold_of_known != one))
        return rows

    def ruled_out(self, pairs: IntArray) -> BoolArray:
        """Say of which pairs the labels imply the reverse, and not the pair: (m, 2) -> (m,)."""
        a, b = pairs.T
        ruled_out: BoolArray = self._follows[b, a] & ~self._follows[a, b]
        return ruled_out

    def cold_rows(self, pairs: IntArray) -> tuple[FloatArray, IntArray]:
        """Give rows in which a concept of the pair is taken for new, and which pair each is about.

        A fifth of the concepts is taken for new at a time: no label about any of them describes
        a pair that holds one of them.
        """
        concepts = np.arange(self.evidence.concept_count)
        group = fold_of(np.column_stack([concepts, concepts]), GROUPS)
        rows, asked = [self.rows(pairs[:0])], [np.empty(0, dtype=np.int64)]
        for one in range(GROUPS):
            new = group == one
            here = np.flatnonzero(new[pairs].any(axis=1))
            others = np.flatnonzero(~new[self.known.pairs].any(axis=1))
            rows.append(self._described(pairs[here], others))
            asked.append(here)
        return np.vstack(rows), np.concatenate(asked)

    def _described(self, pairs: IntArray, by: IntArray) -> FloatArray:
        """Give rows of pairs, described by the known labels in these places."""
        labels = self._labels(self.known.take(by))
        return np.hstack([self._course.rows(pairs), labels.rows(pairs)])

    def near_by(self, known: LabelledPairs) -> dict[str, FloatArray]:
        """Give how near concepts are by each source; by role, these labels decide."""
        return self._near | {"role": nearness(role_affinity(known, self._alike))}

    def _labels(self, known: LabelledPairs) -> Columns:
        near = self.near_by(known)
        columns = label_columns(known, near, self.evidence.concept_count)
        if self._read_alike is not None:
            order = expected_order(known.positives, self._read_alike)
            columns += Columns("reader", directed={"comes first, by what was read": order})
        return columns


def fold_of(pairs: IntArray, folds: int) -> IntArray:
    """Deal pairs into folds, both orders of a pair into one: (m, 2) -> (m,).

    A fold depends on the two concepts alone, so a label that comes or goes moves no pair.

    >>> fold_of(np.array([[3, 8], [8, 3]]), 10).tolist()
    [4, 4]
    """
    low, high = np.sort(pairs, axis=1).T.astype(np.uint64)
    with np.errstate(over="ignore"):  # arithmetic modulo 2⁶⁴, as the mixing wants it
        x = (low << np.uint64(32)) ^ high
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)  # splitmix64
        x ^= x >> np.uint64(31)
    fold: IntArray = (x % np.uint64(folds)).astype(np.int64)
    return fold
