"""Labels are law in the graph: what holds for any labels, also where they contradict each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from random import Random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proprl.curriculum.graph import LeftOut, PrerequisiteGraph, labels_alone, prerequisite_graph
from proprl.data import LabelledPairs, load_benchmark
from proprl.graphs.closure import what_follows

Pair = tuple[int, int]

IDS, NAMES = tuple("abcde"), tuple("ABCDE")
N = 5
PAIRS = st.sampled_from([(i, j) for i in range(N) for j in range(N) if i != j])
LABELS = st.lists(st.tuples(PAIRS, st.integers(0, 1)).map(lambda row: (*row[0], row[1])))
# Few different probabilities, so that equal ones occur.
CANDIDATES = st.lists(st.tuples(PAIRS, st.sampled_from([0.2, 0.5, 0.6, 0.7, 0.9, 1.0])))


@dataclass(frozen=True)
class Drawn:
    """Labels and candidates, and the graph of them."""

    labels: list[tuple[int, int, int]]
    candidates: list[tuple[Pair, float]]

    @property
    def graph(self) -> PrerequisiteGraph:
        rows = np.array(self.labels, dtype=np.int64).reshape(-1, 3)
        pairs = np.array([pair for pair, _ in self.candidates], dtype=np.int64).reshape(-1, 2)
        p = np.array([p for _, p in self.candidates], dtype=np.float64)
        return prerequisite_graph(
            IDS, NAMES, LabelledPairs(rows[:, :2], rows[:, 2]), pairs, p, threshold=0.5
        )

    @property
    def rejected(self) -> set[Pair]:
        return self._with(0) - self._with(1)

    @property
    def confirmed_one_way(self) -> set[Pair]:
        confirmed = self._with(1) - self._with(0)
        return {(i, j) for i, j in confirmed if (j, i) not in confirmed}

    def _with(self, label: int) -> set[Pair]:
        return {(i, j) for i, j, said in self.labels if said == label}


DRAWN = st.builds(Drawn, LABELS, CANDIDATES)


def edges(graph: PrerequisiteGraph) -> list[Pair]:
    return [(i, j) for i, j in graph.pairs.tolist()]


def following(edges: set[Pair]) -> set[Pair]:
    """What follows from edges, by networkx."""
    graph = nx.DiGraph(list(edges))
    return {(i, j) for i in graph for j in nx.descendants(graph, i)}


@given(DRAWN)
def test_it_is_always_acyclic_and_no_learned_edge_follows_from_the_rest(drawn: Drawn) -> None:
    graph = nx.DiGraph(edges(drawn.graph))
    assert nx.is_directed_acyclic_graph(graph)
    confirmed = set(map(tuple, drawn.graph.pairs[drawn.graph.confirmed].tolist()))
    assert set(graph.edges) - set(nx.transitive_reduction(graph).edges) <= confirmed


@given(DRAWN)
def test_its_confirmed_edges_are_those_of_the_labels_alone(drawn: Drawn) -> None:
    confirmed = drawn.graph.pairs[drawn.graph.confirmed].tolist()
    alone = nx.DiGraph(drawn.graph.labels.kept.tolist())
    assert set(map(tuple, confirmed)) == set(nx.transitive_reduction(alone).edges)


@given(DRAWN)
def test_kept_labels_follow_and_nothing_rejected_beyond_what_they_imply(drawn: Drawn) -> None:
    graph = drawn.graph
    kept = {(i, j) for i, j in graph.labels.kept.tolist()}
    follows = following(set(edges(graph)))
    assert kept <= follows
    assert follows & drawn.rejected == following(kept) & drawn.rejected
    assert graph.implied_rejected.tolist() == sorted(
        [i, j] for i, j in following(kept) & drawn.rejected
    )


@given(DRAWN)
def test_kept_labels_and_conflicts_are_all_that_was_confirmed(drawn: Drawn) -> None:
    graph = drawn.graph
    kept, aside = graph.labels.kept.tolist(), graph.conflicts.tolist()
    confirmed = sorted({(i, j) for i, j, label in drawn.labels if label == 1})
    assert sorted(kept + aside) == [[i, j] for i, j in confirmed]


@given(DRAWN)
def test_beside_mutual_pairs_as_few_as_possible_are_set_aside(drawn: Drawn) -> None:
    pairs = drawn.confirmed_one_way
    fewest = min(sum(o.index(i) > o.index(j) for i, j in pairs) for o in permutations(range(N)))
    assert len(drawn.graph.labels.cyclic) == fewest


@given(DRAWN)
def test_what_is_left_out_would_contradict_what_is_in_the_graph(drawn: Drawn) -> None:
    graph = drawn.graph
    follows = following(set(edges(graph)))
    allowed = follows & drawn.rejected
    likely = {pair for pair, p in drawn.candidates if p >= 0.5}
    cycles = {pair for pair in likely if pair[::-1] in follows}
    against = {
        (i, j)
        for i, j in likely - follows - cycles
        if following({*edges(graph), (i, j)}) & drawn.rejected != allowed
    }
    assert likely <= follows | cycles | against
    assert graph.left_out == LeftOut(len(cycles), len(against))


@given(DRAWN)
def test_an_edge_carries_its_probability_and_whether_a_label_says_so(drawn: Drawn) -> None:
    graph = drawn.graph
    kept = {(i, j) for i, j in graph.labels.kept.tolist()}
    for pair, edge in zip(edges(graph), graph, strict=True):
        given_ = [p for other, p in drawn.candidates if other == pair]
        assert edge.probability == max(given_, default=1.0)
        assert edge.confirmed == (pair in kept)
        assert (edge.source_id, edge.target_id) == (IDS[pair[0]], IDS[pair[1]])
        assert (edge.source, edge.target) == (NAMES[pair[0]], NAMES[pair[1]])


@given(DRAWN, st.randoms(use_true_random=False))
def test_the_order_of_labels_and_candidates_does_not_matter(drawn: Drawn, random: Random) -> None:
    labels, candidates = list(drawn.labels), list(drawn.candidates)
    random.shuffle(labels)
    random.shuffle(candidates)
    graph, again = drawn.graph, Drawn(labels, candidates).graph
    assert list(graph) == list(again)
    assert graph.conflicts.tolist() == again.conflicts.tolist()
    assert graph.implied_rejected.tolist() == again.implied_rejected.tolist()
    assert graph.left_out == again.left_out


@pytest.mark.publicdata
def test_the_labels_of_mooc_are_law_among_random_candidates(public_data: Path) -> None:
    course = load_benchmark("mooc", public_data)
    n, labels = len(course.concepts), course.labelled_pairs()
    rng = np.random.default_rng(0)
    pairs, p = rng.integers(0, n, (20_000, 2)), rng.random(20_000)
    alone = labels_alone(course.ids, course.names, labels)
    graph = prerequisite_graph(course.ids, course.names, labels, pairs, p, threshold=0.5, seconds=1)
    assert nx.is_directed_acyclic_graph(graph.to_networkx())
    assert len(graph.conflicts) == 4

    follows, by_labels = what_follows(n, graph.pairs), what_follows(n, alone.pairs)
    assert follows[tuple(graph.labels.kept.T)].all()
    assert (follows & ~by_labels).any()  # the candidates say something
    rejected = tuple(labels.pairs[labels.labels == 0].T)
    assert np.array_equal(follows[rejected], by_labels[rejected])
    assert graph.implied_rejected.tolist() == alone.implied_rejected.tolist()
