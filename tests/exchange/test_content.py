"""What is exported: every prerequisite with its status, and a reason that is true."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from proprl.curriculum.graph import prerequisite_graph
from proprl.data import LabelledPairs
from proprl.estimator import ProPRL
from proprl.exchange.content import Content, content_of
from proprl.fitted import Fitted

NAMES = ("Counting", "Fractions", "Limits")


@pytest.fixture
def course(fitted: ProPRL) -> Fitted:
    moves = np.array([[0, 12, 1], [5, 0, 0], [0, 0, 0]])
    holds = np.array([[1, 1], [1, 1], [0, 1]])
    return replace(
        fitted.fitted_,
        transitions=csr_array(moves.astype(float)),
        incidence=csr_array(holds.astype(float)),
    )


def exported(course: Fitted) -> Content:
    """Counting → Fractions by a label, Fractions → Limits learned, Counting → Limits follows."""
    graph = prerequisite_graph(
        "cfl",
        NAMES,
        LabelledPairs(np.array([[0, 1]]), np.array([1])),
        np.array([[0, 1], [1, 2], [0, 2]]),
        np.array([0.9, 0.62, 0.5]),
        threshold=0.4,
    )
    return content_of(course, graph, ["Numbers", "Numbers", ""])


def test_each_prerequisite_says_what_it_rests_on(course: Fitted) -> None:
    told = {
        (NAMES[one.source], NAMES[one.target]): (one.probability, one.status, one.reason)
        for one in exported(course).prerequisites
    }
    assert told == {
        ("Counting", "Fractions"): (
            0.9,
            "confirmed",
            "Counting is needed before Fractions: a label confirms it; learners went on directly "
            "12 times, and back 5 times; 2 resources hold both.",
        ),
        ("Fractions", "Limits"): (
            0.62,
            "learned",
            "Fractions is needed before Limits: learned, with probability 0.62; 1 resource holds "
            "both.",
        ),
        ("Counting", "Limits"): (
            0.5,
            "implied",
            "Counting is needed before Limits: learned, with probability 0.50; it follows from "
            "smaller steps; learners went on directly 1 times, and back 0 times; 1 resource holds "
            "both.",
        ),
    }


def test_concepts_come_with_their_topics(course: Fitted) -> None:
    assert [(one.id, one.name, one.topic) for one in exported(course).concepts] == [
        ("c", "Counting", "Numbers"),
        ("f", "Fractions", "Numbers"),
        ("l", "Limits", ""),
    ]


def test_without_moves_and_resources_the_label_or_the_probability_is_the_reason(
    course: Fitted,
) -> None:
    bare = exported(replace(course, transitions=None, incidence=None))
    assert bare.prerequisites[0].reason == (
        "Counting is needed before Fractions: a label confirms it."
    )
