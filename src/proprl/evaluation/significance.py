"""How sure a difference between two methods is, and how wide a mean really is.

Test pairs are drawn anew thousands of times, all resamples at once: a resample says how often each
pair is drawn, so that a metric is a product with those counts. Pairs are drawn within each label. A
resample has as many positives and negatives as the test set, and so never lacks what AUC needs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from proprl.arrays import FloatArray, IntArray
from proprl.errors import ProprlError

# The least p is 1 / 10,001. Holm's correction over 45 comparisons (15 methods, 3 sets) asks the
# first of them for 0.05 / 45, which is 11 of 10,000: enough of them for a count that chance
# changes little. The 135 p-values of such a table, over ten folds, take about 15 seconds.
RESAMPLES = 10_000
Name = TypeVar("Name", bound=Hashable)
Counts = npt.NDArray[np.uint8]


class ScoredPairs(NamedTuple):
    """A test set of m pairs as one method scored it, in one run or in several."""

    labels: IntArray  # (m,)
    forward: FloatArray  # (runs, m)
    reverse: FloatArray  # (runs, m), the same pairs in the other order
    thresholds: FloatArray  # (runs,)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many pairs have label 1, and how many label 0."""
        positives = int(self.labels.sum())
        return positives, len(self.labels) - positives


class Draws(NamedTuple):
    """How often each pair of a test set is drawn, in b resamples."""

    positives: Counts  # (b, pairs with label 1)
    negatives: Counts  # (b, pairs with label 0)


def bootstrap_interval(values: FloatArray) -> tuple[float, float]:
    """Return the interval of the mean over seeds or folds: 95 % of resampled means lie in it.

    >>> bootstrap_interval(np.array([0.5, 0.5, 0.5]))
    (0.5, 0.5)
    """
    if not len(values) or not np.isfinite(values).all():
        raise ProprlError("an interval needs one finite result for each seed or fold")
    places = np.random.default_rng(0).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.quantile(values[places].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def paired_bootstrap(
    ours: Sequence[ScoredPairs],
    theirs: Sequence[ScoredPairs],
    metric: str,
    *,
    resamples: int = RESAMPLES,
) -> float:
    """Return the one-sided p-value of "our mean is not above theirs", from the same test sets.

    There is one test set for each fold, or a single one that all seeds share. The pairs of each
    are drawn anew, with replacement and within each label. Both methods, and all runs on a test
    set, see the same draws. The lead is the difference in the metric, averaged over runs and test
    sets.

    The resampled leads are moved to a mean of zero, as if there were no lead. p is the share of
    them that reach the lead that was seen; one is added to both counts, so that p is never 0. It
    says how likely the lead is to hold on other pairs, not after other fits.
    """
    if not ours or len(ours) != len(theirs):
        raise ProprlError("a comparison needs one or more test sets, the same for both methods")
    value = RESAMPLED[metric]
    lead, leads = 0.0, np.zeros(resamples)
    for place, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        if not np.array_equal(mine.labels, other.labels):
            raise ProprlError("two methods can be compared only on the same pairs: labels differ")
        each, draws = undrawn(mine.sizes), drawn(mine.sizes, resamples, place)
        lead += (value(mine, each) - value(other, each)).item()
        leads += value(mine, draws) - value(other, draws)
    # Rounding must not decide whether an equal lead was reached.
    reached = int((leads - lead >= lead - 1e-12).sum())
    return (reached + 1) / (resamples + 1)


def holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Return each p-value adjusted for how many comparisons were made: Holm's correction.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    adjusted: dict[Name, float] = {}
    highest = 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        highest = max(highest, min(1.0, p_values[name] * (len(p_values) - rank)))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}


def undrawn(sizes: tuple[int, int]) -> Draws:
    """Return the test set itself: each pair once."""
    return Draws(*(np.ones((1, size), dtype=np.uint8) for size in sizes))


# Drawing costs more than any metric, and all methods and metrics of a table share their draws.
# Those of a fold of 200 pairs take 2 MB.
@lru_cache(maxsize=16)
def drawn(sizes: tuple[int, int], resamples: int, place: int) -> Draws:
    """Return test sets drawn from one with replacement; `place`, the test set's, is the seed."""
    rng = np.random.default_rng((0, place))

    def counts(size: int) -> Counts:
        if not size:
            return np.zeros((resamples, 0), dtype=np.uint8)
        # The mean count is 1; more than 255 does not happen.
        return rng.multinomial(size, np.full(size, 1 / size), resamples).astype(np.uint8)

    return Draws(*map(counts, sizes))


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
"""By name, the metric of that name in `evaluation.metrics` on each resample: (b,).

Each is averaged over runs.
"""


def _predicted(scored: ScoredPairs) -> npt.NDArray[np.bool_]:
    return np.asarray(scored.forward >= scored.thresholds[:, None])


def _by_label(
    scored: ScoredPairs, values: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Split the columns of a value for each run and pair: the positives', the negatives'."""
    positive = scored.labels == 1
    return values[:, positive], values[:, ~positive]


def _counted(drawn: Counts, worth: npt.NDArray[Any]) -> FloatArray:
    """Return what the drawn pairs are worth together in each resample, for each row of `worth`.

    In float32, which is twice as fast, and exact for whole numbers and halves.
    """
    return np.asarray((drawn @ worth.T.astype(np.float32)).astype(np.float64))
