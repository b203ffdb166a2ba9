"""The planted course holds what was asked for, and the same seed gives the same course."""

from __future__ import annotations

from planted import planted_course


def test_a_course_has_the_size_that_was_asked_for() -> None:
    course = planted_course(concepts=60, pairs=200, transitions=500, features=8, topics=2)
    assert course.transitions is not None
    assert (len(course), len(course.transitions)) == (60, 500)
    labelled = course.labelled_pairs()
    assert (len(labelled), len(labelled.positives)) == (200, 100)


def test_the_seed_decides() -> None:
    assert planted_course(seed=1).fingerprint == planted_course(seed=1).fingerprint
    assert planted_course(seed=1).fingerprint != planted_course(seed=2).fingerprint
