"""How sure a difference between two methods is, and how wide a mean really is."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from proprl.arrays import FloatArray
from proprl.errors import ProprlError
from proprl.evaluation.resampling import ScoredPairs, drawn, resampled, undrawn

# The least p is 1 / 10,001. Holm's correction over 45 comparisons (15 methods, 3 sets) asks the
# first of them for 0.05 / 45, which is 11 of 10,000: enough of them for a count that chance
# changes little. The 135 p-values of such a table, over ten folds, take about 15 seconds.
RESAMPLES = 10_000
Name = TypeVar("Name", bound=Hashable)


def bootstrap_interval(
    values: FloatArray, *, level: float = 0.95, seed: int = 0
) -> tuple[float, float]:
    """The percentile interval of the mean over seeds or folds.

    >>> bootstrap_interval(np.array([0.5, 0.5, 0.5]))
    (0.5, 0.5)
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0 or not np.isfinite(values).all():
        raise ProprlError("an interval needs one finite result for each seed or fold")
    places = np.random.default_rng(seed).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.quantile(values[places].mean(axis=1), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def paired_bootstrap(
    ours: Sequence[ScoredPairs],
    theirs: Sequence[ScoredPairs],
    metric: str,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> float:
    """The one-sided p-value of "our mean is not above theirs", from the same test sets.

    There is one test set for each fold, or a single one that all seeds share. The pairs of each
    are drawn anew, with replacement and within each label; both methods, and all runs on a test
    set, see the same draws. The lead is the difference in the metric, averaged over runs and test
    sets. The resampled leads are moved to a mean of zero, as if there were no lead; p is the
    share of them that reach the lead that was seen (with one added to both counts, so that p is
    never 0).

    It says how likely the lead is to hold on other pairs, not after other fits.
    """
    if not ours or len(ours) != len(theirs):
        raise ProprlError("a comparison needs one or more test sets, the same for both methods")
    lead, leads = 0.0, np.zeros(resamples)
    for place, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        if not np.array_equal(mine.labels, other.labels):
            raise ProprlError("two methods can be compared only on the same pairs: labels differ")
        each, draws = undrawn(mine.labels), drawn(mine.labels, resamples, (seed, place))
        lead += (resampled(metric, mine, each) - resampled(metric, other, each)).item()
        leads += resampled(metric, mine, draws) - resampled(metric, other, draws)
    # Rounding must not decide whether an equal lead was reached.
    reached = int((leads - lead >= lead - 1e-12).sum())
    return (reached + 1) / (resamples + 1)


def holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Holm's correction: each p-value adjusted for how many comparisons were made.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    adjusted: dict[Name, float] = {}
    highest = 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        highest = max(highest, min(1.0, p_values[name] * (len(p_values) - rank)))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}
