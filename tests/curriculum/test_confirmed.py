"""Which labels hold, and which are set aside because they contradict each other."""

from __future__ import annotations

from itertools import combinations, permutations
from pathlib import Path
from random import Random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proprl.curriculum.confirmed import SettledLabels, settle_labels
from proprl.data import LabelledPairs, load_benchmark
from proprl.errors import ProprlError


def settled(*rows: tuple[int, int, int], n: int = 6) -> SettledLabels:
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return settle_labels(n, LabelledPairs(table[:, :2], table[:, 2]))


def test_labels_that_agree_are_kept_once_and_in_order() -> None:
    labels = settled((3, 1, 0), (1, 2, 1), (0, 1, 1), (1, 2, 1), (3, 1, 0))
    assert labels.kept.tolist() == [[0, 1], [1, 2]]
    assert labels.rejected.tolist() == [[3, 1]]
    assert labels.conflicts.tolist() == []


def test_a_pair_with_both_labels_counts_as_neither() -> None:
    labels = settled((0, 1, 1), (0, 1, 0), (1, 2, 1), (0, 2, 0))
    assert labels.kept.tolist() == [[1, 2]]
    assert labels.rejected.tolist() == [[0, 2]]
    assert labels.contradicted.tolist() == labels.conflicts.tolist() == [[0, 1]]


def test_of_a_pair_confirmed_in_both_orders_neither_is_kept() -> None:
    labels = settled((0, 1, 1), (1, 0, 1), (1, 2, 1))
    assert labels.kept.tolist() == [[1, 2]]
    assert labels.mutual.tolist() == labels.conflicts.tolist() == [[0, 1], [1, 0]]


def test_a_rejected_reverse_is_no_conflict() -> None:
    labels = settled((0, 1, 1), (1, 0, 0))
    assert labels.kept.tolist() == [[0, 1]]
    assert labels.rejected.tolist() == [[1, 0]]


def test_a_cycle_loses_as_few_pairs_as_possible() -> None:
    # 0 → 1 lies on both cycles: 0 → 1 → 2 → 0 and 0 → 1 → 3 → 0.
    labels = settled((0, 1, 1), (1, 2, 1), (2, 0, 1), (1, 3, 1), (3, 0, 1))
    assert labels.cyclic.tolist() == labels.conflicts.tolist() == [[0, 1]]
    assert labels.kept.tolist() == [[1, 2], [1, 3], [2, 0], [3, 0]]


def test_of_a_cycle_the_pair_with_the_least_support_is_set_aside() -> None:
    for weakest in range(3):
        support = np.full(3, 0.7)
        support[weakest] = 0.4
        cycle = LabelledPairs(np.array([[0, 1], [1, 2], [2, 0]]), np.ones(3, dtype=np.int64))
        labels = settle_labels(3, cycle, support)
        assert labels.cyclic.tolist() == [cycle.pairs[weakest].tolist()]


def test_few_pairs_with_support_go_before_many_without() -> None:
    # 0 → 1 lies on both cycles, and has all the support.
    pairs = np.array([[0, 1], [1, 2], [2, 0], [1, 3], [3, 0]])
    labels = settle_labels(
        4, LabelledPairs(pairs, np.ones(5, dtype=np.int64)), 1.0 * (pairs[:, 0] == 0)
    )
    assert labels.cyclic.tolist() == [[0, 1]]


def test_a_cycle_through_a_mutual_pair_needs_nothing_more() -> None:
    labels = settled((0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 0, 1))
    assert labels.kept.tolist() == [[1, 2], [2, 0]]
    assert labels.cyclic.tolist() == []


def test_no_labels_settle_to_nothing() -> None:
    labels = settled()
    assert len(labels.kept) == len(labels.rejected) == len(labels.conflicts) == 0


def test_a_label_of_a_concept_with_itself_is_refused() -> None:
    with pytest.raises(ProprlError, match=r"label 1 is of \(2, 2\).*no prerequisite of itself"):
        settled((0, 1, 1), (2, 2, 0))


def test_a_label_of_a_concept_that_is_not_there_is_refused() -> None:
    with pytest.raises(ProprlError, match=r"label 0 is of \(0, 6\).*from 0 to 5"):
        settled((0, 6, 1))


@pytest.mark.publicdata
def test_the_labels_of_mooc_lose_the_fewest_pairs_of_their_cycle(public_data: Path) -> None:
    """Twelve concepts lie on common cycles of 21 pairs: four have to go, whichever they are."""
    course = load_benchmark("mooc", public_data)
    labelled = course.labelled_pairs()
    confirmed = nx.DiGraph(labelled.positives.tolist())
    (component,) = (c for c in nx.strongly_connected_components(confirmed) if len(c) > 1)
    pairs = set(confirmed.subgraph(component).edges)
    assert (len(component), len(pairs)) == (12, 21)

    labels = settle_labels(len(course.concepts), labelled)
    aside = {(i, j) for i, j in labels.cyclic.tolist()}
    assert labels.conflicts.tolist() == labels.cyclic.tolist()
    assert len(aside) == 4
    assert aside < pairs
    assert len(labels.kept) + len(aside) == confirmed.number_of_edges()
    assert nx.is_directed_acyclic_graph(nx.DiGraph(labels.kept.tolist()))
    for three in combinations(pairs, 3):
        assert not nx.is_directed_acyclic_graph(nx.DiGraph(list(pairs - set(three))))


# Longer cycles lose as few pairs as possible.

Edges = list[tuple[int, int]]


def edges_among(n: int) -> st.SearchStrategy[Edges]:
    """Edges of which none is the reverse of another."""
    upwards = [(i, j) for i in range(n) for j in range(i + 1, n)]
    turned = st.lists(st.tuples(st.sampled_from(upwards), st.booleans()), unique_by=lambda e: e[0])
    return turned.map(lambda drawn: [(j, i) if turn else (i, j) for (i, j), turn in drawn])


def aside(n: int, edges: Edges) -> Edges:
    labels = settled(*((i, j, 1) for i, j in edges), n=n)
    return [(i, j) for i, j in labels.cyclic.tolist()]


def acyclic(edges: Edges) -> bool:
    return bool(nx.is_directed_acyclic_graph(nx.DiGraph(edges)))


def fewest(n: int, edges: Edges) -> int:
    """The fewest edges that point backwards, by trying every order of the concepts."""
    return min(sum(o.index(i) > o.index(j) for i, j in edges) for o in permutations(range(n)))


def test_cycles_apart_are_broken_one_by_one() -> None:
    assert len(aside(6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3)])) == 2


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


@given(edges_among(6), st.randoms(use_true_random=False))
def test_the_order_of_the_edges_does_not_matter(edges: Edges, random: Random) -> None:
    shuffled = list(edges)
    random.shuffle(shuffled)
    assert set(aside(6, shuffled)) == set(aside(6, edges))
