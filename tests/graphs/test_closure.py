"""What follows from edges: the transitive closure without the diagonal."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from proprl.graphs.closure import connect, what_follows

N = 6
EDGES = st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)), max_size=20)


def following(n: int, edges: list[tuple[int, int]]) -> set[tuple[int, int]]:
    found = what_follows(n, np.array(edges, dtype=np.int64).reshape(-1, 2))
    return {(i, j) for i, j in np.argwhere(found).tolist()}


def test_a_chain_leads_from_each_to_all_later_ones() -> None:
    assert following(4, [(2, 3), (0, 1), (1, 2)]) == {
        (0, 1),
        (0, 2),
        (0, 3),
        (1, 2),
        (1, 3),
        (2, 3),
    }


def test_nothing_follows_from_no_edges() -> None:
    assert following(3, []) == set()
    assert following(0, []) == set()


def test_on_a_cycle_each_leads_to_every_other_but_not_to_itself() -> None:
    everyone = {(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)}
    assert following(3, [(0, 1), (1, 2), (2, 0), (1, 1)]) == everyone


@given(EDGES)
def test_it_is_what_ways_lead_to(edges: list[tuple[int, int]]) -> None:
    graph = nx.DiGraph(edges)
    ways = {(i, j) for i in graph for j in nx.descendants(graph, i)}
    assert following(N, edges) == ways


@given(EDGES, st.integers(0, N - 1), st.integers(0, N - 1))
def test_an_edge_more_brings_all_that_follows_with_it(
    edges: list[tuple[int, int]], i: int, j: int
) -> None:
    reach = what_follows(N, np.array(edges, dtype=np.int64).reshape(-1, 2))
    np.fill_diagonal(reach, True)
    connect(reach, i, j)
    np.fill_diagonal(reach, False)
    assert np.array_equal(reach, what_follows(N, np.array([*edges, (i, j)], dtype=np.int64)))
