"""Whether probabilities mean what they say: of five pairs given 0.8, four should come true."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from proprl.arrays import FloatArray, IntArray
from proprl.errors import ProprlError

DECILES = 10


@dataclass(frozen=True)
class Bin:
    """Pairs with about the same probability: what was said of them, and what came true."""

    low: float
    high: float
    pairs: int
    said: float
    """Their mean probability."""
    came_true: float
    """The share that are prerequisites."""


def at_rate(probabilities: FloatArray, base_rate: float, rate: float) -> FloatArray:
    """Turn probabilities that hold where `base_rate` are prerequisites to those where `rate` are.

    People pick pairs that are likely prerequisites: half of them are, and not one in fifty. What
    was said of the whole map is compared with their labels at the labels' own rate r:
    odds · r/(1 - r) · (1 - π)/π.

    >>> at_rate(np.array([0.1]), 0.1, 0.5)  # one in ten, which is usual there: even odds
    array([0.5])
    """
    for what, share in (("base rate", base_rate), ("rate", rate)):
        if not 0 < share < 1:
            raise ProprlError(f"the {what} must lie between 0 and 1, not be {share}")
    yes = probabilities * rate * (1 - base_rate)
    no = (1 - probabilities) * (1 - rate) * base_rate
    turned: FloatArray = yes / (yes + no)
    return turned


def reliability(labels: IntArray, probabilities: FloatArray, bins: int = DECILES) -> list[Bin]:
    """Group pairs by their probability into bins of equal width; empty ones are left out.

    A bin holds its lower bound, the last one also 1.

    >>> reliability(np.array([0, 1, 1]), np.array([0.12, 0.9, 1.0]))
    ... # doctest: +NORMALIZE_WHITESPACE
    [Bin(low=0.1, high=0.2, pairs=1, said=0.12, came_true=0.0),
     Bin(low=0.9, high=1.0, pairs=2, said=0.95, came_true=1.0)]
    """
    # Compared with the bounds themselves: 0.3 * 10 is a little less than 3.
    bounds = np.arange(bins + 1) / bins
    place = np.searchsorted(bounds[1:-1], probabilities, side="right")
    found = []
    for k in np.unique(place):
        here = place == k
        said, came_true = float(probabilities[here].mean()), float(labels[here].mean())
        found.append(Bin(float(bounds[k]), float(bounds[k + 1]), int(here.sum()), said, came_true))
    return found


def calibration_error(labels: IntArray, probabilities: FloatArray, bins: int = DECILES) -> float:
    """Return the expected calibration error: how far what was said is from what came true.

    ECE = Σ_b (pairs in b / pairs) |came true in b - said in b|. NaN without pairs, and where
    a score is not a probability.
    """
    if not len(labels) or not ((probabilities >= 0) & (probabilities <= 1)).all():
        return float("nan")
    found = reliability(labels, probabilities, bins)
    gaps = sum(one.pairs * abs(one.came_true - one.said) for one in found)
    return gaps / len(labels)
