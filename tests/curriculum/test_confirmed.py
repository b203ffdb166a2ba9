"""Which labels hold, and which are set aside because they contradict each other."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from proprl.curriculum import SettledLabels, settle_labels
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
