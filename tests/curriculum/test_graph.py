"""The acyclic graph: labels are law in it, the model fills the rest, and it shows the ways."""

from __future__ import annotations

import numpy as np
import pytest

from proprl.curriculum.graph import (
    Edge,
    LeftOut,
    PrerequisiteGraph,
    acyclic_graph,
    labels_alone,
    prerequisite_graph,
)
from proprl.data import LabelledPairs
from proprl.errors import ProprlError, UnknownConceptError

Pair = tuple[int, int]

NAMES = ("Counting", "Fractions", "Limits", "Derivatives", "Poetry")
IDS = tuple(name.lower() for name in NAMES)
COUNTING, FRACTIONS, LIMITS, DERIVATIVES, POETRY = range(5)


def labelled(rows: list[tuple[int, int, int]]) -> LabelledPairs:
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return LabelledPairs(table[:, :2], table[:, 2])


def graph_of(
    candidates: dict[Pair, float],
    *labels: tuple[int, int, int],
    threshold: float = 0.5,
) -> PrerequisiteGraph:
    pairs = np.array(list(candidates), dtype=np.int64).reshape(-1, 2)
    probabilities = np.array(list(candidates.values()), dtype=np.float64)
    return prerequisite_graph(
        IDS, NAMES, labelled(list(labels)), pairs, probabilities, threshold=threshold
    )


def edges(graph: PrerequisiteGraph) -> list[Pair]:
    return [(i, j) for i, j in graph.pairs.tolist()]


# What the model says.


def test_learned_edges_are_taken_by_falling_probability_while_they_close_no_cycle() -> None:
    graph = graph_of({(0, 1): 0.7, (1, 2): 0.8, (2, 0): 0.9})
    assert edges(graph) == [(2, 0), (1, 2)]
    assert graph.left_out == LeftOut(cycle=1, rejected=0)


def test_among_equal_probabilities_the_earlier_pair_is_taken() -> None:
    assert edges(graph_of({(1, 0): 0.9, (0, 1): 0.9})) == [(0, 1)]


def test_an_edge_that_follows_from_others_is_left_out() -> None:
    graph = graph_of({(0, 2): 0.99, (0, 1): 0.9, (1, 2): 0.8})
    assert edges(graph) == [(0, 1), (1, 2)]
    assert graph.left_out == LeftOut(cycle=0, rejected=0)


def test_pairs_below_the_threshold_are_not_believed() -> None:
    assert edges(graph_of({(0, 1): 0.5, (1, 2): 0.49})) == [(0, 1)]


def test_of_a_candidate_given_twice_the_higher_probability_counts() -> None:
    pairs = np.array([[0, 1], [0, 1], [1, 0]])
    graph = prerequisite_graph(
        IDS, NAMES, LabelledPairs.empty(), pairs, np.array([0.6, 0.9, 0.8]), threshold=0.5
    )
    assert [(e.source, e.target, e.probability) for e in graph] == [("Counting", "Fractions", 0.9)]
    assert graph.left_out == LeftOut(cycle=1, rejected=0)


# What the labels say.


def test_a_confirmed_pair_is_an_edge_whatever_the_model_says() -> None:
    graph = graph_of({(0, 1): 0.1, (1, 0): 0.9, (2, 3): 0.8}, (0, 1, 1), (1, 2, 1))
    assert list(graph) == [
        Edge("Fractions", "Limits", 1.0, "fractions", "limits", confirmed=True),
        Edge("Limits", "Derivatives", 0.8, "limits", "derivatives", confirmed=False),
        Edge("Counting", "Fractions", 0.1, "counting", "fractions", confirmed=True),
    ]
    assert graph.left_out == LeftOut(cycle=1, rejected=0)


def test_a_confirmed_pair_does_not_give_way_to_learned_edges() -> None:
    graph = graph_of({(0, 1): 0.9, (1, 2): 0.8}, (0, 2, 1))
    assert edges(graph) == [(0, 2), (0, 1), (1, 2)]


def test_a_confirmed_pair_gives_way_to_confirmed_ones() -> None:
    graph = graph_of({}, (0, 1, 1), (1, 2, 1), (0, 2, 1))
    assert edges(graph) == [(0, 1), (1, 2)]


def test_a_rejected_pair_is_no_edge() -> None:
    graph = graph_of({(0, 1): 0.99}, (0, 1, 0))
    assert edges(graph) == []
    assert graph.left_out == LeftOut(cycle=0, rejected=1)


def test_the_edge_that_would_imply_a_rejected_pair_is_left_out() -> None:
    graph = graph_of({(0, 1): 0.9, (1, 2): 0.7, (2, 3): 0.8}, (0, 3, 0))
    assert edges(graph) == [(0, 1), (2, 3)]  # with 1 → 2, 0 → 3 would follow
    assert graph.left_out == LeftOut(cycle=0, rejected=1)


def test_a_rejected_pair_that_confirmed_ones_imply_follows_and_is_listed() -> None:
    graph = graph_of({(2, 3): 0.9}, (0, 1, 1), (1, 2, 1), (0, 2, 0), (3, 0, 0))
    assert edges(graph) == [(0, 1), (1, 2), (2, 3)]
    assert graph.implied_rejected.tolist() == [[0, 2]]


def test_labels_in_conflict_are_listed_and_bind_nobody() -> None:
    """Both orders of a pair are confirmed: the model decides."""
    labels = ((0, 1, 1), (1, 0, 1), (2, 3, 1), (2, 3, 0))
    graph = graph_of({(1, 0): 0.9, (2, 3): 0.4}, *labels)
    assert [(e.source, e.target, e.confirmed) for e in graph] == [("Fractions", "Counting", False)]
    assert graph.conflicts.tolist() == [[0, 1], [1, 0], [2, 3]]


def test_the_labels_alone_make_a_graph_without_any_model() -> None:
    graph = labels_alone(IDS, NAMES, labelled([(0, 1, 1), (1, 2, 1), (0, 2, 1), (3, 4, 0)]))
    assert [(e.source, e.target, e.probability, e.confirmed) for e in graph] == [
        ("Counting", "Fractions", 1.0, True),
        ("Fractions", "Limits", 1.0, True),
    ]


def test_a_graph_without_labels_is_of_the_candidates_alone() -> None:
    candidates = {(0, 1): 0.9, (1, 2): 0.8, (2, 0): 0.7}
    pairs, probabilities = np.array(list(candidates)), np.array(list(candidates.values()))
    graph = acyclic_graph(IDS, NAMES, pairs, probabilities, threshold=0.5)
    assert list(graph) == list(graph_of(candidates))
    assert graph.dropped == 1


# Bad input.


@pytest.mark.parametrize(
    ("candidates", "threshold", "message"),
    [
        ({(0, 1): 0.9}, 80, "threshold is a probability, from 0 to 1, not 80"),
        ({(0, 1): 0.9, (0, 5): 0.9}, 0.5, r"candidate 1 has \[0, 5\]: pairs hold .* from 0 to 4"),
        ({(0, 1): np.nan}, 0.5, "candidate 0 has nan: a probability lies between 0 and 1"),
        ({(0, 1): 1.1}, 0.5, r"candidate 0 has 1\.1: a probability lies between 0 and 1"),
    ],
)
def test_candidates_that_cannot_be_are_refused(
    candidates: dict[Pair, float], threshold: float, message: str
) -> None:
    with pytest.raises(ProprlError, match=message):
        graph_of(candidates, threshold=threshold)


def test_a_probability_for_each_pair_is_asked_for() -> None:
    pairs = np.array([[0, 1], [1, 2]])
    with pytest.raises(ProprlError, match="one probability each"):
        acyclic_graph(IDS, NAMES, pairs, np.array([0.9]), threshold=0.5)


# The ways in it.


def test_a_path_is_in_order_and_leaves_out_what_is_known() -> None:
    graph = graph_of({(0, 1): 0.9, (1, 2): 0.9}, (LIMITS, DERIVATIVES, 1))
    assert graph.path_to("Derivatives") == ["Counting", "Fractions", "Limits", "Derivatives"]
    assert graph.path_to("Derivatives", known=["Fractions"]) == ["Limits", "Derivatives"]
    assert graph.path_to("limits", known=["Limits"]) == []
    assert graph.path_to("Poetry") == ["Poetry"]


def test_a_misspelt_goal_suggests_the_nearest() -> None:
    with pytest.raises(UnknownConceptError, match="Limits"):
        graph_of({}).path_to("Limts")


def test_networkx_carries_ids_names_probabilities_and_what_is_confirmed() -> None:
    graph = graph_of({(0, 1): 0.9}, (1, 2, 1)).to_networkx()
    assert graph.nodes["fractions"]["name"] == "Fractions"
    assert graph.edges["counting", "fractions"] == {"probability": 0.9, "confirmed": False}
    assert graph.edges["fractions", "limits"] == {"probability": 1.0, "confirmed": True}
    assert len(graph) == 5


def test_its_repr_counts() -> None:
    assert repr(graph_of({(0, 1): 0.9})) == "PrerequisiteGraph(1 prerequisites among 5 concepts)"
