"""Intervals and p-values against cases that can be worked out, and metrics of resampled pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

from proprl.arrays import FloatArray, IntArray
from proprl.errors import ProprlError
from proprl.evaluation import metrics
from proprl.evaluation.significance import (
    RESAMPLED,
    Draws,
    ScoredPairs,
    bootstrap_interval,
    drawn,
    holm,
    paired_bootstrap,
    undrawn,
)

METRICS = ("accuracy", "f1", "auc", "ordered_share")


def two_methods(
    rng: np.random.Generator, *, folds: int, runs: int, pairs: int, lead: float = 0.0
) -> tuple[list[ScoredPairs], list[ScoredPairs]]:
    """Two methods that agree on which pairs are hard; the first sees `lead` more of the labels."""
    sides: tuple[list[ScoredPairs], list[ScoredPairs]] = [], []
    labels = np.arange(pairs) % 2
    for _ in range(folds):
        hard = rng.normal(size=pairs)
        for side, more in zip(sides, (lead, 0.0), strict=True):
            own = hard + 0.7 * rng.normal(size=pairs) + 0.5 * rng.normal(size=(runs, pairs))
            forward = own + (1.5 + more) * (labels - 0.5)
            reverse = rng.normal(size=(runs, pairs)) - forward
            side.append(ScoredPairs(labels, forward, reverse, np.zeros(runs)))
    return sides


def test_the_interval_of_a_coin_is_that_of_the_binomial() -> None:
    flips = np.repeat([0.0, 1.0], 50)
    low, high = bootstrap_interval(flips)
    expected = stats.binom.ppf([0.025, 0.975], 100, 0.5) / 100
    np.testing.assert_allclose([low, high], expected, atol=0.01)


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(100):
        low, high = bootstrap_interval(rng.normal(size=40))
        covered += low <= 0 <= high
    assert 90 <= covered <= 98


@pytest.mark.parametrize(
    ("folds", "runs", "pairs", "metric"),
    [(10, 1, 60, "auc"), (1, 5, 60, "auc"), (1, 5, 200, "f1"), (1, 5, 200, "ordered_share")],
)
def test_without_a_lead_few_are_found(folds: int, runs: int, pairs: int, metric: str) -> None:
    """Of 300 made-up comparisons 15 should have p at most 0.05: ten folds, or five seeds."""
    rng = np.random.default_rng(1)
    made_up = (two_methods(rng, folds=folds, runs=runs, pairs=pairs) for _ in range(300))
    p = [paired_bootstrap(*both, metric, resamples=499) for both in made_up]
    low, high = stats.binom.ppf([0.001, 0.999], 300, 0.05)
    assert low <= np.sum(np.array(p) <= 0.05) <= high
    assert stats.kstest(p, "uniform").pvalue > 0.001


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("folds", "runs"), [(10, 1), (1, 5)])
def test_a_clear_lead_is_significant_and_no_lead_is_not(metric: str, folds: int, runs: int) -> None:
    rng = np.random.default_rng(2)
    ours, theirs = two_methods(rng, folds=folds, runs=runs, pairs=100, lead=4)
    assert paired_bootstrap(ours, theirs, metric, resamples=999) == 0.001
    assert paired_bootstrap(ours, ours, metric, resamples=999) == 1.0
    assert paired_bootstrap(theirs, ours, metric, resamples=999) > 0.99


def test_pairing_matters() -> None:
    """A small lead on every pair counts, though the pairs differ more than the methods."""
    rng = np.random.default_rng(3)
    labels = np.arange(200) % 2
    theirs = rng.normal(size=(1, 200)) + labels
    ours = theirs + 0.1 * labels

    def sets(scores: FloatArray) -> list[ScoredPairs]:
        return [ScoredPairs(labels, scores, scores, np.zeros(1))]

    # Two places on, a pair has the same label.
    elsewhere = np.roll(theirs, 2, axis=1)
    assert paired_bootstrap(sets(ours), sets(theirs), "auc", resamples=999) == 0.001
    assert paired_bootstrap(sets(ours), sets(elsewhere), "auc", resamples=999) > 0.05


def test_seeds_on_one_test_set_are_not_more_pairs() -> None:
    """The same fit ten times says no more than once."""
    ours, theirs = two_methods(np.random.default_rng(4), folds=1, runs=1, pairs=100, lead=1)

    def often(sets: list[ScoredPairs]) -> list[ScoredPairs]:
        (one,) = sets
        return [ScoredPairs(one.labels, *(np.repeat(part, 10, axis=0) for part in one[1:]))]

    p = paired_bootstrap(ours, theirs, "auc", resamples=999)
    assert 0.01 < p < 0.5
    again = paired_bootstrap(often(ours), often(theirs), "auc", resamples=999)
    assert again == pytest.approx(p, abs=0.002)


def test_holm_worked_by_hand() -> None:
    # Sorted: 0.005 x 4, 0.01 x 3, 0.03 x 2, 0.04 x 1, each at least the one before.
    found = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert found == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})
    assert holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


def test_results_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(ProprlError, match="finite result"):
        bootstrap_interval(np.array([]))
    ours, theirs = two_methods(np.random.default_rng(6), folds=2, runs=1, pairs=10)
    with pytest.raises(ProprlError, match="one or more test sets"):
        paired_bootstrap([], [], "auc")
    with pytest.raises(ProprlError, match="one or more test sets"):
        paired_bootstrap(ours, theirs[:1], "auc")
    turned = [each._replace(labels=1 - each.labels) for each in theirs]
    with pytest.raises(ProprlError, match="labels differ"):
        paired_bootstrap(ours, turned, "auc")


# Metrics of resampled pairs, against the same metrics of those pairs written out


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
    draws = drawn(found.sizes, 20, 0)
    expected = [by_hand(metric, found, counts_of(found, draws, b)) for b in range(20)]
    np.testing.assert_allclose(RESAMPLED[metric](found, draws), expected, rtol=1e-12)


@pytest.mark.parametrize("metric", RESAMPLED)
def test_each_pair_once_is_the_metric_itself(metric: str) -> None:
    found = scored()
    once = np.ones(len(found.labels), dtype=np.int64)
    (value,) = RESAMPLED[metric](found, undrawn(found.sizes))
    assert value == pytest.approx(by_hand(metric, found, once), rel=1e-12)


def test_scikit_learn_agrees() -> None:
    found = scored(runs=1)
    labels, scores = found.labels, found.forward[0]
    predicted = scores >= found.thresholds[0]

    def value(metric: str) -> float:
        return float(RESAMPLED[metric](found, undrawn(found.sizes)).item())

    assert value("auc") == pytest.approx(roc_auc_score(labels, scores), rel=1e-12)
    assert value("accuracy") == pytest.approx(accuracy_score(labels, predicted), rel=1e-12)
    assert value("f1") == pytest.approx(f1_score(labels, predicted), rel=1e-12)


def test_labels_keep_their_numbers_and_a_place_its_draws() -> None:
    draws = drawn((3, 2), 50, 2)
    assert draws.positives.shape == (50, 3)
    assert set(draws.positives.sum(axis=1).tolist()) == {3}
    assert set(draws.negatives.sum(axis=1).tolist()) == {2}
    assert len(np.unique(draws.positives, axis=0)) > 5
    drawn.cache_clear()
    again, other = drawn((3, 2), 50, 2), drawn((3, 2), 50, 3)
    np.testing.assert_array_equal(draws.positives, again.positives)
    assert (draws.positives != other.positives).any()


def one_class(label: int) -> tuple[ScoredPairs, Draws]:
    scores: FloatArray = np.array([[0.1, 0.2, 0.9]])
    found = ScoredPairs(np.full(3, label), scores, scores, np.array([0.95]))
    return found, drawn(found.sizes, 5, 0)


def test_a_single_class_has_what_it_can_have() -> None:
    negatives, positives = one_class(0), one_class(1)
    assert RESAMPLED["accuracy"](*negatives).tolist() == [1.0] * 5
    assert RESAMPLED["f1"](*negatives).tolist() == [0.0] * 5
    assert RESAMPLED["accuracy"](*positives).tolist() == [0.0] * 5
    assert RESAMPLED["ordered_share"](*positives).tolist() == [0.0] * 5
