"""Metrics of scored pairs, what they mean in plain words, and choices that validation makes.

Labels are 0 or 1. Scores are higher where a pair is believed more: a pair is predicted to be a
prerequisite where its score is at least the threshold. A metric that these labels leave undefined
(AUC of a single class) is NaN. No pairs, or a score that is no number, is an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from proprl.arrays import FloatArray, IntArray
from proprl.errors import ProprlError, SplitError

NAN = float("nan")

ENOUGH_TO_CHOOSE = 20
"""Below this many validation pairs, what is chosen on them would be noise."""

DECILES = np.arange(11) / 10
"""The bounds of ten bins of probabilities."""

GRID = 20
"""Weights of branches are multiples of 1 / 20."""

MEANING = {
    "accuracy": "share of pairs judged rightly",
    "f1": "balance of precision and recall",
    "precision": "believed prerequisites that are right",
    "recall": "true prerequisites that are found",
    "auc": "chance that a true pair scores above a false one",
    "average_precision": "precision, averaged down the ranking",
    "calibration_error": "how far probabilities are from what comes true",
    "ordered_share": "true pairs scored above their reverse",
    "one_way_ordered": "the same, without pairs that hold both ways",
    "mean_margin": "by how much true pairs score above their reverse",
    "mutual_share": "pairs believed in both directions",
    "pairs": "labelled pairs scored",
    "positives": "of which prerequisites",
    "threshold": "cut-off used for these figures only: from here on a pair counts as a yes",
    "base_rate": "expected share of prerequisites among pairs that no label settles",
}
"""What each metric says, in words that need no statistics."""


def accuracy(labels: IntArray, scores: FloatArray, threshold: float = 0.5) -> float:
    """Return the share of pairs whose prediction is their label."""
    labels, scores = _checked(labels, scores)
    return float(((scores >= threshold) == (labels == 1)).mean())


def precision(labels: IntArray, scores: FloatArray, threshold: float = 0.5) -> float:
    """Return the share of predicted pairs that are positive; 0 where none is predicted."""
    hits, predicted, _ = _counts(labels, scores, threshold)
    return hits / predicted if predicted else 0.0


def recall(labels: IntArray, scores: FloatArray, threshold: float = 0.5) -> float:
    """Return the share of positives that are predicted; 0 where there are no positives."""
    hits, _, positives = _counts(labels, scores, threshold)
    return hits / positives if positives else 0.0


def f1(labels: IntArray, scores: FloatArray, threshold: float = 0.5) -> float:
    """Return the harmonic mean of precision and recall; 0 where no positive is predicted."""
    hits, predicted, positives = _counts(labels, scores, threshold)
    return 2 * hits / (predicted + positives) if predicted + positives else 0.0


def auc(labels: IntArray, scores: FloatArray) -> float:
    """Return the chance that a positive scores above a negative; NaN for a single class.

    A tie counts half.

    >>> auc(np.array([0, 1, 1]), np.array([0.2, 0.2, 0.9]))
    0.75
    """
    labels, scores = _checked(labels, scores)
    positives = int(labels.sum())
    negatives = len(labels) - positives
    if not (positives and negatives):
        return NAN
    _, place, tied = np.unique(scores, return_inverse=True, return_counts=True)
    rank = (np.cumsum(tied) - (tied - 1) / 2)[place]  # from 1; tied scores share their mean rank
    wins = rank[labels == 1].sum() - positives * (positives + 1) / 2
    return float(wins / (positives * negatives))


def average_precision(labels: IntArray, scores: FloatArray) -> float:
    """Return the mean of precision over the steps of recall; NaN without positives.

    AP = Σ_k (R_k - R_{k-1}) P_k, where k runs over the distinct scores from the highest.
    """
    labels, scores = _checked(labels, scores)
    if not labels.any():
        return NAN
    _, hits, predicted = _steps(labels, scores)
    gained = np.diff(hits, prepend=0) / hits[-1]
    return float((gained * hits / predicted).sum())


def ordered_share(forward: FloatArray, reverse: FloatArray) -> float:
    """Return the share of pairs scored strictly above their reverse; NaN without pairs."""
    return float((forward > reverse).mean()) if len(forward) else NAN


def mean_margin(forward: FloatArray, reverse: FloatArray) -> float:
    """Return by how much pairs score above their reverse, on average; NaN without pairs."""
    return float((forward - reverse).mean()) if len(forward) else NAN


def mutual_share(forward: FloatArray, reverse: FloatArray, threshold: float = 0.5) -> float:
    """Return the share of pairs that are believed in both directions; NaN without pairs."""
    return float((np.minimum(forward, reverse) >= threshold).mean()) if len(forward) else NAN


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


def reliability(
    labels: IntArray, probabilities: FloatArray, bounds: FloatArray = DECILES
) -> list[Bin]:
    """Group pairs by their probability into bins between these bounds; empty ones are left out.

    A bin holds its lower bound, the last one also its upper bound.

    >>> reliability(np.array([0, 1, 1]), np.array([0.12, 0.9, 1.0]))
    ... # doctest: +NORMALIZE_WHITESPACE
    [Bin(low=0.1, high=0.2, pairs=1, said=0.12, came_true=0.0),
     Bin(low=0.9, high=1.0, pairs=2, said=0.95, came_true=1.0)]
    """
    # Compared with the bounds themselves: 0.3 * 10 is a little less than 3.
    place = np.searchsorted(bounds[1:-1], probabilities, side="right")
    found = []
    for k in np.unique(place):
        here = place == k
        said, came_true = float(probabilities[here].mean()), float(labels[here].mean())
        found.append(Bin(float(bounds[k]), float(bounds[k + 1]), int(here.sum()), said, came_true))
    return found


def calibration_error(labels: IntArray, probabilities: FloatArray) -> float:
    """Return the expected calibration error: how far what was said is from what came true.

    ECE = Σ_b (pairs in b / pairs) |came true in b - said in b|, over the deciles b. NaN without
    pairs, and where a score is not a probability.
    """
    if not len(labels) or not ((probabilities >= 0) & (probabilities <= 1)).all():
        return NAN
    gaps = [one.pairs * abs(one.came_true - one.said) for one in reliability(labels, probabilities)]
    return sum(gaps) / len(labels)


def evaluate_scores(
    labels: IntArray,
    scores: FloatArray,
    reverse_scores: FloatArray,
    *,
    pairs: IntArray,
    threshold: float = 0.5,
) -> dict[str, float | int]:
    """Return every metric of these pairs, by name, with the counts and the threshold behind them.

    `reverse_scores` are the scores of the same pairs in the other order.

    - `ordered_share` and `mean_margin` are over the positives.
    - `one_way_ordered` is the ordered share of those positives whose reverse is not positive here
      too. Where both orders hold, one of the two counts as wrong, whatever is said.
    - `mutual_share` is over all pairs. One that is evaluated in both orders counts once.
    """
    labels, scores = _checked(labels, scores)
    _, reverses = _checked(labels, reverse_scores)
    positive = labels == 1
    n = pairs.max() + 1
    reverse_is_positive = np.isin(pairs @ [1, n], (pairs @ [n, 1])[positive])
    one_way = positive & ~reverse_is_positive
    once = np.unique(np.sort(pairs, axis=1) @ [n, 1], return_index=True)[1]
    return {
        "accuracy": accuracy(labels, scores, threshold),
        "f1": f1(labels, scores, threshold),
        "precision": precision(labels, scores, threshold),
        "recall": recall(labels, scores, threshold),
        "auc": auc(labels, scores),
        "average_precision": average_precision(labels, scores),
        "calibration_error": calibration_error(labels, scores),
        "ordered_share": ordered_share(scores[positive], reverses[positive]),
        "one_way_ordered": ordered_share(scores[one_way], reverses[one_way]),
        "mean_margin": mean_margin(scores[positive], reverses[positive]),
        "mutual_share": mutual_share(scores[once], reverses[once], threshold),
        "pairs": len(labels),
        "positives": int(positive.sum()),
        "threshold": float(threshold),
    }


def enough_to_choose(labels: IntArray) -> bool:
    """Return whether there are enough pairs, and of both labels, to choose something by."""
    return len(labels) >= ENOUGH_TO_CHOOSE and len(np.unique(labels)) == 2


def best_threshold(labels: IntArray, scores: FloatArray) -> float:
    """Return the threshold with the best F1 on these pairs; 0.5 where there are no positives.

    It stands midway between two neighbouring scores, so that a small change of a score does not
    change a prediction. To predict every pair, it stands between 0 and the lowest score. Of
    equally good thresholds the one nearest 0.5 is taken; of two as near, the higher one.
    """
    labels, scores = _checked(labels, scores)
    if not labels.any():
        return 0.5
    above, hits, predicted = _steps(labels, scores)  # above: distinct scores, highest first
    below = np.append(above[1:], min(0.0, above[-1]))
    middle = (above + below) / 2
    middle = np.where(middle > below, middle, above)  # neighbours in floating point have no middle
    score = 2 * hits / (predicted + hits[-1])
    best = middle[score == score.max()]
    return float(best[np.argmin(np.abs(best - 0.5))])


def simplex_weights(
    labels: IntArray, probabilities: FloatArray, *, threshold: float | None
) -> FloatArray:
    """Return the weights of branches whose mean has the best F1, ties by AUC; they sum to 1.

    Without a threshold there is no F1 yet: AUC alone decides.

    `probabilities` has a column for each branch, the fused one last. Every point of a grid is
    tried. Of equally good points the one with most weight on the last branch is taken; of those,
    the one with most weight on the branch before it.
    """
    # The grid stands in the order of preference, so that the first of equals is the one wanted.
    points = product(range(GRID, -1, -1), repeat=probabilities.shape[1])
    grid = np.array([point[::-1] for point in points if sum(point) == GRID]) / GRID
    if threshold is not None:
        by_f1 = np.array([f1(labels, _mixed(probabilities, w), threshold) for w in grid])
        grid = grid[by_f1 == by_f1.max()]
    by_auc = [auc(labels, _mixed(probabilities, w)) for w in grid]
    return np.asarray(grid[np.argmax(by_auc)])


def _mixed(probabilities: FloatArray, weights: FloatArray) -> FloatArray:
    # Not a matrix product: its rounding may depend on the row, and break ties between equal rows.
    return np.asarray((probabilities * weights).sum(axis=1))


def _steps(labels: IntArray, scores: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Distinct scores from the highest; positives, and pairs, that score at least as much."""
    distinct, place, tied = np.unique(scores, return_inverse=True, return_counts=True)
    hits = np.bincount(place[labels == 1], minlength=len(distinct))
    return distinct[::-1], np.cumsum(hits[::-1]), np.cumsum(tied[::-1])


def _counts(labels: IntArray, scores: FloatArray, threshold: float) -> tuple[int, int, int]:
    """How many pairs are predicted and positive, how many predicted, how many positive."""
    labels, scores = _checked(labels, scores)
    predicted = scores >= threshold
    return int(labels[predicted].sum()), int(predicted.sum()), int(labels.sum())


def _checked(labels: IntArray, scores: FloatArray) -> tuple[IntArray, FloatArray]:
    labels, scores = np.asarray(labels), np.asarray(scores, dtype=np.float64)
    if labels.ndim != 1 or scores.shape != labels.shape:
        raise ProprlError(
            f"labels and scores must have one shape (m,), not {labels.shape} and {scores.shape}"
        )
    if not len(labels):
        raise SplitError(
            "there are no labelled pairs to evaluate: the part is empty; "
            "give it at least one pair with label 1 and one with label 0"
        )
    bad = int((~np.isfinite(scores)).sum())
    if bad:
        raise ProprlError(f"scores must be finite numbers; {bad} of {scores.size} are not")
    return labels, scores
