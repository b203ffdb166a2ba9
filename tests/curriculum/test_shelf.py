"""Which resource a concept is learned with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from proprl.curriculum.graph import PrerequisiteGraph, labels_alone
from proprl.curriculum.shelf import Shelf
from proprl.data import LabelledPairs
from proprl.data.resources import Resources
from proprl.estimator import ProPRL
from proprl.fitted import Fitted

NAMES = ("Functions", "Limits", "Derivatives", "Poetry", "Prose")
TITLES = ("Poems about limits", "Getting closer", "Limits", "Everything")
HOLDS = np.array(
    [
        [0, 1, 1, 1],  # Functions
        [1, 1, 1, 1],  # Limits
        [0, 0, 0, 1],  # Derivatives
        [1, 0, 0, 1],  # Poetry
        [0, 0, 0, 1],  # Prose
    ]
)


@pytest.fixture
def graph() -> PrerequisiteGraph:
    labels = LabelledPairs(np.array([[0, 1], [1, 2]]), np.array([1, 1]))
    return labels_alone([name.lower() for name in NAMES], NAMES, labels)


@pytest.fixture
def course(fitted: ProPRL) -> Fitted:
    return replace(
        fitted.fitted_,
        concept_ids=tuple(name.lower() for name in NAMES),
        concept_names=NAMES,
        incidence=csr_array(HOLDS.astype(float)),
        resources=Resources(
            tuple("abcd"), TITLES, {(1, 2): "Limits make “closer and closer” precise."}
        ),
    )


def title(shelf: Shelf, concept: int) -> str:
    chosen = shelf.best_for(concept)
    assert chosen is not None
    return chosen.title


def test_it_holds_little_that_is_unknown_and_much_that_is_near(
    course: Fitted, graph: PrerequisiteGraph
) -> None:
    assert title(Shelf(course, graph, {0}), 1) == "Limits"  # as good as the next; it has the name
    assert title(Shelf(course, graph, {0}), 3) == "Poems about limits"


def test_what_was_learned_on_the_way_counts_as_known(
    course: Fitted, graph: PrerequisiteGraph
) -> None:
    shelf = Shelf(course, graph, {0})
    assert title(shelf, 1) == "Limits"
    for concept in (2, 3, 4):
        shelf.learned(concept)
    assert title(shelf, 1) == "Everything"  # nothing else is new in it, and two are near


def test_the_sentence_comes_with_it(course: Fitted, graph: PrerequisiteGraph) -> None:
    chosen = Shelf(course, graph, set()).best_for(1)
    assert chosen == ("c", "Limits", "Limits make “closer and closer” precise.")


def test_without_resources_there_is_none(course: Fitted, graph: PrerequisiteGraph) -> None:
    assert Shelf(replace(course, resources=None), graph, set()).best_for(1) is None
    assert Shelf(replace(course, incidence=None), graph, set()).best_for(1) is None
    held = HOLDS.copy()
    held[3] = 0
    assert Shelf(replace(course, incidence=csr_array(held)), graph, set()).best_for(3) is None
