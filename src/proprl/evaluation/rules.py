"""Answers without a model: what looking up or counting known labels says of pairs."""

from __future__ import annotations

import numpy as np

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.labelled import LabelledPairs


def memorised_labels(train: LabelledPairs, pairs: IntArray) -> list[int | None]:
    """Give what a memoriser of `train` answers to each pair; None where it has seen neither order.

    It repeats the label of the pair. Where it has seen the reverse alone it says the opposite: of
    two concepts only one comes first.

    >>> train = LabelledPairs(np.array([[0, 1], [2, 3]]), np.array([1, 0]))
    >>> memorised_labels(train, np.array([[0, 1], [1, 0], [3, 2], [4, 5]]))
    [1, 0, 1, None]
    """
    known = dict(zip(map(tuple, train.pairs.tolist()), train.labels.tolist(), strict=True))
    reversed_ = {(target, source): 1 - label for (source, target), label in known.items()}
    answers = {**reversed_, **known}
    return [answers.get((source, target)) for source, target in pairs.tolist()]


def degree_rule(known: LabelledPairs, pairs: IntArray) -> FloatArray:
    """Give how often the source is a known source times how often the target is a known target.

    It knows only which concepts have many prerequisites, and which are needed often.
    """
    concepts = 1 + max(known.pairs.max(initial=0), pairs.max(initial=0))
    sources = np.bincount(known.positives[:, 0], minlength=concepts)
    targets = np.bincount(known.positives[:, 1], minlength=concepts)
    return (sources[pairs[:, 0]] * targets[pairs[:, 1]]).astype(np.float64)
