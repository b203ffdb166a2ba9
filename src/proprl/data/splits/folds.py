"""Splits for experiments: folds without leaks, concepts never seen before, fewer labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit, divide, refuse_single_class
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
    drawn = divide(distinct, [1 / folds] * folds, seed)
    splits = []
    for fold, test in enumerate(drawn):
        following = (fold + 1) % folds
        rest = [part for other, part in enumerate(drawn) if other not in (fold, following)]
        train = LabelledPairs.empty().joined(*rest).distinct()
        refuse_single_class(train, f"train of fold {fold}")
        splits.append(PairSplit(train, drawn[following], test, "leak-free", promises_reversed=True))
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
            distinct.take((source == part) & (target == part)) for part in range(3)
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
    train, validation = (
        divide(part, [share, 1 - share], seed)[0] for part in (split.train, split.validation)
    )
    return replace(split, train=train, validation=validation)
