"""Metrics on test pairs that are drawn anew, for all resamples at once.

A resample says how often each pair is drawn, so that a metric is a product with those counts.
Pairs are drawn within each label: a resample has as many positives and negatives as the test set,
and so never lacks what AUC needs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from proprl.arrays import FloatArray, IntArray
from proprl.errors import ProprlError

Counts = npt.NDArray[np.uint8]


class ScoredPairs(NamedTuple):
    """A test set of m pairs as one method scored it, in one run or in several."""

    labels: IntArray  # (m,)
    forward: FloatArray  # (runs, m)
    reverse: FloatArray  # (runs, m), the same pairs in the other order
    thresholds: FloatArray  # (runs,)


class Draws(NamedTuple):
    """How often each pair of a test set is drawn, in b resamples."""

    positives: Counts  # (b, pairs with label 1)
    negatives: Counts  # (b, pairs with label 0)


def undrawn(labels: IntArray) -> Draws:
    """The test set itself: each pair once."""
    positives = int(labels.sum())
    sizes = positives, len(labels) - positives
    return Draws(*(np.ones((1, size), dtype=np.uint8) for size in sizes))


def drawn(labels: IntArray, resamples: int, seed: tuple[int, ...]) -> Draws:
    """Test sets drawn from this one with replacement; the same ones for the same seed."""
    positives = int(labels.sum())
    return _drawn(positives, len(labels) - positives, resamples, seed)


def resampled(metric: str, scored: ScoredPairs, draws: Draws) -> FloatArray:
    """The metric on each resample, averaged over runs: (b,).

    With each pair drawn once, it is the metric of that name in `evaluation.metrics`.

    >>> scores = np.array([[0.2, 0.2, 0.9]])
    >>> scored = ScoredPairs(np.array([0, 1, 1]), scores, scores, np.array([0.5]))
    >>> resampled("auc", scored, undrawn(scored.labels))
    array([0.75])
    """
    if metric not in RESAMPLED:
        known = ", ".join(RESAMPLED)
        raise ProprlError(f"{metric!r} cannot be resampled; known: {known}")
    return RESAMPLED[metric](scored, draws)


# Drawing costs more than any metric, and all methods and metrics of a table share their draws.
# Those of a fold of 200 pairs take 2 MB.
@lru_cache(maxsize=16)
def _drawn(positives: int, negatives: int, resamples: int, seed: tuple[int, ...]) -> Draws:
    rng = np.random.default_rng(seed)

    def counts(size: int) -> Counts:
        if not size:
            return np.zeros((resamples, 0), dtype=np.uint8)
        # The mean count is 1; more than 255 does not happen.
        return rng.multinomial(size, np.full(size, 1 / size), resamples).astype(np.uint8)

    return Draws(counts(positives), counts(negatives))


def _accuracy(scored: ScoredPairs, draws: Draws) -> FloatArray:
    yes, no = _by_label(scored, _predicted(scored))
    right = _counted(draws.positives, yes) + _counted(draws.negatives, ~no)  # (b, runs)
    return np.asarray(right.mean(axis=1) / len(scored.labels))


def _f1(scored: ScoredPairs, draws: Draws) -> FloatArray:
    yes, no = _by_label(scored, _predicted(scored))
    hits = _counted(draws.positives, yes)  # (b, runs)
    predicted = hits + _counted(draws.negatives, no)
    # Neither positives nor predictions: F1 is 0.
    f1 = 2 * hits / np.maximum(predicted + yes.shape[1], 1)
    return np.asarray(f1.mean(axis=1))


def _auc(scored: ScoredPairs, draws: Draws) -> FloatArray:
    """w_p' C w_n / (P N), where C says which positive is above which negative; a tie is half."""
    wins = np.zeros((draws.negatives.shape[1], draws.positives.shape[1]))
    for positive, negative in zip(*_by_label(scored, scored.forward), strict=True):
        wins += (np.sign(positive - negative[:, None]) + 1) / 2
    total = (_counted(draws.positives, wins) * draws.negatives).sum(axis=1)
    return np.asarray(total / (wins.size * len(scored.forward)))


def _ordered_share(scored: ScoredPairs, draws: Draws) -> FloatArray:
    ordered, _ = _by_label(scored, scored.forward > scored.reverse)
    return np.asarray(_counted(draws.positives, ordered).mean(axis=1) / ordered.shape[1])


def _mean_margin(scored: ScoredPairs, draws: Draws) -> FloatArray:
    margin, _ = _by_label(scored, scored.forward - scored.reverse)
    return np.asarray(draws.positives @ margin.mean(axis=0) / margin.shape[1])


RESAMPLED: dict[str, Callable[[ScoredPairs, Draws], FloatArray]] = {
    "accuracy": _accuracy,
    "f1": _f1,
    "auc": _auc,
    "ordered_share": _ordered_share,
    "mean_margin": _mean_margin,
}
"""By metric; each averages over runs."""


def _predicted(scored: ScoredPairs) -> npt.NDArray[np.bool_]:
    return np.asarray(scored.forward >= scored.thresholds[:, None])


def _by_label(
    scored: ScoredPairs, values: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Split the columns of a value for each run and pair: the positives', the negatives'."""
    positive = scored.labels == 1
    return values[:, positive], values[:, ~positive]


def _counted(drawn: Counts, worth: npt.NDArray[Any]) -> FloatArray:
    """What the drawn pairs are worth together in each resample, for each row of `worth`.

    In float32, which is twice as fast, and exact for whole numbers and halves.
    """
    return np.asarray((drawn @ worth.T.astype(np.float32)).astype(np.float64))
