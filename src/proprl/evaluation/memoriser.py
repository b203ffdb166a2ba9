"""What can be answered about pairs by looking up training labels, without any model."""

from __future__ import annotations

from proprl.arrays import IntArray
from proprl.data.splits.labelled import LabelledPairs


def memorised_labels(train: LabelledPairs, pairs: IntArray) -> list[int | None]:
    """Give what a memoriser of `train` answers to each pair; None where it has seen neither order.

    It repeats the label of the pair itself, and else takes the opposite of its reverse's: of two
    concepts only one comes first.

    >>> import numpy as np
    >>> train = LabelledPairs(np.array([[0, 1], [2, 3]]), np.array([1, 0]))
    >>> memorised_labels(train, np.array([[0, 1], [1, 0], [3, 2], [4, 5]]))
    [1, 0, 1, None]
    """
    known = dict(zip(map(tuple, train.pairs.tolist()), train.labels.tolist(), strict=True))
    reversed_ = {(target, source): 1 - label for (source, target), label in known.items()}
    answers = {**reversed_, **known}
    return [answers.get((source, target)) for source, target in pairs.tolist()]
