"""Repeated splits that can be trusted: folds without leaks, and concepts never seen before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from proprl.data.splits.labelled import LabelledPairs, unordered_codes
from proprl.data.splits.parts import PairSplit, draw_parts, refuse_single_class
from proprl.errors import SplitError


def leak_free_folds(
    labelled: LabelledPairs, *, folds: int = 10, seed: int = 0
) -> tuple[PairSplit, ...]:
    """Return one split per fold: test is the fold, validation the next one, train the rest.

    Repeats of a pair are removed first, both orders of a pair always stand in one fold, and
    folds are stratified by label. Every distinct pair is tested exactly once.
    """
    if folds < 3:
        raise SplitError(f"folds must be 3 or more (train, validation, test), not {folds}")
    refuse_single_class(labelled, "pairs")
    distinct = labelled.distinct()
    fold = draw_parts(distinct.labels, unordered_codes(distinct.pairs), [1 / folds] * folds, seed)

    def part(chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> LabelledPairs:
        return distinct.take(np.flatnonzero(chosen))

    splits = []
    for test in range(folds):
        validation = (test + 1) % folds
        train = part((fold != test) & (fold != validation))
        refuse_single_class(train, f"train of fold {test}")
        splits.append(
            PairSplit(
                train=train,
                validation=part(fold == validation),
                test=part(fold == test),
                protocol="leak-free",
                promises_reversed=True,
            )
        )
    return tuple(splits)


def new_concept_splits(
    labelled: LabelledPairs,
    *,
    repeats: int = 5,
    seed: int = 0,
    shares: tuple[float, float, float] = (0.5, 0.2, 0.3),
) -> tuple[PairSplit, ...]:
    """Return splits whose test pairs hold only concepts that no training pair holds.

    Concepts are drawn into three sets by `shares` (train, validation, test); a pair belongs to
    a part when both of its concepts do. Pairs between two sets belong to none: the notes count
    them, because they are most of the labels.
    """
    distinct = labelled.distinct()
    concepts = np.unique(distinct.pairs)
    splits = []
    for repeat in range(repeats):
        rng = np.random.default_rng([seed, repeat])
        home = np.full(int(concepts.max(initial=0)) + 1, -1)
        ends = np.cumsum(np.round(np.array(shares[:2]) * len(concepts))).astype(np.int64)
        for part, members in enumerate(np.split(rng.permutation(concepts), ends)):
            home[members] = part
        source, target = home[distinct.pairs].T
        train, validation, test = (
            distinct.take(np.flatnonzero((source == part) & (target == part))) for part in range(3)
        )
        lost = len(distinct) - len(train) - len(validation) - len(test)
        note = f"{lost} of {len(distinct)} pairs join two sets of concepts and are left out"
        splits.append(
            PairSplit(
                train, validation, test, "new-concepts", promises_reversed=True, notes=(note,)
            )
        )
    return tuple(splits)


def with_fewer_labels(split: PairSplit, share: float, *, seed: int = 0) -> PairSplit:
    """Return the split with this share of its training and of its validation pairs.

    Both orders of a pair are kept, or dropped, together. With the same seed a smaller share is
    part of a larger one. Test pairs stay as they are.
    """
    if not 0 < share <= 1:
        raise SplitError(f"a share of labels is above 0 and at most 1, not {share}")
    if share == 1:
        return split

    def kept(part: LabelledPairs) -> LabelledPairs:
        drawn = draw_parts(part.labels, unordered_codes(part.pairs), [share, 1 - share], seed)
        return part.take(np.flatnonzero(drawn == 0))

    return replace(split, train=kept(split.train), validation=kept(split.validation))
