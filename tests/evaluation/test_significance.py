"""Intervals and p-values against cases that can be worked out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from proprl.arrays import FloatArray
from proprl.errors import ProprlError
from proprl.evaluation.resampling import ScoredPairs
from proprl.evaluation.significance import bootstrap_interval, holm, paired_bootstrap

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
    assert 85 <= covered <= 100


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


def test_the_seed_decides_the_draws() -> None:
    ours, theirs = two_methods(np.random.default_rng(5), folds=2, runs=1, pairs=60, lead=0.3)
    p = [paired_bootstrap(ours, theirs, "auc", seed=seed) for seed in (0, 0, 1)]
    assert p[0] == p[1] != p[2]
    assert p[0] == pytest.approx(p[2], abs=0.02)


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
