"""Labelled pairs as a test writes them down, and what it asks of their splits."""

from __future__ import annotations

import numpy as np

from proprl.data import LabelledPairs, PairSplit


def labelled(rows: list[tuple[int, int, int]]) -> LabelledPairs:
    """Pairs from (source, target, label)."""
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return LabelledPairs(table[:, :2], table[:, 2])


def chain(positives: int, negatives: int) -> LabelledPairs:
    """Pairs of which none is the reverse of another: positives first."""
    count = positives + negatives
    return labelled([(i, i + 1, int(i < positives)) for i in range(count)])


def is_disjoint(split: PairSplit, *, reverse: bool) -> bool:
    """Whether no pair stands in two parts, nor, with `reverse`, its reverse."""
    shared = [*split.shared().values(), *(split.shared(reverse=True).values() if reverse else ())]
    return not any(shared)
