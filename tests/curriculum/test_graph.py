"""The acyclic graph: what is kept, what follows, and the way to a goal."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proprl.curriculum import PrerequisiteGraph, acyclic_graph
from proprl.errors import UnknownConceptError

NAMES = ("Counting", "Fractions", "Limits", "Derivatives", "Poetry")
IDS = tuple(name.lower() for name in NAMES)


def graph_of(edges: dict[tuple[int, int], float], threshold: float = 0.5) -> PrerequisiteGraph:
    pairs = np.array(list(edges), dtype=np.int64).reshape(-1, 2)
    return acyclic_graph(IDS, NAMES, pairs, np.array(list(edges.values())), threshold=threshold)


def named(graph: PrerequisiteGraph) -> list[tuple[str, str]]:
    return [(edge.source, edge.target) for edge in graph]


def test_an_edge_that_closes_a_cycle_with_stronger_ones_is_dropped() -> None:
    graph = graph_of({(0, 1): 0.9, (1, 2): 0.8, (2, 0): 0.7})
    assert named(graph) == [("Counting", "Fractions"), ("Fractions", "Limits")]
    assert graph.dropped == 1


def test_an_edge_that_follows_from_others_is_left_out() -> None:
    graph = graph_of({(0, 2): 0.99, (0, 1): 0.9, (1, 2): 0.8})
    assert named(graph) == [("Counting", "Fractions"), ("Fractions", "Limits")]
    assert graph.dropped == 0


def test_pairs_below_the_threshold_are_not_believed() -> None:
    assert named(graph_of({(0, 1): 0.9, (1, 2): 0.4})) == [("Counting", "Fractions")]


def test_a_path_is_in_order_and_leaves_out_what_is_known() -> None:
    graph = graph_of({(0, 1): 0.9, (1, 2): 0.9, (2, 3): 0.9})
    assert graph.path_to("Derivatives") == ["Counting", "Fractions", "Limits", "Derivatives"]
    assert graph.path_to("Derivatives", known=["Fractions"]) == ["Limits", "Derivatives"]
    assert graph.path_to("limits", known=["Limits"]) == []
    assert graph.path_to("Poetry") == ["Poetry"]


def test_a_misspelt_goal_suggests_the_nearest() -> None:
    with pytest.raises(UnknownConceptError, match="Limits"):
        graph_of({}).path_to("Limts")


def test_networkx_carries_ids_and_probabilities() -> None:
    graph = graph_of({(0, 1): 0.9}).to_networkx()
    assert graph.nodes["fractions"]["name"] == "Fractions"
    assert graph.edges["counting", "fractions"]["probability"] == 0.9
    assert len(graph) == 5


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda pair: pair[0] != pair[1]),
        st.floats(0, 1),
        max_size=20,
    )
)
def test_the_graph_is_acyclic_reduced_and_keeps_what_the_strongest_say(
    edges: dict[tuple[int, int], float],
) -> None:
    graph = graph_of(edges)
    found = graph.to_networkx()
    assert nx.is_directed_acyclic_graph(found)
    assert set(nx.transitive_reduction(found).edges) == set(found.edges)
    believed = {pair: p for pair, p in edges.items() if p >= 0.5}
    closure = nx.transitive_closure(found)
    ordered = [pair for pair in believed if closure.has_edge(IDS[pair[0]], IDS[pair[1]])]
    assert len(ordered) + graph.dropped == len(believed)
