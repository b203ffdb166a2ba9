"""Metrics of a whole map, against numbers worked out by hand."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proprl.data.splits.labelled import LabelledPairs
from proprl.errors import ProprlError
from proprl.evaluation.metrics import average_precision
from proprl.evaluation.whole_map import (
    JudgedMap,
    drawn_counts,
    edge_metrics,
    interval,
    map_metrics,
    mean_of,
    needed_on_the_way,
    precision_at_recall,
    resampled_metrics,
)
from proprl.graphs.closure import what_follows


def mask(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.bool_)


# Five pairs, two of them prerequisites. The last follows from known labels.
LABELS = np.array([1, 0, 0, 0, 1])
SCORES = np.array([0.8, 0.5, 0.1, 0.2, 0.4])
JUDGED = JudgedMap(
    LABELS,
    SCORES,
    open=mask(1, 1, 1, 1, 0),
    believed=mask(1, 1, 0, 0, 0),
    follows=mask(1, 1, 0, 1, 1),
    labels_follow=mask(0, 0, 0, 0, 1),
)
PAIRS = np.array([[0, 1], [1, 0], [2, 0], [0, 2], [1, 2]])


def test_what_the_scores_are_worth() -> None:
    """Ranks: right, wrong, right, wrong, wrong. AP = 1/2 · 1 + 1/2 · 2/3; open: the first alone."""
    found = map_metrics(JUDGED)
    assert found["average_precision"] == pytest.approx(5 / 6)
    assert found["average_precision_open"] == 1


def test_what_is_believed() -> None:
    """Two of five are believed, one of the two is right, one of the two prerequisites is found."""
    found = map_metrics(JUDGED)
    assert (found["believed"], found["believed_right"], found["believed_found"]) == (0.4, 0.5, 0.5)


def test_log_loss_beside_that_of_the_base_rate() -> None:
    """Someone who knows only that 2 of 5 are prerequisites says 0.4 of every pair."""
    loss = -(log(0.8) + log(0.5) + log(0.9) + log(0.8) + log(0.4))
    base = -(2 * log(0.4) + 3 * log(0.6))
    assert map_metrics(JUDGED)["log_loss_gain"] == pytest.approx(1 - loss / base)


def test_the_base_rate_itself_gains_nothing_and_promises_the_truth() -> None:
    found = map_metrics(JudgedMap(LABELS, np.full(5, 0.4), open=mask(1, 1, 1, 1, 1)))
    assert found["log_loss_gain"] == pytest.approx(0)
    assert (found["promised"], found["true"], found["promised_ratio"]) == (2, 2, 1)


def test_a_sure_mistake_costs_much_but_not_everything() -> None:
    found = map_metrics(JudgedMap(np.array([1, 0]), np.array([0.0, 0.0]), open=mask(1, 1)))
    # One in two: the base rate loses 2 log 2. The sure mistake loses log 1,000,000.
    assert found["log_loss_gain"] == pytest.approx(1 - log(1e6) / (2 * log(2)), rel=1e-4)


def test_the_map_beside_its_labels() -> None:
    """The graph says 4 and has both: 1/2, 1, F1 2/3. The labels say one, rightly: 1, 1/2, 2/3."""
    found = map_metrics(JUDGED)
    assert (found["follows_right"], found["follows_found"]) == (0.5, 1)
    assert (found["labels_right"], found["labels_found"]) == (1, 0.5)
    assert found["follows_f1"] == pytest.approx(2 / 3)
    assert found["f1_lead"] == pytest.approx(0)


def test_a_rule_promises_nothing() -> None:
    found = map_metrics(JudgedMap(LABELS, SCORES * 10, open=JUDGED.open, are_probabilities=False))
    assert set(found) == {"average_precision", "average_precision_open"}


def test_nothing_believed_is_right_in_no_share() -> None:
    judged = JudgedMap(LABELS, SCORES, open=JUDGED.open, believed=mask(0, 0, 0, 0, 0))
    found = map_metrics(judged)
    assert np.isnan(found["believed_right"])
    assert found["believed_found"] == 0


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 4)), min_size=1, max_size=30))
def test_average_precision_is_the_one_of_all_other_tables(rows: list[tuple[int, int]]) -> None:
    labels, scores = np.array(rows).T
    found = map_metrics(JudgedMap(labels, scores / 4, open=np.ones(len(rows), dtype=np.bool_)))
    assert found["average_precision"] == pytest.approx(
        average_precision(labels, scores / 4), nan_ok=True
    )


def test_a_resample_is_the_test_set_with_its_pairs_repeated() -> None:
    found = resampled_metrics(JUDGED, PAIRS, resamples=60)
    for counts in drawn_counts(PAIRS, 60):
        for row, one in enumerate(counts):
            again = np.repeat(np.arange(5), one.astype(np.int64))
            repeated = JudgedMap(
                *(values[again] for values in (LABELS, SCORES, JUDGED.open)),
                believed=mask(1, 1, 0, 0, 0)[again],
                follows=mask(1, 1, 0, 1, 1)[again],
                labels_follow=mask(0, 0, 0, 0, 1)[again],
            )
            for name, value in map_metrics(repeated).items():
                assert found[name][row] == pytest.approx(value, nan_ok=True), name


def test_both_orders_of_a_pair_are_drawn_together() -> None:
    counts = np.concatenate(list(drawn_counts(PAIRS, 100)))
    assert counts.shape == (100, 5)
    assert (counts[:, 0] == counts[:, 1]).all()  # 0-1 in both orders
    assert (counts[:, 2] == counts[:, 3]).all()  # 2-0
    assert (counts[:, [0, 2, 4]].sum(axis=1) == 3).all()  # three unordered pairs are drawn


def test_an_interval_holds_the_middle_and_leaves_out_what_is_none() -> None:
    assert interval(np.append(np.arange(1001.0), np.nan)) == (25, 975)
    assert np.isnan(interval(np.array([np.nan]))).all()


def test_the_mean_over_draws_is_taken_in_each_resample() -> None:
    one, other = {"f1_lead": np.array([0.1, 0.3])}, {"f1_lead": np.array([0.3, 0.1])}
    assert mean_of([one, other], "f1_lead") == pytest.approx([0.2, 0.2])


def test_learned_edges_are_judged_by_what_people_said_and_what_follows_from_it() -> None:
    """Known: 0 → 1. Annotated: 0 → 1 → 2 → 3, and "0 is not before 4".

    Of the edges 0 → 1 is a label; 1 → 2 is right; 0 → 3 is implied; 0 → 4 is wrong; nobody said
    anything of 4 → 5. So 2 of 4 learned edges are right, 2 of the 3 that anybody can judge.
    """
    annotated = LabelledPairs(np.array([[0, 1], [1, 2], [2, 3], [0, 4]]), np.array([1, 1, 1, 0]))
    edges = np.array([[0, 1], [1, 2], [0, 3], [0, 4], [4, 5]])
    found = edge_metrics(6, edges, annotated.take(np.array([0])), annotated)
    assert found == {
        "edges_learned": 4,
        "edges_right": 0.5,
        "edges_right_annotated": pytest.approx(2 / 3),
    }


def test_a_graph_of_labels_alone_has_no_learned_edges() -> None:
    known = LabelledPairs(np.array([[0, 1]]), np.array([1]))
    found = edge_metrics(2, known.pairs, known, known)
    assert found["edges_learned"] == 0
    assert np.isnan(found["edges_right"])


def test_precision_where_a_share_is_found() -> None:
    """Best first: right; then two that tie, one of them right; then the rest."""
    labels, scores = np.array([1, 1, 0, 0]), np.array([0.9, 0.5, 0.5, 0.1])
    found = precision_at_recall(labels, scores, np.array([0.1, 0.5, 0.51, 1.0]))
    assert found == pytest.approx([1, 1, 2 / 3, 2 / 3])


def test_the_way_leaves_out_what_someone_knows_with_its_prerequisites() -> None:
    """0 → 1 → 2 → 4 and 3 → 4. Who knows 1 knows 0, and still needs 2, 3 and 4."""
    follows = what_follows(5, np.array([[0, 1], [1, 2], [2, 4], [3, 4]]))
    assert needed_on_the_way(follows, 1, 4) == {2, 3, 4}


def test_no_pairs_and_scores_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ProprlError, match="scores of asked pairs must be finite"):
        JudgedMap(np.array([1, 0]), np.array([0.5, np.nan]), open=mask(1, 1))
    with pytest.raises(ProprlError, match="no asked pairs"):
        JudgedMap(np.array([], dtype=int), np.array([]), open=mask())
