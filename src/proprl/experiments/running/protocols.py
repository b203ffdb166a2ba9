"""The protocols: which pairs a run learns from, and which it is judged by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from proprl.data.course import Course
from proprl.data.splits.folds import leak_free_folds, new_concept_splits, with_fewer_labels
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit, given_split
from proprl.errors import ProprlError
from proprl.experiments.running.run import REASONS, WHOLE_MAP, Run
from proprl.experiments.running.whole_map import task_of

PROTOCOLS = ("published", "leak-free", "new-concepts")
LEAK_FREE_FOLDS = 10


def unknown_protocol(name: str) -> ProprlError:
    """Give the error that lists the protocols that there are."""
    return ProprlError(f"there is no protocol {name!r}; known: {', '.join(PROTOCOLS)}")


def split_of(run: Run, course: Course) -> PairSplit:
    """Give the split that the protocol asks for."""
    if run.protocol == WHOLE_MAP:
        return task_of(run, course).split()
    labelled = course.labelled_pairs()
    if run.protocol == "published":
        parts = course.split_column()
        if parts is None:
            raise ProprlError(f"{course.name} has no published split: its pairs name no parts")
        split = given_split(labelled, parts)
    elif run.protocol in ("leak-free", REASONS):
        split = leak_free_folds(labelled, folds=LEAK_FREE_FOLDS)[run.fold]
    elif run.protocol == "new-concepts":
        split = new_concept_splits(labelled, repeats=run.fold + 1)[run.fold]
    else:
        raise unknown_protocol(run.protocol)
    if run.label_share < 1:
        split = with_fewer_labels(split, run.label_share)
    return _shuffled(split, run.seed) if run.shuffled_labels else split


def scored_part(run: Run, split: PairSplit) -> LabelledPairs:
    """Give the pairs of a split that the run is judged by."""
    if run.protocol == WHOLE_MAP:
        return split.test  # `part` says there which half of the map is asked
    part: LabelledPairs = getattr(split, run.part)
    return part


def _shuffled(split: PairSplit, seed: int) -> PairSplit:
    rng = np.random.default_rng(seed)
    train, validation = (
        LabelledPairs(part.pairs, rng.permutation(part.labels))
        for part in (split.train, split.validation)
    )
    return replace(split, train=train, validation=validation)
