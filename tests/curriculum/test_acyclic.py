"""The choice of weighted pairs without a cycle that is worth most."""

from __future__ import annotations

from itertools import permutations, product
from random import Random
from time import monotonic

import igraph
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proprl.curriculum.acyclic import Choice, Problem, best_choice
from proprl.curriculum.sifting import sifted_order

Pair = tuple[int, int]

N = 5
PAIRS = st.sampled_from([(i, j) for i in range(N) for j in range(N) if i != j])
WEIGHTED = st.dictionaries(PAIRS, st.sampled_from([0.5, 1.0, 1.5, 2.0]), max_size=9)


def rows(pairs: list[Pair] | set[Pair]) -> np.ndarray:
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)


def follows(pairs: set[Pair]) -> set[Pair]:
    graph = nx.DiGraph(list(pairs))
    return {(i, j) for i in graph for j in nx.descendants(graph, i)}


def problem_of(weighted: dict[Pair, float], law: set[Pair], rejected: set[Pair]) -> Problem:
    weights = np.array([weighted[pair] for pair in sorted(weighted)])
    return Problem(N, rows(law), rows(rejected), rows(set(weighted)), weights)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Law that goes upwards, rejected pairs that it does not imply, and any pairs beside them."""
    law = {(i, j) for i, j in draw(st.sets(PAIRS, max_size=3)) if i < j}
    rejected = draw(st.sets(PAIRS, max_size=3)) - follows(law)
    weighted = draw(WEIGHTED)
    return problem_of({p: w for p, w in weighted.items() if p not in law}, law, rejected)


def allowed(problem: Problem, kept: set[Pair]) -> bool:
    edges = kept | set(map(tuple, problem.law.tolist()))
    rejected = set(map(tuple, problem.rejected.tolist()))
    return nx.is_directed_acyclic_graph(nx.DiGraph(list(edges))) and not follows(edges) & rejected


def kept_pairs(problem: Problem, choice: Choice) -> set[Pair]:
    return set(map(tuple, problem.pairs[choice.kept].tolist()))


def least_lost(problem: Problem) -> float:
    """By trying every choice."""
    pairs = list(map(tuple, problem.pairs.tolist()))
    return min(
        float(problem.weights[~np.array(mask, dtype=bool)].sum())
        for mask in product([True, False], repeat=len(pairs))
        if allowed(problem, {pair for pair, kept in zip(pairs, mask, strict=True) if kept})
    )


@given(problems())
def test_no_choice_is_better_by_trying_all_of_them(problem: Problem) -> None:
    choice = best_choice(problem)
    assert allowed(problem, kept_pairs(problem, choice))
    assert choice.lost == pytest.approx(problem.weights[~choice.kept].sum())
    assert choice.lost == pytest.approx(least_lost(problem))
    assert choice.gap(problem) == 0


@given(problems())
def test_without_time_the_choice_is_allowed_and_the_bound_holds(problem: Problem) -> None:
    choice = best_choice(problem, seconds=0)
    assert allowed(problem, kept_pairs(problem, choice))
    assert choice.least <= least_lost(problem) + 1e-9 <= choice.lost + 2e-9


@pytest.mark.parametrize("seed", range(5))
def test_igraph_leaves_out_as_much_where_nothing_is_rejected(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = np.argwhere((rng.random((25, 25)) < 0.15) & ~np.eye(25, dtype=bool))
    weights = rng.random(len(pairs))
    nothing = np.empty((0, 2), dtype=np.int64)
    choice = best_choice(Problem(25, nothing, nothing, pairs, weights))
    graph = igraph.Graph(25, pairs.tolist(), directed=True)
    out = graph.feedback_arc_set(weights=weights.tolist(), method="ip")
    assert choice.lost == pytest.approx(weights[out].sum())
    assert choice.lost > 0


def test_a_path_along_a_rejected_pair_loses_its_cheapest_step() -> None:
    problem = problem_of({(0, 1): 2.0, (1, 2): 1.0, (2, 3): 3.0}, set(), {(0, 3)})
    assert kept_pairs(problem, best_choice(problem)) == {(0, 1), (2, 3)}


def test_law_costs_nothing_to_keep_and_is_never_cut() -> None:
    problem = problem_of({(1, 2): 9.0, (2, 0): 1.0}, {(0, 1)}, set())
    assert kept_pairs(problem, best_choice(problem)) == {(1, 2)}


@given(WEIGHTED, st.randoms(use_true_random=False))
def test_sifting_finds_an_order_of_the_law_no_worse_than_single_moves(
    weighted: dict[Pair, float], random: Random
) -> None:
    problem = problem_of(weighted, set(), set())
    place = sifted_order(N, problem.law, problem.pairs, problem.weights, until=monotonic() + 5)
    assert sorted(place.tolist()) == list(range(N))

    def forward(order: list[int]) -> float:
        return sum(w for (i, j), w in weighted.items() if order.index(i) < order.index(j))

    order = np.argsort(place).tolist()
    v = random.randrange(N)
    rest = [concept for concept in order if concept != v]
    moved = [[*rest[:k], v, *rest[k:]] for k in range(N)]
    assert forward(order) >= max(map(forward, moved)) - 1e-9
    assert forward(order) <= max(forward(list(o)) for o in permutations(range(N))) + 1e-9
