"""What a method needs of a course, how large a course may be, and the errors that say so."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np

from proprl.data.course import Course
from proprl.errors import MissingInputError, ProprlError
from proprl.features.gather import NONE
from proprl.graphs.evidence import Evidence

LABELS: Final = "labels"
FEATURES: Final = "features"
RESOURCE: Final = "resource"
BEHAVIOUR: Final = "behaviour"
RESOURCE_OR_BEHAVIOUR: Final = "resource or behaviour"

SUPERVISED: Final = frozenset({LABELS, FEATURES})
"""What most methods need: labelled pairs to learn from, and a vector for each concept."""

REMEDIES: Final = {
    LABELS: "labelled pairs: add pairs.csv with columns source, target, label",
    FEATURES: "a vector for each concept: choose an encoder other than `none`",
    RESOURCE: "resources that hold concepts: add resources.csv, and concept_resources.csv "
    "unless the texts mention the concepts by name",
    BEHAVIOUR: "learner behaviour: add interactions.csv or transitions.csv",
    RESOURCE_OR_BEHAVIOUR: "learner behaviour or resources that hold concepts: add "
    "interactions.csv, transitions.csv or resources.csv",
}
"""Every need by its name, and how a course comes to fulfil it."""

DENSE_LIMIT = 5_000
"""Beyond this many nodes a matrix of all their pairs is refused: 100 MB, several times over."""


def offered_inputs(course: Course, needs: Collection[str], encoder: str) -> set[str]:
    """Give which inputs a course has; a view without an entry does not count.

    Views are looked up only where they are needed, and no text is encoded.
    """
    asked = " ".join(needs)
    views = Evidence(
        np.empty((len(course), 0)),
        transitions=course.transition_matrix() if BEHAVIOUR in asked else None,
        incidence=course.incidence() if RESOURCE in asked else None,
    ).views
    labels = {LABELS} if course.labels is not None and len(course.labels) else set()
    return {*views, *labels} | (set() if encoder == NONE else {FEATURES})


def missing_inputs(needs: Collection[str], present: Collection[str]) -> tuple[str, ...]:
    """Give the needs that are not fulfilled, in the order of `REMEDIES`.

    >>> missing_inputs({"labels", "resource or behaviour"}, {"behaviour"})
    ('labels',)
    """
    fulfilled = set(present)
    if fulfilled & {RESOURCE, BEHAVIOUR}:
        fulfilled.add(RESOURCE_OR_BEHAVIOUR)
    return tuple(need for need in REMEDIES if need in needs and need not in fulfilled)


def check_inputs(name: str, needs: Collection[str], present: Collection[str], course: str) -> None:
    """Raise an error that says what is missing and how to add it; none where all is there."""
    missing = missing_inputs(needs, present)
    if missing:
        lines = [f"{name} cannot learn from {course}; it needs"]
        raise MissingInputError("\n".join([*lines, *(f"  {REMEDIES[need]}" for need in missing)]))


def refuse_beyond_limit(method: str, count: int, nodes: str) -> None:
    """Raise unless a matrix of all pairs of so many nodes is small enough to hold."""
    if count > DENSE_LIMIT:
        raise ProprlError(
            f"{method} holds a matrix of all pairs of {nodes}, for at most {DENSE_LIMIT:,}; there "
            f"are {count:,}: choose a method that works on sparse graphs, such as proprl"
        )
