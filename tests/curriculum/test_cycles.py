"""Setting edges aside until no cycle is left."""

from __future__ import annotations

from itertools import permutations
from random import Random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proprl.curriculum import cycles
from proprl.curriculum.cycles import EXACT, edges_to_set_aside

Edges = list[tuple[int, int]]


def edges_among(n: int) -> st.SearchStrategy[Edges]:
    possible = [(i, j) for i in range(n) for j in range(n) if i != j]
    return st.lists(st.sampled_from(possible), unique=True)


def aside(n: int, edges: Edges) -> Edges:
    array = np.array(edges, dtype=np.int64).reshape(-1, 2)
    mask = edges_to_set_aside(n, array)
    return [edge for edge, out in zip(edges, mask.tolist(), strict=True) if out]


def acyclic(edges: Edges) -> bool:
    return bool(nx.is_directed_acyclic_graph(nx.DiGraph(edges)))


def fewest(n: int, edges: Edges) -> int:
    """The fewest edges that point backwards, by trying every order of the concepts."""
    return min(sum(o.index(i) > o.index(j) for i, j in edges) for o in permutations(range(n)))


def test_without_a_cycle_nothing_is_set_aside() -> None:
    assert aside(4, [(0, 1), (1, 2), (0, 2), (3, 2)]) == []
    assert aside(4, []) == []


def test_the_one_edge_that_two_cycles_share_goes() -> None:
    # 0 → 1 → 2 → 0 and 0 → 1 → 3 → 0: only 0 → 1 lies on both.
    assert aside(4, [(2, 0), (1, 2), (3, 0), (0, 1), (1, 3)]) == [(0, 1)]


def test_cycles_apart_are_broken_one_by_one() -> None:
    assert len(aside(6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3)])) == 2


def test_among_all_orders_of_fifteen_concepts_half_of_the_edges_go() -> None:
    edges = [(i, j) for i in range(EXACT) for j in range(EXACT) if i != j]
    assert len(aside(EXACT, edges)) == 15 * 14 / 2


def test_a_large_cycle_loses_one_edge() -> None:
    n = 200
    assert len(aside(n, [(i, (i + 1) % n) for i in range(n)])) == 1


def test_many_concepts_on_common_cycles_lose_few_edges() -> None:
    """A hundred concepts in order, and ten edges that point backwards."""
    rng = np.random.default_rng(5)
    forwards = {tuple(sorted(rng.choice(100, 2, replace=False).tolist())) for _ in range(600)}
    backwards = {(j, i) for i, j in sorted(forwards)[::60]}
    edges = sorted((forwards - {(j, i) for i, j in backwards}) | backwards)
    out = aside(100, edges)
    assert acyclic([edge for edge in edges if edge not in out])
    assert len(out) <= len(backwards) == 10


@given(edges_among(6))
def test_as_few_as_any_order_allows(edges: Edges) -> None:
    out = aside(6, edges)
    assert acyclic([edge for edge in edges if edge not in out])
    assert len(out) == fewest(6, edges)


@given(edges_among(8))
def test_above_the_limit_no_edge_could_come_back(edges: Edges) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cycles, "EXACT", 1)
        out = aside(8, edges)
    kept = [edge for edge in edges if edge not in out]
    assert acyclic(kept)
    assert not any(acyclic([*kept, edge]) for edge in out)


@given(edges_among(6), st.randoms(use_true_random=False), st.sampled_from([1, EXACT]))
def test_the_order_of_the_edges_does_not_matter(edges: Edges, random: Random, exact: int) -> None:
    shuffled = list(edges)
    random.shuffle(shuffled)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cycles, "EXACT", exact)
        assert set(aside(6, shuffled)) == set(aside(6, edges))
