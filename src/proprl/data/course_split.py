"""Which split the labelled pairs of a course get."""

from __future__ import annotations

from proprl.data.course import Course
from proprl.data.splits import PairSplit, given_split, grouped_split, random_split
from proprl.errors import SplitError

# The split does not move with the model's seed: runs of several seeds share one test part.
SPLIT_SEED = 0


def split_course(course: Course, protocol: str = "auto") -> PairSplit:
    """Split a course's labelled pairs; "auto" takes its `split` column, else groups them."""
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
    raise SplitError(f"there is no split {protocol!r}; known: auto, given, random, grouped")
