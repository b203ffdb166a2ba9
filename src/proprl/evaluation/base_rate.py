"""From scores to probabilities that hold for a whole map, where prerequisites are rare.

People pick the pairs that they label: half of these are prerequisites. Background pairs are drawn
from all pairs without a label. Let p(z) = σ(slope · z + intercept), and let the base rate π be the
mean of p over the background. Then a positive that a person picked has its score with chance
∝ p(z)/π, and a negative with chance ∝ (1 − p(z))/(1 − π). Slope and intercept make the picked
labels most likely.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import expit, log_expit, logit

from proprl.arrays import FloatArray, IntArray

# What is expected of a base rate before a course is seen: mostly between 1 in 200 and 1 in 15.
# Log-odds; chosen on the development halves of two maps with base rates of 1 in 140 and 1 in 47.
PRIOR_MEAN, PRIOR_DEVIATION = -4.0, 0.7
# The logarithm of the slope is pulled to 0, for the trees' own log-odds are about right. Without
# the pull, labels that are told apart without fault would make the slope infinite.
SLOPE_DEVIATION = 0.3
# So often are labels and background drawn anew for the interval of the base rate.
INTERVAL_RESAMPLES = 50
# A score never says more than this, in log-odds.
SUREST = 12.0
# Nor does a base rate come closer to 0 or 1 than this.
RAREST = 1e-12


@dataclass(frozen=True)
class Scored:
    """Scores, in log-odds, from which a calibration is fitted; none has seen its own label."""

    positive: FloatArray  # of positives that a person picked
    negative: FloatArray  # of negatives that a person picked, without positives turned round
    background: FloatArray  # of pairs drawn from all open ones
    drawn: FloatArray = field(default_factory=lambda: np.empty(0))  # of labels drawn by chance
    drawn_labels: FloatArray = field(default_factory=lambda: np.empty(0))
    drawn_weights: FloatArray = field(default_factory=lambda: np.empty(0))  # their mean is 1

    def resampled(self, rng: np.random.Generator) -> Scored:
        """Give as many of each kind, drawn with replacement."""
        positive, negative, background, drawn = (
            rng.integers(len(kind) or 1, size=len(kind))
            for kind in (self.positive, self.negative, self.background, self.drawn)
        )
        of_drawn = (kind[drawn] for kind in (self.drawn, self.drawn_labels, self.drawn_weights))
        return Scored(
            self.positive[positive], self.negative[negative], self.background[background], *of_drawn
        )


@dataclass(frozen=True)
class Calibration:
    """How scores become probabilities, and what these promise for the whole map.

    Without background only `slope` and `intercept` are known. Probabilities then hold for pairs as
    people pick them.
    """

    slope: float = 1.0
    intercept: float = 0.0
    base_rate: float | None = None
    """The share of prerequisites among open pairs, π."""
    interval: tuple[float, float] | None = None
    """Where the base rate lies in 95 of 100 resamples."""
    believed: float | None = None
    """A pair is believed to be a prerequisite from this probability on."""
    open_pairs: int = 0
    """How many pairs of the course the base rate speaks of."""

    def probability(self, scores: FloatArray) -> FloatArray:
        """Give σ(slope · z + intercept) of scores in [0, 1], z being their log-odds."""
        p: FloatArray = expit(self.slope * log_odds(scores) + self.intercept)
        return p

    @property
    def expected_open(self) -> float | None:
        """How many of the open pairs are prerequisites, if probabilities hold."""
        return None if self.base_rate is None else self.base_rate * self.open_pairs


def check_calibration(found: Calibration) -> Calibration:
    """Give a calibration back; one that no fit can have given is a `ValueError`."""
    if not (found.slope > 0 and np.isfinite([found.slope, found.intercept]).all()):
        raise ValueError(
            f"slope {found.slope} and intercept {found.intercept} must be finite, the slope above 0"
        )
    promise = (found.base_rate, found.interval, found.believed)
    if len({part is None for part in promise}) > 1:
        raise ValueError("base rate, interval and believed are known together or not at all")
    low, high = found.interval or (0.0, 0.0)
    for p in (found.base_rate or 0.0, low, high, found.believed or 0.0):
        if not 0 <= p <= 1:
            raise ValueError(f"base rate, interval and believed lie from 0 to 1: found {p}")
    if found.base_rate in (0, 1):
        raise ValueError(f"a base rate of {found.base_rate} leaves nothing to tell apart")
    if low > high or found.open_pairs < 0:
        raise ValueError(
            f"the interval runs from {low} to {high}, and {found.open_pairs} pairs are open"
        )
    return found


def log_odds(scores: FloatArray) -> FloatArray:
    """Give the log-odds of scores in [0, 1], at most 12 and at least -12."""
    with np.errstate(divide="ignore"):
        z: FloatArray = logit(np.asarray(scores, dtype=np.float64)).clip(-SUREST, SUREST)
    return z


def fit_to_labels(z: FloatArray, labels: IntArray) -> Calibration:
    """Fit slope and intercept to labels as people picked them: Platt scaling, without base rate.

    The slope is pulled to 0: pairs told apart without fault would else make it infinite.
    """

    def loss(slope_intercept: FloatArray) -> tuple[float, FloatArray]:
        slope, intercept = slope_intercept
        u = slope * z + intercept
        off = expit(u) - labels
        value = np.sum(np.logaddexp(0.0, u) - labels * u) + slope**2 / 20
        return float(value), np.array([off @ z + slope / 10, off.sum()])

    slope, intercept = minimize(loss, np.array([1.0, 0.0]), jac=True, method="BFGS").x
    # Where the slope is not above 0, labels say nothing about how sure one may be.
    return Calibration(float(slope), float(intercept)) if slope > 0 else Calibration()


def fit_to_map(
    scored: Scored,
    open_pairs: int,
    *,
    prior: tuple[float, float] = (PRIOR_MEAN, PRIOR_DEVIATION),
    resamples: int | None = None,
) -> Calibration:
    """Fit slope, intercept and base rate to picked labels and background, with an interval.

    `prior` is the mean and the deviation of the base rate that is expected, in log-odds.
    """
    slope, intercept = _most_likely(scored, prior)
    p = expit(slope * scored.background + intercept)
    rng = np.random.default_rng(0)  # the same labels give the same interval
    rates = []
    for _ in range(INTERVAL_RESAMPLES if resamples is None else resamples):
        again = scored.resampled(rng)
        # Where scores say little, the prior decides. Its own mean is uncertain too: it is drawn.
        shifted = prior[0] + prior[1] * rng.standard_normal(), prior[1]
        a, b = _most_likely(again, shifted, start=(slope, intercept))
        rates.append(expit(a * again.background + b).mean())
    low, high = np.quantile(rates, [0.025, 0.975]) if rates else (np.nan, np.nan)
    return Calibration(
        slope,
        intercept,
        base_rate=float(p.mean()),
        interval=(float(low), float(high)),
        believed=best_expected_f1(p),
        open_pairs=open_pairs,
    )


def at_base_rate(calibration: Calibration, z: FloatArray, rate: float) -> Calibration:
    """Give the calibration with another intercept: pairs of these log-odds have this base rate."""
    slope, was = calibration.slope, calibration.base_rate
    bound = slope * SUREST + 60.0
    intercept = brentq(lambda b: float(expit(slope * z + b).mean()) - rate, -bound, bound)
    moved = replace(calibration, intercept=float(intercept))
    if was is None or calibration.interval is None:  # nothing is promised of the map
        return moved
    low, high = calibration.interval
    return replace(moved, base_rate=rate, interval=(low * rate / was, high * rate / was))


def at_rate(probabilities: FloatArray, base_rate: float, rate: float) -> FloatArray:
    """Turn probabilities that hold where `base_rate` are prerequisites to those where `rate` are.

    People pick pairs that are likely prerequisites: half of them are, and not one in fifty. So
    that their labels can be compared with what was said of the whole map, this is turned to the
    labels' own rate r: odds · r/(1 - r) · (1 - π)/π.

    >>> at_rate(np.array([0.1]), 0.1, 0.5)  # one in ten, which is usual there: even odds
    array([0.5])
    """
    yes = probabilities * rate * (1 - base_rate)
    no = (1 - probabilities) * (1 - rate) * base_rate
    turned: FloatArray = yes / (yes + no)
    return turned


def best_expected_f1(p: FloatArray, weights: FloatArray | None = None) -> float:
    """Give the threshold at which F1 is expected to be best if probabilities hold.

    All pairs from t on are believed. The F1 to expect is 2 Σ_{p ≥ t} p / (|{p ≥ t}| + Σ p). A pair
    stands for as many as its weight says.

    >>> best_expected_f1(np.array([0.9, 0.8, 0.1, 0.1]))
    0.8
    """
    weights = np.ones(len(p)) if weights is None else weights
    order = np.argsort(-p)
    right, believed = np.cumsum((weights * p)[order]), np.cumsum(weights[order])
    return float(p[order][np.argmax(2 * right / (believed + right[-1]))])


def _most_likely(
    scored: Scored, prior: tuple[float, float], start: tuple[float, float] | None = None
) -> tuple[float, float]:
    """Give the slope, above 0, and the intercept of the greatest posterior."""
    mean, deviation = prior
    # There are thousands of background pairs. Close scores are counted together.
    background, count = np.unique(scored.background.round(2), return_counts=True)
    share = count / count.sum()

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        """Give minus the log posterior, and its gradient by log slope and intercept."""
        slope, intercept = np.exp(parameters[0]), parameters[1]
        p = expit(slope * background + intercept)
        rate = (share @ p).clip(RAREST, 1 - RAREST)
        spread = share * p * (1 - p)
        d_rate = np.array([spread @ background * slope, spread.sum()])
        off_slope = parameters[0] / SLOPE_DEVIATION
        value, gradient = off_slope**2 / 2, np.array([off_slope / SLOPE_DEVIATION, 0.0])
        for z, sign, part in ((scored.positive, 1, rate), (scored.negative, -1, 1 - rate)):
            u = sign * (slope * z + intercept)
            off = sign * expit(-u)
            value -= log_expit(u).sum() - len(z) * np.log(part)
            gradient += len(z) * sign * d_rate / part - np.array([off @ z * slope, off.sum()])
        u = slope * scored.drawn + intercept
        off = scored.drawn_weights * (scored.drawn_labels - expit(u))
        value -= scored.drawn_weights @ (scored.drawn_labels * u - np.logaddexp(0, u))
        gradient -= np.array([off @ scored.drawn * slope, off.sum()])
        away = (logit(rate) - mean) / deviation
        return value + away**2 / 2, gradient + away / deviation * d_rate / (rate * (1 - rate))

    slope, intercept = start or (1.0, mean - float(np.median(background)))
    first = np.array([np.log(slope), intercept])
    found = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=[(-3, 3), (-30, 30)]).x
    return float(np.exp(found[0])), float(found[1])
