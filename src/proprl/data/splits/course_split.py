"""Which labelled pairs of a course are learned from, and which are kept to judge by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from proprl.data.course import Course
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit, given_split, grouped_split, random_split
from proprl.errors import SplitError

# The split does not move with the model's seed: runs of several seeds share one test part.
SPLIT_SEED = 0

NO_SPLIT = "none"
"""The protocol that leaves every labelled pair out of learning."""
EVERY_LABEL = "all"
"""The protocol that learns from every labelled pair: there is no test part."""

# Methods that choose on labels get a tenth for it; the others learn from that tenth too.
WITHOUT_TEST = (0.9, 0.1, 0.0)
DRAWING: dict[str, Callable[..., PairSplit]] = {"random": random_split, "grouped": grouped_split}


def split_course(
    course: Course,
    protocol: str = "auto",
    *,
    labels_needed: bool = True,
    positives_suffice: bool = False,
) -> PairSplit:
    """Split a course's labelled pairs; "auto" takes its `split` column, else learns from all.

    "random" and "grouped" draw a test part, "given" insists on the column, "all" learns from
    every label whatever the column says. "none" keeps all labels from a method that needs none;
    "auto" comes to that where such a method meets a course whose labels could not teach it
    anything. With `positives_suffice`, labels that all say 1 will do.
    """
    if not labels_needed and protocol == "auto":
        useless = _why_useless(course)
        if useless:
            return _empty_split(useless)
    if protocol == NO_SPLIT:
        if labels_needed:
            raise SplitError(
                "the split `none` leaves no labels to learn from, and this method needs some; "
                "choose auto, given, all, random or grouped"
            )
        return _empty_split("labels were kept from the method")
    labelled = course.labelled_pairs()
    given = course.split_column()
    if protocol == "auto":
        protocol = EVERY_LABEL if given is None else "given"
    if protocol == "given":
        if given is None:
            raise SplitError(
                f"{course.name} has no `split` column in pairs; add one with train, validation "
                "and test, or choose the split `grouped`"
            )
        return given_split(labelled, given, seed=SPLIT_SEED, positives_suffice=positives_suffice)
    if protocol == EVERY_LABEL:
        return _all_learned_from(labelled, positives_suffice=positives_suffice)
    if protocol in DRAWING:
        return DRAWING[protocol](labelled, seed=SPLIT_SEED, positives_suffice=positives_suffice)
    raise SplitError(
        f"there is no split {protocol!r}; known: auto, given, all, random, grouped, none"
    )


def _all_learned_from(labelled: LabelledPairs, *, positives_suffice: bool) -> PairSplit:
    """Give a split without a test part, and say that there is none."""
    split = grouped_split(
        labelled, fractions=WITHOUT_TEST, seed=SPLIT_SEED, positives_suffice=positives_suffice
    )
    note = "every label was learned from: none was kept apart to judge by"
    return replace(split, protocol=EVERY_LABEL, notes=(*split.notes, note))


def _why_useless(course: Course) -> str | None:
    """Say why the labels of a course cannot teach anything; None where they can."""
    if course.pairs is None or len(course.pairs) == 0:
        return "the course has no labelled pairs"
    labels = np.unique(course.pairs["label"].to_numpy())
    if len(labels) < 2:
        return f"all {len(course.pairs)} labelled pairs have label {labels[0]}: none was used"
    return None


def _empty_split(note: str) -> PairSplit:
    nothing = LabelledPairs.empty()
    return PairSplit(nothing, nothing, nothing, NO_SPLIT, promises_reversed=True, notes=(note,))
