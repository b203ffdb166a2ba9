"""How sure a difference between two methods is, and how wide a mean really is."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as np

from proprl.arrays import FloatArray
from proprl.errors import ProprlError

RESAMPLES = 10_000
Name = TypeVar("Name", bound=Hashable)


def bootstrap_interval(
    values: FloatArray, *, level: float = 0.95, seed: int = 0
) -> tuple[float, float]:
    """The percentile interval of the mean over seeds or folds.

    >>> bootstrap_interval(np.array([0.5, 0.5, 0.5]))
    (0.5, 0.5)
    """
    means = _resampled_means(_checked(values), seed)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def paired_bootstrap(ours: FloatArray, theirs: FloatArray, *, seed: int = 0) -> float:
    """The one-sided p-value of "our mean is not above theirs", for results in pairs.

    Results belong in pairs when both methods were run on the same fold or seed. The differences
    are moved to a mean of zero, as if there were no lead, and resampled; p is the share of
    resampled means that reach the lead that was seen (with one added to both counts, so that p is
    never 0).
    """
    difference = _checked(ours) - _checked(theirs)
    lead = difference.mean()
    means = _resampled_means(difference - lead, seed)
    # Rounding must not decide whether an equal lead was reached.
    reached = int((means >= lead - 1e-12).sum())
    return (reached + 1) / (RESAMPLES + 1)


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


def _resampled_means(values: FloatArray, seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(values), (RESAMPLES, len(values)))
    means: FloatArray = values[drawn].mean(axis=1)
    return means


def _checked(values: FloatArray) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or len(array) == 0 or not np.isfinite(array).all():
        raise ProprlError("a comparison needs one finite result for each seed or fold")
    return array
