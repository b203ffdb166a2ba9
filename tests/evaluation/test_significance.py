"""Intervals and p-values against cases that can be worked out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from proprl.errors import ProprlError
from proprl.evaluation.significance import bootstrap_interval, holm, paired_bootstrap


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


def test_a_clear_lead_is_significant_and_no_lead_is_not() -> None:
    theirs = np.linspace(0.80, 0.86, 10)
    assert paired_bootstrap(theirs + 0.02 + 0.001 * np.arange(10) % 2, theirs) < 0.001
    assert paired_bootstrap(theirs, theirs) == 1.0
    assert paired_bootstrap(theirs - 0.02, theirs) > 0.99


def test_pairing_matters() -> None:
    """A small but steady lead counts, though the folds differ more than the methods."""
    theirs = np.array([0.6, 0.7, 0.8, 0.9, 0.95])
    ours = theirs + np.array([0.010, 0.012, 0.008, 0.011, 0.009])
    assert paired_bootstrap(ours, theirs) < 0.01


def test_p_values_are_uniform_without_a_lead() -> None:
    rng = np.random.default_rng(1)
    p = [paired_bootstrap(rng.normal(size=30), rng.normal(size=30)) for _ in range(100)]
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_holm_worked_by_hand() -> None:
    # Sorted: 0.005 x 4, 0.01 x 3, 0.03 x 2, 0.04 x 1, each at least the one before.
    found = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert found == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})
    assert holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


def test_results_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(ProprlError, match="finite result"):
        bootstrap_interval(np.array([]))
    with pytest.raises(ProprlError, match="finite result"):
        paired_bootstrap(np.array([0.5, np.nan]), np.array([0.5, 0.5]))
