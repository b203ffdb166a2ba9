"""Which split the labelled pairs of a course get."""

from __future__ import annotations

from proprl.data.course import Course
from proprl.data.splits import (
    LabelledPairs,
    PairSplit,
    given_split,
    grouped_split,
    random_split,
)
from proprl.errors import SplitError

# The split does not move with the model's seed: runs of several seeds share one test part.
SPLIT_SEED = 0


NO_SPLIT = "none"
"""The protocol that leaves every labelled pair out of learning."""


def split_course(
    course: Course, protocol: str = "auto", *, labels_needed: bool = True
) -> PairSplit:
    """Split a course's labelled pairs; "auto" takes its `split` column, else groups them.

    "none" keeps all labels from a method that needs none; "auto" comes to that where such a
    method meets a course whose labels could not teach it anything.
    """
    if not labels_needed and protocol == "auto":
        useless = _why_useless(course)
        if useless:
            return _empty_split(useless)
    if protocol == NO_SPLIT:
        if labels_needed:
            raise SplitError(
                "the split `none` leaves no labels to learn from, and this method needs some; "
                "choose auto, given, random or grouped"
            )
        return _empty_split("labels were kept from the method")
    labelled = course.labelled_pairs()
    given = course.split_column()
    if protocol == "auto":
        protocol = "grouped" if given is None else "given"
    if protocol == "given":
        if given is None:
            raise SplitError(
                f"{course.name} has no `split` column in pairs; add one with train, validation "
                "and test, or choose the split `grouped`"
            )
        return given_split(labelled, given, seed=SPLIT_SEED)
    if protocol == "random":
        return random_split(labelled, seed=SPLIT_SEED)
    if protocol == "grouped":
        return grouped_split(labelled, seed=SPLIT_SEED)
    raise SplitError(f"there is no split {protocol!r}; known: auto, given, random, grouped, none")


def _why_useless(course: Course) -> str | None:
    """Say why the labels of a course cannot teach anything; None where they can."""
    if course.pairs is None or len(course.pairs) == 0:
        return "the course has no labelled pairs"
    labels = course.pairs["label"].unique().to_list()
    if len(labels) < 2:
        return f"all {len(course.pairs)} labelled pairs have label {labels[0]}: none was used"
    return None


def _empty_split(note: str) -> PairSplit:
    nothing = LabelledPairs.empty()
    return PairSplit(nothing, nothing, nothing, NO_SPLIT, promises_reversed=True, notes=(note,))
