"""What follows from the steps of a map, counted for each concept."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proprl.curriculum.graph import PrerequisiteGraph, labels_alone
from proprl.curriculum.structure import Structure, topics_of
from proprl.data import LabelledPairs

NAMES = ("Counting", "Fractions", "Limits", "Derivatives", "Series", "Poetry")
N = len(NAMES)
UPWARDS = [(i, j) for i in range(N) for j in range(i + 1, N)]


def map_of(edges: list[tuple[int, int]]) -> PrerequisiteGraph:
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    labels = LabelledPairs(pairs, np.ones(len(pairs), dtype=np.int64))
    return labels_alone([f"c{k}" for k in range(N)], NAMES, labels)


@pytest.fixture
def structure() -> Structure:
    # Counting → Fractions → Limits → {Derivatives, Series}; Poetry stands alone.
    return Structure(map_of([(0, 1), (1, 2), (2, 3), (2, 4)]))


def test_levels_count_the_steps_from_the_start(structure: Structure) -> None:
    assert structure.level.tolist() == [0, 1, 2, 3, 3, 0]


def test_concepts_know_what_they_need_and_are_needed_for(structure: Structure) -> None:
    assert structure.needs.tolist() == [0, 1, 2, 3, 3, 0]
    assert structure.needed_for.tolist() == [4, 3, 2, 0, 0, 0]


def test_a_start_needs_nothing_and_is_needed(structure: Structure) -> None:
    assert structure.starts.tolist() == [0]
    assert structure.alone.tolist() == [5]


def test_a_bottleneck_lies_between_most_pairs(structure: Structure) -> None:
    # Limits: 2 before it, 2 after it. Fractions: 1 before, 3 after.
    assert structure.bottlenecks.tolist() == [2, 1]


def test_without_topics_concepts_that_hang_together_are_named_after_the_best_connected() -> None:
    topics = topics_of(map_of([(0, 1), (1, 2), (3, 4)]))
    assert topics[0] == topics[1] == topics[2] == "Fractions"
    assert topics[3] == topics[4] != "Fractions"
    assert topics[5] == ""


def test_given_topics_are_taken(structure: Structure) -> None:
    given_ = ["Numbers", "Numbers", "Calculus", "Calculus", "Calculus", ""]
    assert topics_of(structure.graph, given_) == given_


@given(st.lists(st.sampled_from(UPWARDS), unique=True))
def test_counts_and_levels_are_those_of_networkx(edges: list[tuple[int, int]]) -> None:
    structure, graph = Structure(map_of(edges)), nx.DiGraph(edges)
    graph.add_nodes_from(range(N))
    assert structure.needs.tolist() == [len(nx.ancestors(graph, i)) for i in range(N)]
    assert structure.needed_for.tolist() == [len(nx.descendants(graph, i)) for i in range(N)]
    for level, concepts in enumerate(nx.topological_generations(graph)):
        assert all(structure.level[i] == level for i in concepts)
