"""A course in numbers."""

from __future__ import annotations

from proprl.data.course import Course
from proprl.data.splits.origins import ORIGINS


def course_facts(course: Course) -> dict[str, str | int | float | None]:
    """Give what a course holds, for people and for scripts; None for what it lacks."""
    B, M = course.transition_matrix(), course.incidence()
    facts: dict[str, str | int | float | None] = {
        "name": course.name,
        "subject": course.subject or None,
        "language": course.language or None,
        "licence": course.licence or None,
        "concepts": len(course),
        "resources": None if course.resources is None else len(course.resources),
        "links_of_concepts_and_resources": None if M is None else int(M.nnz),
        "links_by": course.incidence_source(),
        "learners": None,
        "interactions": None if course.interactions is None else len(course.interactions),
        "transitions": None if B is None else int(B.nnz),
        "features": None if course.features is None else course.features.shape[1],
        "labelled_pairs": None,
        "positives": None,
    }
    if course.interactions is not None:
        facts["learners"] = course.interactions["learner"].n_unique()
    if course.pairs is not None:
        labelled = course.labelled_pairs()
        facts["labelled_pairs"] = len(labelled)
        facts["positives"] = len(labelled.positives)
        if "origin" in course.pairs.columns:
            origins = course.pairs["origin"].to_list()
            facts |= {f"{origin}_pairs": origins.count(origin) for origin in ORIGINS}
        parts = course.split_column()
        if parts is not None:
            facts |= {part: parts.count(part) for part in ("train", "validation", "test")}
    return facts
