"""Whether probabilities mean what they say: numbers worked out by hand, and properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proprl.errors import ProprlError
from proprl.evaluation import calibration_error, evaluate_scores, reliability
from proprl.evaluation.calibration import at_rate


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


def test_probabilities_of_the_map_are_converted_to_the_rate_of_labels() -> None:
    # In the map one pair in 50 is a prerequisite, odds 1/49; among labels half are, odds 1.
    # Said 0.2, odds 1/4: times 49 they are 49/4, a probability of 49/53.
    # Said 0.02, as is usual there: 1/2. Said 0.01, odds 1/99: times 49 they are 49/99, so 49/148.
    said = at_rate(np.array([0.2, 0.02, 0.01, 0.0, 1.0]), 0.02, 0.5)
    np.testing.assert_allclose(said, [49 / 53, 1 / 2, 49 / 148, 0, 1])
    # Three labels in four say yes, odds 3.
    assert at_rate(np.array([0.2]), 0.02, 0.75)[0] == pytest.approx(3 * 49 / (3 * 49 + 4))


@pytest.mark.parametrize(("base_rate", "rate"), [(0, 0.5), (1, 0.5), (0.1, 0), (0.1, 1)])
def test_no_rate_is_certainty(base_rate: float, rate: float) -> None:
    with pytest.raises(ProprlError, match="must lie between 0 and 1"):
        at_rate(np.array([0.5]), base_rate, rate)


rates = st.floats(0.001, 0.999)


@given(st.floats(0, 1), rates, rates)
def test_converting_there_and_back_changes_nothing(p: float, base_rate: float, rate: float) -> None:
    there = at_rate(np.array([p]), base_rate, rate)
    assert 0 <= there[0] <= 1
    np.testing.assert_allclose(at_rate(there, rate, base_rate), [p], atol=1e-9)
    np.testing.assert_allclose(at_rate(np.array([base_rate]), base_rate, rate), [rate])


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
