"""Whether probabilities mean what they say: numbers worked out by hand, and properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proprl.evaluation import calibration_error, evaluate_scores, reliability


def test_the_error_is_the_mean_gap_weighted_by_pairs() -> None:
    labels = np.array([1, 0, 1, 1, 0])
    said = np.array([0.81, 0.83, 0.85, 0.87, 0.05])
    # Four pairs: said 0.84 on average, three came true. One pair: said 0.05, did not come true.
    assert calibration_error(labels, said) == pytest.approx((4 * (0.84 - 0.75) + 0.05) / 5)


def test_bins_hold_their_lower_bound_and_the_last_one_its_upper_too() -> None:
    said = np.array([0.0, 0.1, 0.3, 0.7, 0.9, 1.0])
    bins = reliability(np.ones(6, dtype=np.int64), said)
    assert [(b.low, b.high, b.pairs) for b in bins] == [
        (0.0, 0.1, 1),
        (0.1, 0.2, 1),
        (0.3, 0.4, 1),
        (0.7, 0.8, 1),
        (0.9, 1.0, 2),
    ]


def test_scores_that_are_no_probabilities_have_no_calibration() -> None:
    assert np.isnan(calibration_error(np.array([0, 1]), np.array([-0.5, 2.0])))


def test_no_pairs_have_no_calibration() -> None:
    labels, said = np.empty(0, dtype=np.int64), np.empty(0)
    assert reliability(labels, said) == []
    assert np.isnan(calibration_error(labels, said))


def test_it_stands_among_the_metrics() -> None:
    labels, scores = np.array([0, 1]), np.array([0.2, 0.6])
    found = evaluate_scores(labels, scores, 1 - scores, pairs=np.array([[0, 1], [1, 2]]))
    assert found["calibration_error"] == pytest.approx((0.2 + 0.4) / 2)


scored = st.lists(st.tuples(st.integers(0, 1), st.floats(0, 1)), min_size=1, max_size=50)


@given(scored)
def test_every_pair_is_in_one_bin_and_the_error_is_a_share(rows: list[tuple[int, float]]) -> None:
    labels, said = np.array([y for y, _ in rows]), np.array([p for _, p in rows])
    bins = reliability(labels, said)
    assert sum(b.pairs for b in bins) == len(rows)
    # A mean of equal numbers may differ from them in the last digit.
    assert all(b.low - 1e-12 <= b.said <= b.high + 1e-12 for b in bins)
    assert 0 <= calibration_error(labels, said) <= 1


@given(scored)
def test_labels_drawn_as_said_are_judged_well_calibrated(rows: list[tuple[int, float]]) -> None:
    said = np.array([p for _, p in rows])
    drawn = np.random.default_rng(0).random((4000, len(said))) < said
    assert calibration_error(drawn.ravel(), np.tile(said, 4000)) < 0.05
