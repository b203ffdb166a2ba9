"""Metrics of scored pairs, compared with scikit-learn or worked out by hand."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from proprl.arrays import FloatArray, IntArray
from proprl.errors import ProprlError
from proprl.evaluation.metrics import (
    accuracy,
    auc,
    average_precision,
    best_threshold,
    calibration_error,
    evaluate_scores,
    f1,
    mean_margin,
    mutual_share,
    ordered_share,
    precision,
    recall,
    reliability,
    simplex_weights,
)

Metric = Callable[..., float]


@st.composite
def labelled_scores(draw: st.DrawFn) -> tuple[IntArray, FloatArray]:
    """Labels and scores with many ties: half of the examples take tenths only."""
    score = draw(st.sampled_from([st.integers(0, 10).map(lambda n: n / 10), st.floats(0, 1)]))
    rows = draw(st.lists(st.tuples(st.integers(0, 1), score), min_size=1, max_size=30))
    return np.array([label for label, _ in rows]), np.array([value for _, value in rows])


class TestAgainstScikitLearn:
    @pytest.mark.parametrize(
        ("ours", "theirs"),
        [
            (precision, sk.precision_score),
            (recall, sk.recall_score),
            (f1, sk.f1_score),
        ],
    )
    @settings(max_examples=40)
    @given(data=labelled_scores(), threshold=st.sampled_from([0.0, 0.3, 0.5, 1.0]))
    def test_metrics_of_predictions(
        self,
        ours: Metric,
        theirs: Metric,
        data: tuple[IntArray, FloatArray],
        threshold: float,
    ) -> None:
        labels, scores = data
        expected = theirs(labels, scores >= threshold, zero_division=0)
        assert ours(labels, scores, threshold) == pytest.approx(expected)

    @settings(max_examples=40)
    @given(data=labelled_scores())
    def test_accuracy(self, data: tuple[IntArray, FloatArray]) -> None:
        labels, scores = data
        assert accuracy(labels, scores) == pytest.approx(sk.accuracy_score(labels, scores >= 0.5))

    @settings(max_examples=60)
    @given(data=labelled_scores())
    def test_auc(self, data: tuple[IntArray, FloatArray]) -> None:
        labels, scores = data
        assume(0 < labels.sum() < len(labels))
        wins = scores[labels == 1][:, None] - scores[labels == 0][None, :]
        by_hand = ((wins > 0) + 0.5 * (wins == 0)).mean()
        assert auc(labels, scores) == pytest.approx(by_hand)
        assert auc(labels, scores) == pytest.approx(sk.roc_auc_score(labels, scores))

    @settings(max_examples=60)
    @given(data=labelled_scores())
    def test_average_precision(self, data: tuple[IntArray, FloatArray]) -> None:
        labels, scores = data
        assume(labels.any())
        expected = sk.average_precision_score(labels, scores)
        assert average_precision(labels, scores) == pytest.approx(expected)


class TestEdges:
    def test_a_score_at_the_threshold_is_a_positive(self) -> None:
        assert recall(np.array([1, 0]), np.array([0.5, 0.1])) == 1.0

    def test_nothing_predicted_gives_zero(self) -> None:
        labels, scores = np.array([1, 0]), np.array([0.2, 0.1])
        assert (precision(labels, scores), recall(labels, scores), f1(labels, scores)) == (0, 0, 0)
        assert f1(np.array([0, 0]), scores) == 0

    def test_auc_of_one_class_is_nan(self) -> None:
        assert np.isnan(auc(np.array([1, 1]), np.array([0.2, 0.9])))
        assert np.isnan(auc(np.array([0, 0]), np.array([0.2, 0.9])))

    def test_average_precision_without_positives_is_nan(self) -> None:
        assert np.isnan(average_precision(np.array([0, 0]), np.array([0.2, 0.9])))
        assert average_precision(np.array([1, 1]), np.array([0.2, 0.9])) == 1

    @pytest.mark.parametrize(
        "metric", [accuracy, precision, recall, f1, auc, average_precision, best_threshold]
    )
    @pytest.mark.parametrize(
        ("labels", "scores", "message"),
        [
            ([], [], "no labelled pairs to evaluate"),
            ([1, 0], [0.5], r"must have one shape \(m,\), not \(2,\) and \(1,\)"),
            ([[1, 0]], [[0.5, 0.1]], r"must have one shape \(m,\), not \(1, 2\) and"),
            ([1, 0], [0.5, np.nan], "scores must be finite numbers; 1 of 2 are not"),
        ],
    )
    def test_wrong_input_is_named(
        self, metric: Metric, labels: list[int], scores: list[float], message: str
    ) -> None:
        with pytest.raises(ProprlError, match=message):
            metric(np.array(labels), np.array(scores))


class TestDirection:
    forward = np.array([0.9, 0.6, 0.4, 0.7])
    reverse = np.array([0.1, 0.6, 0.8, 0.5])

    def test_ordered_share_counts_strictly_higher(self) -> None:
        assert ordered_share(self.forward, self.reverse) == 0.5  # the first and the last

    def test_mean_margin(self) -> None:
        # (0.8 + 0 - 0.4 + 0.2) / 4
        assert mean_margin(self.forward, self.reverse) == pytest.approx(0.15)

    def test_mutual_share(self) -> None:
        assert mutual_share(self.forward, self.reverse) == 0.5  # the second and the last
        assert mutual_share(self.forward, self.reverse, threshold=0.4) == 0.75

    @pytest.mark.parametrize("metric", [ordered_share, mean_margin, mutual_share])
    def test_no_pairs_give_nan(self, metric: Metric) -> None:
        assert np.isnan(metric(np.array([]), np.array([])))


class TestEvaluateScores:
    # (0, 1) and (1, 0) are one pair in both orders, believed in both.
    pairs = np.array([[0, 1], [1, 0], [2, 3], [4, 5]])
    labels = np.array([1, 0, 1, 0])
    scores = np.array([0.8, 0.6, 0.4, 0.2])
    reverses = np.array([0.6, 0.8, 0.7, 0.1])

    def test_every_metric_by_hand(self) -> None:
        result = evaluate_scores(self.labels, self.scores, self.reverses, pairs=self.pairs)
        assert result == pytest.approx(
            {
                "accuracy": 0.5,  # right on the first and the last
                "f1": 0.5,
                "precision": 0.5,
                "recall": 0.5,
                "auc": 0.75,  # 0.4 < 0.6 is the one lost comparison of four
                "average_precision": 0.5 * 1 + 0.5 * 2 / 3,
                "calibration_error": (0.2 + 0.6 + 0.6 + 0.2) / 4,
                "ordered_share": 0.5,
                "one_way_ordered": 0.5,
                "mean_margin": (0.2 - 0.3) / 2,
                "mutual_share": 1 / 3,  # of {0, 1}, {2, 3} and {4, 5}
                "pairs": 4,
                "positives": 2,
                "threshold": 0.5,
            }
        )

    def test_of_two_orders_that_both_hold_one_is_wrong_whatever_is_said(self) -> None:
        labels = np.array([1, 1, 1, 0])
        result = evaluate_scores(labels, self.scores, self.reverses, pairs=self.pairs)
        assert result["ordered_share"] == pytest.approx(1 / 3)  # (0, 1), but not (1, 0) and (2, 3)
        assert result["one_way_ordered"] == 0  # (2, 3)
        mutual = evaluate_scores(
            labels[:2], self.scores[:2], self.reverses[:2], pairs=self.pairs[:2]
        )
        assert mutual["ordered_share"] == 0.5
        assert np.isnan(mutual["one_way_ordered"])

    def test_the_threshold_is_used_throughout(self) -> None:
        result = evaluate_scores(
            self.labels, self.scores, self.reverses, pairs=self.pairs, threshold=0.4
        )
        assert result["recall"] == 1
        assert result["mutual_share"] == pytest.approx(2 / 3)
        assert result["threshold"] == 0.4

    def test_without_positives_direction_is_nan(self) -> None:
        nothing = np.zeros(4, dtype=np.int64)
        result = evaluate_scores(nothing, self.scores, self.reverses, pairs=self.pairs)
        assert np.isnan([result["ordered_share"], result["mean_margin"], result["auc"]]).all()
        assert result["mutual_share"] == pytest.approx(1 / 3)

    def test_reverse_scores_are_checked_as_scores_are(self) -> None:
        with pytest.raises(ProprlError, match=r"not \(4,\) and \(3,\)"):
            evaluate_scores(self.labels, self.scores, self.reverses[:3], pairs=self.pairs)
        broken = np.append(self.reverses[:3], np.nan)
        with pytest.raises(ProprlError, match="scores must be finite numbers; 1 of 4 are not"):
            evaluate_scores(self.labels, self.scores, broken, pairs=self.pairs)


class TestBestThreshold:
    @settings(max_examples=80)
    @given(data=labelled_scores())
    def test_no_other_threshold_has_a_better_f1(self, data: tuple[IntArray, FloatArray]) -> None:
        labels, scores = data
        every = [*scores, 0.0, 2.0]
        found = f1(labels, scores, best_threshold(labels, scores))
        assert found == max(f1(labels, scores, threshold) for threshold in every)

    def test_it_stands_midway_between_neighbouring_scores(self) -> None:
        labels, scores = np.array([0, 0, 1, 1]), np.array([0.1, 0.3, 0.7, 0.9])
        assert best_threshold(labels, scores) == 0.5
        assert best_threshold(labels, np.array([0.1, 0.6, 0.8, 0.9])) == pytest.approx(0.7)

    def test_of_equally_good_thresholds_the_nearest_to_a_half_is_taken(self) -> None:
        # F1 is 2/3 with the first predicted, and with all four: 0.85 and 0.05.
        labels, scores = np.array([1, 0, 0, 1]), np.array([0.9, 0.8, 0.3, 0.1])
        assert f1(labels, scores, 0.85) == f1(labels, scores, 0.05)
        assert best_threshold(labels, scores) == pytest.approx(0.85)
        # The same between 0.95 and 0.2, of which the lower one is nearer.
        assert best_threshold(labels, np.array([0.99, 0.91, 0.5, 0.4])) == pytest.approx(0.2)

    def test_all_positive_is_predicted_by_a_threshold_below_the_lowest(self) -> None:
        assert best_threshold(np.array([1, 1]), np.array([0.4, 0.6])) == 0.2
        assert best_threshold(np.array([1, 0]), np.array([0.0, 0.0])) == 0

    def test_without_positives_it_is_a_half(self) -> None:
        assert best_threshold(np.array([0, 0]), np.array([0.1, 0.2])) == 0.5

    @pytest.mark.parametrize("low", [0.6, np.nextafter(0.6, 1)])  # midway rounds up, rounds down
    def test_scores_that_touch_are_told_apart(self, low: float) -> None:
        high = np.nextafter(low, 1)
        assert best_threshold(np.array([0, 1]), np.array([low, high])) == high


class TestSimplexWeights:
    labels = np.array([0, 0, 1, 1])
    right = np.array([0.1, 0.2, 0.8, 0.9])
    wrong = 1 - right

    @pytest.mark.parametrize("branches", [1, 2, 3])
    def test_equal_branches_leave_the_weight_on_the_last(self, branches: int) -> None:
        weights = simplex_weights(
            self.labels, np.column_stack([self.right] * branches), threshold=0.5
        )
        assert weights.tolist() == [0] * (branches - 1) + [1]

    def test_a_branch_that_is_right_gets_what_it_needs(self) -> None:
        # 0.5 each ties every score at 0.5; one step more on the right branch orders them.
        weights = simplex_weights(
            self.labels, np.column_stack([self.right, self.wrong]), threshold=0.5
        )
        assert weights == pytest.approx([0.55, 0.45])

    def test_of_equal_points_the_branch_before_the_last_goes_first(self) -> None:
        branches = np.column_stack([self.right, self.right, self.wrong])
        weights = simplex_weights(self.labels, branches, threshold=0.5)
        assert weights == pytest.approx([0, 0.55, 0.45])

    def test_auc_decides_between_equal_f1(self) -> None:
        # Nothing reaches the threshold, so F1 is 0 everywhere; only the first branch orders.
        branches = np.column_stack([self.right, self.wrong])
        weights = simplex_weights(self.labels, branches, threshold=0.95)
        assert weights == pytest.approx([0.55, 0.45])

    def test_without_a_threshold_auc_alone_decides(self) -> None:
        """At 0.5 the first branch is perfect (F1 1); the second ranks as well and comes last."""
        labels = np.array([0, 0, 1, 1])
        branches = np.array([[0.1, 0.6], [0.2, 0.7], [0.8, 0.8], [0.9, 0.9]])
        weights = simplex_weights(labels, branches, threshold=0.5)
        assert weights == pytest.approx([0.45, 0.55])
        assert simplex_weights(labels, branches, threshold=None).tolist() == [0, 1]

    @settings(max_examples=15, deadline=None)
    @given(seed=st.integers(0, 1000), branches=st.integers(1, 3))
    def test_no_other_point_of_the_grid_is_better(self, seed: int, branches: int) -> None:
        rng = np.random.default_rng(seed)
        labels = np.array([0, 1, *rng.integers(0, 2, 18)])
        probabilities = rng.random((20, branches))
        chosen = simplex_weights(labels, probabilities, threshold=0.5)
        assert chosen.sum() == pytest.approx(1)

        def quality(weights: FloatArray) -> tuple[float, float]:
            mixed = (probabilities * weights).sum(axis=1)
            return f1(labels, mixed), auc(labels, mixed)

        every = np.stack(np.meshgrid(*[np.arange(21)] * branches), axis=-1).reshape(-1, branches)
        on_simplex = every[every.sum(axis=1) == 20] / 20
        assert quality(chosen) == max(map(quality, on_simplex))


# Whether probabilities mean what they say


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


def test_bounds_of_any_width() -> None:
    labels, said = np.array([0, 0, 1, 1]), np.array([0.001, 0.003, 0.02, 1.0])
    found = reliability(labels, said, np.array([0, 0.01, 0.1, 0.5, 1]))
    assert [(one.low, one.high, one.pairs, one.came_true) for one in found] == [
        (0, 0.01, 2, 0),
        (0.01, 0.1, 1, 1),
        (0.5, 1, 1, 1),
    ]
    assert found[0].said == pytest.approx(0.002)


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


def test_importing_metrics_is_light() -> None:
    heavy = "{'sklearn', 'scipy', 'torch', 'polars'} & set(sys.modules)"
    command = f"import sys, proprl.evaluation.metrics; sys.exit(str({heavy}) if {heavy} else 0)"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
