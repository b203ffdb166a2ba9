"""Going through all pairs of a course, and keeping the strongest."""

from __future__ import annotations

import numpy as np

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.labelled import pair_codes
from proprl.fitted import Fitted
from proprl.pairs.table import FOLDS, fold_of
from proprl.progress import SILENT, Progress

# So many pairs are scored at a time at most: a row of Sequitur's takes about 350 bytes.
PAIRS_AT_ONCE = 500_000


def strongest_pairs(
    fitted: Fitted,
    *,
    top: int | None = None,
    threshold: float = 0.0,
    progress: Progress = SILENT,
) -> tuple[IntArray, FloatArray]:
    """Score every pair of a model's concepts, and give the strongest: (m, 2) and (m,)."""
    pairs = all_pairs(len(fitted.concept_ids))
    probabilities = scored(fitted, pairs, progress)
    return strongest(pairs, probabilities, top=top, threshold=threshold)


def scored(fitted: Fitted, pairs: IntArray, progress: Progress) -> FloatArray:
    """Score many pairs, those together that are best scored together: (m, 2) -> (m,)."""
    probabilities, parts = np.empty(len(pairs)), batches(pairs)
    progress.begin("scoring", len(parts))
    for here in parts:
        probabilities[here] = fitted.fit.score(pairs[here])
        progress.step()
    progress.end()
    return probabilities


def strongest(
    pairs: IntArray, probabilities: FloatArray, *, top: int | None = None, threshold: float = 0.0
) -> tuple[IntArray, FloatArray]:
    """Give the `top` pairs from a threshold on: strongest first, equals by source and target.

    >>> pairs, p = np.array([[1, 0], [0, 2], [0, 1]]), np.array([0.5, 0.1, 0.5])
    >>> strongest(pairs, p, threshold=0.2)
    (array([[0, 1],
           [1, 0]]), array([0.5, 0.5]))
    """
    enough = np.flatnonzero(probabilities >= threshold)
    order = enough[np.lexsort((pair_codes(pairs[enough]), -probabilities[enough]))][:top]
    return pairs[order], probabilities[order]


def all_pairs(n: int) -> IntArray:
    """Give every ordered pair of n concepts: (n (n - 1), 2).

    >>> all_pairs(2).tolist()
    [[0, 1], [1, 0]]
    """
    pairs: IntArray = np.argwhere(~np.eye(n, dtype=np.bool_)).astype(np.int64)
    return pairs


def batches(pairs: IntArray) -> list[IntArray]:
    """Give the places of pairs that are best scored together.

    Sequitur describes a pair by the labels outside its fold, and works out what they say once
    for each fold that it meets in a batch: so a batch holds pairs of one fold.
    """
    fold = fold_of(pairs, FOLDS)
    by_fold = np.argsort(fold, kind="stable")
    ends = np.searchsorted(fold[by_fold], np.arange(1, FOLDS))
    return [
        part
        for whole in np.split(by_fold, ends)
        for part in np.array_split(whole, -(-len(whole) // PAIRS_AT_ONCE) or 1)
        if len(part)
    ]
