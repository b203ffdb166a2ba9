"""Which labels the graph must follow, and which are set aside: they contradict each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from proprl.arrays import FloatArray, IntArray
from proprl.curriculum.acyclic import Problem, best_choice
from proprl.data.splits.labelled import LabelledPairs, distinct_pairs, pair_codes
from proprl.errors import ProprlError
from proprl.graphs.closure import BoolArray


@dataclass(frozen=True, eq=False)
class SettledLabels:
    """Labels without contradictions, and the pairs in conflict; each pair once, in order."""

    kept: IntArray  # (m, 2), acyclic
    """Confirmed pairs that the graph must hold."""
    rejected: IntArray
    """Pairs that a person said are no prerequisites."""
    contradicted: IntArray
    """Pairs that were both confirmed and rejected."""
    mutual: IntArray
    """Confirmed pairs whose reverse is confirmed as well."""
    cyclic: IntArray
    """Confirmed pairs set aside because with the others they close a longer cycle."""

    @property
    def conflicts(self) -> IntArray:
        """All pairs that were set aside, in order."""
        return distinct_pairs(np.vstack([self.contradicted, self.mutual, self.cyclic]))


def settle_labels(
    n: int, labelled: LabelledPairs, support: FloatArray | None = None
) -> SettledLabels:
    """Return which labels of n concepts hold, and which are set aside as in conflict.

    A pair with both labels is set aside, and so are both of two confirmed orders of a pair.
    Of longer cycles as few pairs as possible are set aside: among equally few, those with the
    least `support`, a number from 0 to 1 for each label.

    >>> pairs = np.array([[0, 1], [1, 2], [2, 0], [3, 4], [4, 3], [0, 4], [0, 4], [1, 4]])
    >>> settled = settle_labels(5, LabelledPairs(pairs, np.array([1, 1, 1, 1, 1, 1, 0, 0])))
    >>> settled.kept.tolist(), settled.rejected.tolist()
    ([[0, 1], [1, 2]], [[1, 4]])
    >>> settled.contradicted.tolist(), settled.mutual.tolist(), settled.cyclic.tolist()
    ([[0, 4]], [[3, 4], [4, 3]], [[2, 0]])
    """
    _check(n, labelled)
    positive = distinct_pairs(labelled.pairs[labelled.labels == 1])
    negative = distinct_pairs(labelled.pairs[labelled.labels == 0])
    contradicted = positive[_stands_in(positive, negative)]
    rejected = negative[~_stands_in(negative, positive)]
    confirmed = positive[~_stands_in(positive, negative)]
    in_both_orders = _stands_in(confirmed[:, ::-1], confirmed)
    one_way = confirmed[~in_both_orders]
    # All support together counts less than one pair.
    extra = _mean_of(one_way, labelled, support) / (len(one_way) + 1)
    nothing = np.empty((0, 2), dtype=np.int64)
    kept = best_choice(Problem(n, nothing, nothing, one_way, 1 + extra)).kept
    return SettledLabels(
        kept=one_way[kept],
        rejected=rejected,
        contradicted=contradicted,
        mutual=confirmed[in_both_orders],
        cyclic=one_way[~kept],
    )


def _check(n: int, labelled: LabelledPairs) -> None:
    pairs = labelled.pairs
    for wrong, expected in (
        ((pairs >= n).any(axis=1), f"pairs must hold concept rows from 0 to {n - 1}"),
        (pairs[:, 0] == pairs[:, 1], "a concept is no prerequisite of itself: remove the label"),
    ):
        if wrong.any():
            entry = int(np.argmax(wrong))
            raise ProprlError(f"label {entry} is of {tuple(pairs[entry].tolist())}; {expected}")


def _stands_in(pairs: IntArray, others: IntArray) -> BoolArray:
    return np.isin(pair_codes(pairs), pair_codes(others))


def _mean_of(pairs: IntArray, labelled: LabelledPairs, support: FloatArray | None) -> FloatArray:
    """Return the mean support of each pair (in order, with a label or more); 0 without any."""
    if support is None:
        return np.zeros(len(pairs))
    about = np.flatnonzero(_stands_in(labelled.pairs, pairs))
    place = np.searchsorted(pair_codes(pairs), pair_codes(labelled.pairs[about]))
    sums = np.bincount(place, support[about], len(pairs))
    return sums / np.bincount(place, minlength=len(pairs))
