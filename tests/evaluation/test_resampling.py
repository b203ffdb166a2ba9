"""Metrics of resampled pairs against the same metrics of those pairs written out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

from proprl.arrays import FloatArray, IntArray
from proprl.errors import ProprlError
from proprl.evaluation import metrics
from proprl.evaluation.resampling import RESAMPLED, Draws, ScoredPairs, drawn, resampled, undrawn


def scored(seed: int = 0, runs: int = 3, pairs: int = 41) -> ScoredPairs:
    """Scores of one decimal, so that there are ties, in a test set of both labels."""
    rng = np.random.default_rng(seed)
    forward, reverse = rng.integers(0, 11, (2, runs, pairs)) / 10
    return ScoredPairs(rng.permutation(np.arange(pairs) % 2), forward, reverse, rng.random(runs))


def by_hand(metric: str, found: ScoredPairs, counts: IntArray) -> float:
    """Write each pair out as often as it is drawn, and average the metric over runs."""
    labels = np.repeat(found.labels, counts)
    values = []
    for forward, reverse, threshold in zip(*found[1:], strict=True):
        forward, reverse = np.repeat(forward, counts), np.repeat(reverse, counts)
        if metric in ("ordered_share", "mean_margin"):
            both = forward[labels == 1], reverse[labels == 1]
            values.append(getattr(metrics, metric)(*both))
        else:
            rest = () if metric == "auc" else (threshold,)
            values.append(getattr(metrics, metric)(labels, forward, *rest))
    return float(np.mean(values))


def counts_of(found: ScoredPairs, draws: Draws, place: int) -> IntArray:
    counts = np.empty(len(found.labels), dtype=np.int64)
    counts[found.labels == 1] = draws.positives[place]
    counts[found.labels == 0] = draws.negatives[place]
    return counts


@pytest.mark.parametrize("metric", RESAMPLED)
@pytest.mark.parametrize("runs", [1, 3])
def test_a_resample_is_the_metric_of_the_pairs_drawn(metric: str, runs: int) -> None:
    found = scored(runs=runs)
    draws = drawn(found.labels, 20, (0,))
    expected = [by_hand(metric, found, counts_of(found, draws, b)) for b in range(20)]
    np.testing.assert_allclose(resampled(metric, found, draws), expected, rtol=1e-12)


@pytest.mark.parametrize("metric", RESAMPLED)
def test_each_pair_once_is_the_metric_itself(metric: str) -> None:
    found = scored()
    once = np.ones(len(found.labels), dtype=np.int64)
    (value,) = resampled(metric, found, undrawn(found.labels))
    assert value == pytest.approx(by_hand(metric, found, once), rel=1e-12)


def test_scikit_learn_agrees() -> None:
    found = scored(runs=1)
    labels, scores = found.labels, found.forward[0]
    predicted = scores >= found.thresholds[0]

    def value(metric: str) -> float:
        return float(resampled(metric, found, undrawn(labels)).item())

    assert value("auc") == pytest.approx(roc_auc_score(labels, scores), rel=1e-12)
    assert value("accuracy") == pytest.approx(accuracy_score(labels, predicted), rel=1e-12)
    assert value("f1") == pytest.approx(f1_score(labels, predicted), rel=1e-12)


def test_labels_keep_their_numbers_and_draws_their_seed() -> None:
    labels = np.array([1, 0, 0, 1, 1])
    draws = drawn(labels, 50, (1, 2))
    assert draws.positives.shape == (50, 3)
    assert set(draws.positives.sum(axis=1).tolist()) == {3}
    assert set(draws.negatives.sum(axis=1).tolist()) == {2}
    assert len(np.unique(draws.positives, axis=0)) > 5
    again, other = drawn(labels[::-1], 50, (1, 2)), drawn(labels, 50, (1, 3))
    np.testing.assert_array_equal(draws.positives, again.positives)
    assert (draws.positives != other.positives).any()


def one_class(label: int) -> tuple[ScoredPairs, Draws]:
    scores: FloatArray = np.array([[0.1, 0.2, 0.9]])
    found = ScoredPairs(np.full(3, label), scores, scores, np.array([0.95]))
    return found, drawn(found.labels, 5, (0,))


def test_a_single_class_has_what_it_can_have() -> None:
    negatives, positives = one_class(0), one_class(1)
    assert resampled("accuracy", *negatives).tolist() == [1.0] * 5
    assert resampled("f1", *negatives).tolist() == [0.0] * 5
    assert resampled("accuracy", *positives).tolist() == [0.0] * 5
    assert resampled("ordered_share", *positives).tolist() == [0.0] * 5


def test_a_metric_that_cannot_be_resampled_is_told() -> None:
    found = scored()
    with pytest.raises(ProprlError, match="'calibration' cannot be resampled; known: accuracy, f1"):
        resampled("calibration", found, undrawn(found.labels))
