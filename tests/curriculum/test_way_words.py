"""A way in sentences, and as a map of its own."""

from __future__ import annotations

import numpy as np
import pytest

from proprl.curriculum.graph import prerequisite_graph
from proprl.curriculum.way_words import doubt_words, known_words, map_of_way
from proprl.curriculum.ways import Ways
from proprl.data import LabelledPairs

NAMES = ("Counting", "Fractions", "Limits", "Derivatives", "Poetry", "Reading")


@pytest.fixture
def ways() -> Ways:
    """Counting → Fractions → Limits → Derivatives; learned: Reading → Poetry → Derivatives."""
    confirmed = np.array([[0, 1], [1, 2], [2, 3]])
    return Ways(
        prerequisite_graph(
            [f"c{k}" for k in range(6)],
            NAMES,
            LabelledPairs(confirmed, np.ones(3, dtype=np.int64)),
            np.array([[4, 3], [5, 4]]),
            np.array([0.41, 0.9]),
            threshold=0.3,
        )
    )


def test_what_may_be_skipped_is_told_with_all_that_goes_with_it(ways: Ways) -> None:
    assert doubt_words(NAMES, ways.way_to(["Derivatives"], ["Fractions"])) == [
        "The weakest link: Poetry is needed before Derivatives. No label says so; it is learned, "
        "with probability 0.41.",
        "If Poetry is not needed before Derivatives after all (0.41), you may skip Reading, "
        "Poetry.",
        "If Reading is not needed before Poetry after all (0.90), you may skip Reading.",
        "2 of these 4 steps are surely needed: --at-least 0.8 shows them alone.",
    ]


def test_a_way_of_labels_has_no_weak_link(ways: Ways) -> None:
    assert doubt_words(NAMES, ways.way_to(["Limits"])) == ["Labels confirm every step of this way."]
    assert doubt_words(NAMES, ways.way_to(["Limits"], ["Fractions"])) == []


def test_what_is_taken_as_known_is_told_and_what_is_doubtful_with_its_remedy(ways: Ways) -> None:
    assert known_words(NAMES, ways.known(["Derivatives"])) == [
        "Taken as known, because what is known needs it: Counting, Fractions, Limits.",
        "Poetry is taken as known too, less surely (0.41), because Derivatives seems to need it.",
        "Reading is taken as known too, less surely (0.41), because Derivatives seems to need it.",
        "If one of these is not known, say so with --unknown.",
    ]
    assert known_words(NAMES, ways.known([])) == []


def test_the_map_of_a_way_holds_its_steps_and_what_is_known_just_before(ways: Ways) -> None:
    drawn, kinds = map_of_way(ways.graph, ways.way_to(["Derivatives"], ["Limits", "Poetry"]))
    assert dict(zip(drawn.names, kinds, strict=True)) == {
        "Limits": "known already",
        "Derivatives": "target",
        "Poetry": "known already",
    }
    assert {(edge.source, edge.target) for edge in drawn} == {
        ("Limits", "Derivatives"),
        ("Poetry", "Derivatives"),
    }
