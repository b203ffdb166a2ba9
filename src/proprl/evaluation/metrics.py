"""Metrics of scored pairs, and the choices that validation makes by them.

Labels are 0 or 1, scores are higher where a pair is believed more; a pair is predicted as a
prerequisite where its score is at least the threshold. What cannot be computed from the labels
(AUC of a single class) is NaN; what cannot be meant (no pairs, another shape, NaN) is an error.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from proprl.arrays import FloatArray, IntArray
from proprl.errors import ProprlError, SplitError
from proprl.evaluation.calibration import calibration_error

NAN = float("nan")

ENOUGH_TO_CHOOSE = 20
"""Below this many validation pairs, what is chosen on them would be noise."""


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
    """Return the share of positives scored strictly above their reverse; NaN without pairs."""
    forward, reverse = _both_orders(forward, reverse)
    return float((forward > reverse).mean()) if len(forward) else NAN


def mean_margin(forward: FloatArray, reverse: FloatArray) -> float:
    """Return the mean of how much pairs score above their reverse; NaN without pairs."""
    forward, reverse = _both_orders(forward, reverse)
    return float((forward - reverse).mean()) if len(forward) else NAN


def mutual_share(forward: FloatArray, reverse: FloatArray, threshold: float = 0.5) -> float:
    """Return the share of pairs that are believed in both directions; NaN without pairs."""
    forward, reverse = _both_orders(forward, reverse)
    return float((np.minimum(forward, reverse) >= threshold).mean()) if len(forward) else NAN


def evaluate_scores(
    labels: IntArray,
    scores: FloatArray,
    reverse_scores: FloatArray,
    *,
    pairs: IntArray,
    threshold: float = 0.5,
) -> dict[str, float | int]:
    """Every metric of these pairs, by name, with the counts and the threshold behind them.

    `reverse_scores` are the scores of the same pairs in the other order. `ordered_share` and
    `mean_margin` are over the positives, `one_way_ordered` is the share of those whose reverse is
    not positive here too: where both orders hold, one of the two counts as wrong, whatever is said.
    `mutual_share` is over all pairs, one that is evaluated in both orders counting once.
    """
    labels, scores = _checked(labels, scores)
    scores, reverse_scores = _both_orders(scores, reverse_scores)
    pairs = np.asarray(pairs, dtype=np.int64)
    if pairs.shape != (len(labels), 2):
        raise ProprlError(f"pairs must have shape ({len(labels)}, 2), not {pairs.shape}")
    positive = labels == 1
    one_way = positive & ~_reverse_is_positive(pairs, positive)
    low, high = np.sort(pairs, axis=1).T
    once = np.unique(low * (high.max() + 1) + high, return_index=True)[1]
    return {
        "accuracy": accuracy(labels, scores, threshold),
        "f1": f1(labels, scores, threshold),
        "precision": precision(labels, scores, threshold),
        "recall": recall(labels, scores, threshold),
        "auc": auc(labels, scores),
        "average_precision": average_precision(labels, scores),
        "calibration_error": calibration_error(labels, scores),
        "ordered_share": ordered_share(scores[positive], reverse_scores[positive]),
        "one_way_ordered": ordered_share(scores[one_way], reverse_scores[one_way]),
        "mean_margin": mean_margin(scores[positive], reverse_scores[positive]),
        "mutual_share": mutual_share(scores[once], reverse_scores[once], threshold),
        "pairs": len(labels),
        "positives": int(positive.sum()),
        "threshold": float(threshold),
    }


def _reverse_is_positive(pairs: IntArray, positive: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Say of which pairs the reverse is among the positives: (m,)."""
    n = pairs.max(initial=0) + 1
    forward, reverse = pairs @ [n, 1], pairs @ [1, n]
    return np.isin(reverse, forward[positive])


def enough_to_choose(labels: IntArray) -> bool:
    """Return whether there are enough pairs, and of both labels, to choose something by."""
    return len(labels) >= ENOUGH_TO_CHOOSE and len(np.unique(labels)) == 2


def best_threshold(labels: IntArray, scores: FloatArray) -> float:
    """Return the threshold with the best F1 on these pairs; 0.5 where there are no positives.

    It stands midway between two neighbouring scores (between 0 and the lowest, to predict every
    pair), so that a small change of a score does not change a prediction. Of equally good
    thresholds the one nearest 0.5 is taken, the higher one of two as near.
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
    labels: IntArray,
    probabilities: FloatArray,
    *,
    step: float = 0.05,
    threshold: float | None = 0.5,
) -> FloatArray:
    """Return the weights of the branches whose mean has the best F1, ties by AUC; they sum to 1.

    Without a threshold there is no F1 yet, and AUC alone decides.

    `probabilities` has a column for each branch, one to three of them, the fused one last. Every
    point of a grid of this step is tried. Of points equal in F1 and AUC the first is taken in
    this order: most weight on the last branch, then most on the one before it. Labels of a single
    class decide nothing, and leave all the weight on the last branch.
    """
    labels = _checked_labels(labels)
    probabilities = np.asarray(probabilities, dtype=np.float64)
    branches = probabilities.shape[1] if probabilities.ndim == 2 else 0
    if len(probabilities) != len(labels) or not 1 <= branches <= 3:
        raise ProprlError(
            f"probabilities must have shape ({len(labels)}, 1 to 3), not {probabilities.shape}"
        )
    _check_finite("probabilities", probabilities)
    steps = round(1 / step) if 0 < step <= 1 else 0
    if not np.isclose(steps * step, 1):
        raise ProprlError(f"step must divide 1, as 0.05 does; found {step}")

    # The grid stands in the order of preference, so that the first of equals is the one wanted.
    grid: FloatArray = np.array(list(_compositions(steps, branches))) / steps
    if labels.min() == labels.max():
        return np.asarray(grid[0])
    tied = grid
    if threshold is not None:
        by_f1 = np.array([f1(labels, _mixed(probabilities, w), threshold) for w in grid])
        tied = grid[by_f1 == by_f1.max()]
    by_auc = [auc(labels, _mixed(probabilities, w)) for w in tied]
    return np.asarray(tied[np.argmax(by_auc)])


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Every way to write `total` as `parts` whole numbers, the greatest last number first."""
    if parts == 1:
        yield (total,)
        return
    for last in range(total, -1, -1):
        for head in _compositions(total - last, parts - 1):
            yield (*head, last)


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
    labels = _checked_labels(labels)
    scores = np.asarray(scores, dtype=np.float64)
    if scores.shape != labels.shape:
        raise ProprlError(f"scores must have the labels' shape {labels.shape}, not {scores.shape}")
    _check_finite("scores", scores)
    return labels, scores


def _checked_labels(labels: IntArray) -> IntArray:
    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise ProprlError(f"labels must have shape (m,), not {labels.shape}")
    if not len(labels):
        raise SplitError(
            "there are no labelled pairs to evaluate: the part is empty; "
            "give it at least one pair with label 1 and one with label 0"
        )
    if not np.isin(labels, (0, 1)).all():
        raise ProprlError(f"labels must be 0 or 1; found {np.setdiff1d(labels, (0, 1))[0]}")
    return labels.astype(np.int64, copy=False)


def _both_orders(forward: FloatArray, reverse: FloatArray) -> tuple[FloatArray, FloatArray]:
    forward = np.asarray(forward, dtype=np.float64)
    reverse = np.asarray(reverse, dtype=np.float64)
    if forward.ndim != 1 or forward.shape != reverse.shape:
        raise ProprlError(
            "scores in both orders must have one shape (m,), "
            f"not {forward.shape} forward and {reverse.shape} reverse"
        )
    _check_finite("scores", forward)
    _check_finite("reverse scores", reverse)
    return forward, reverse


def _check_finite(what: str, values: FloatArray) -> None:
    bad = int(values.size - np.isfinite(values).sum())
    if bad:
        raise ProprlError(f"{what} must be finite numbers; {bad} of {values.size} are not")
