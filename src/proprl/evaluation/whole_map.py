"""How good a map is where people looked at every pair, and few are prerequisites.

The AUC on chosen pairs hardly shows that prerequisites are rare. Nor does the calibration error:
whoever answers 0 everywhere has 0.02. Here a map is judged by how often it is right where it is
believed, and by whether it beats what follows from its own labels without any model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.labelled import LabelledPairs, unordered_codes
from proprl.errors import ProprlError
from proprl.graphs.closure import BoolArray, what_follows

LEAST_PROBABILITY = 1e-6
"""In the log loss no answer is surer than this: one mistake must not outweigh all others."""

_RESAMPLES_AT_ONCE = 64  # for 33,000 pairs an array then takes 17 MB


@dataclass(frozen=True)
class JudgedMap:
    """What was said of all asked pairs, and what is true of them: arrays of shape (m,)."""

    labels: IntArray
    scores: FloatArray
    """Higher where a pair is believed more."""
    open: BoolArray
    """Whether neither the pair nor its reverse follows from known positives."""
    are_probabilities: bool = True
    """False for a rule whose scores only rank."""
    believed: BoolArray | None = None
    follows: BoolArray | None = None
    """Whether the pair follows from the graph. Known together with the next."""
    labels_follow: BoolArray | None = None
    """Whether the pair follows from the known labels alone."""

    def __post_init__(self) -> None:
        if not len(self.labels):
            raise ProprlError("there are no asked pairs to judge a map by")
        if not np.isfinite(self.scores).all():
            raise ProprlError("scores of asked pairs must be finite numbers")


def map_metrics(judged: JudgedMap) -> dict[str, float]:
    """Return every metric that these arrays allow, by name; NaN where a share is of nothing.

    - `average_precision`, `average_precision_open`: of all asked pairs, of the open ones
    - `believed`, `believed_right`, `believed_found`: share of pairs believed; of these right; of
      the prerequisites believed
    - `log_loss_gain`: 1 - log loss / log loss of the base rate alone; below 0, worse than that
    - `promised`, `true`, `promised_ratio`: sum of the probabilities, number of prerequisites
    - `follows_right`, `follows_found`, `follows_f1`: of what follows from the graph
    - `labels_right`, `labels_found`, `labels_f1`: of what follows from the known labels alone
    - `f1_lead`: `follows_f1` above `labels_f1`
    """
    once = np.ones((1, len(judged.labels)))
    return {name: float(values[0]) for name, values in _measured(judged, once).items()}


def resampled_metrics(
    judged: JudgedMap, pairs: IntArray, *, resamples: int
) -> dict[str, FloatArray]:
    """Return every metric on test sets drawn anew, by name: (resamples,) each.

    Pairs are drawn with replacement, both orders of a pair together. The same pairs give the same
    test sets, so that maps of the same pairs can be compared draw by draw.
    """
    found = [_measured(judged, counts) for counts in drawn_counts(pairs, resamples)]
    return {name: np.concatenate([chunk[name] for chunk in found]) for name in found[0]}


def drawn_counts(pairs: IntArray, resamples: int) -> Iterator[FloatArray]:
    """Yield how often each pair is drawn, some resamples at a time: (b, m).

    Whole numbers, but as floats: products of those are many times faster.
    """
    codes, group = np.unique(unordered_codes(pairs), return_inverse=True)
    rng = np.random.default_rng(0)
    for start in range(0, resamples, _RESAMPLES_AT_ONCE):
        b = min(_RESAMPLES_AT_ONCE, resamples - start)
        drawn = rng.integers(0, len(codes), (b, len(codes))) + len(codes) * np.arange(b)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=b * len(codes)).reshape(b, -1)
        yield counts[:, group].astype(np.float64)


def interval(values: FloatArray) -> tuple[float, float]:
    """Return where the middle 95 % of resampled values lie; values that are NaN are left out."""
    known = values[np.isfinite(values)]
    if not len(known):
        return float("nan"), float("nan")
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)


def mean_of(results: Sequence[Mapping[str, FloatArray]], metric: str) -> FloatArray:
    """Return a metric's mean over several draws of the labels, resample by resample."""
    return np.asarray(np.mean([result[metric] for result in results], axis=0))


def edge_metrics(
    concepts: int, edges: IntArray, known: LabelledPairs, annotated: LabelledPairs
) -> dict[str, float]:
    """Return how many edges are learned, and which share of these is right or implied.

    An edge is learned if it is no known positive. It is right if its pair is annotated as a
    prerequisite, and implied if it follows from annotated ones. Nobody knows of an edge that is
    neither and was never annotated: `edges_right` counts it as wrong, `edges_right_annotated`
    leaves it out.
    """
    labelled = _marked(concepts, known.positives)
    learned = edges[~labelled[tuple(edges.T)]]
    at = tuple(learned.T)
    right = what_follows(concepts, annotated.positives)[at]
    judged = right | _marked(concepts, annotated.pairs)[at]
    return {
        "edges_learned": float(len(learned)),
        "edges_right": float(_share(right.sum(), len(learned))),
        "edges_right_annotated": float(_share(right.sum(), judged.sum())),
    }


def precision_at_recall(labels: IntArray, scores: FloatArray, recalls: FloatArray) -> FloatArray:
    """Return the share of right pairs among the best, for each share of positives to be found.

    So many of the best are taken that they hold this share of all positives. Pairs of one score
    are taken together. NaN without positives.
    """
    order, ends = _ranked(scores)
    hits = np.cumsum(labels[order])[ends]
    if not hits[-1]:
        return np.full(len(recalls), np.nan)
    at = np.searchsorted(hits, np.ceil(recalls * hits[-1] - 1e-9))
    return np.asarray(hits[at] / (ends[at] + 1))


def needed_on_the_way(follows: BoolArray, known: int, target: int) -> set[int]:
    """Return the concepts to learn, up to the target, for someone who knows one concept.

    Whoever knows a concept is taken to know its prerequisites too.
    """
    needed = {target, *np.flatnonzero(follows[:, target]).tolist()}
    return needed - {known, *np.flatnonzero(follows[:, known]).tolist()}


def _measured(judged: JudgedMap, counts: FloatArray) -> dict[str, FloatArray]:
    """Return each metric where pair i stands counts[:, i] times in the test set: (b,) each."""
    labels, is_open = judged.labels, judged.open
    found = {
        "average_precision": _average_precision(labels, judged.scores, counts),
        "average_precision_open": _average_precision(
            labels[is_open], judged.scores[is_open], counts[:, is_open]
        ),
    }
    if judged.are_probabilities:
        found |= _as_probabilities(labels, judged.scores, counts)
    if judged.believed is not None:
        right, recall, _ = _right_found_f1(labels, judged.believed, counts)
        found["believed"] = counts @ judged.believed.astype(np.float64) / counts.sum(axis=1)
        found |= {"believed_right": right, "believed_found": recall}
    if judged.follows is not None and judged.labels_follow is not None:
        for what, follows in (("follows", judged.follows), ("labels", judged.labels_follow)):
            right, recall, f1 = _right_found_f1(labels, follows, counts)
            found |= {f"{what}_right": right, f"{what}_found": recall, f"{what}_f1": f1}
        found["f1_lead"] = found["follows_f1"] - found["labels_f1"]
    return found


def _right_found_f1(
    labels: IntArray, chosen: BoolArray, counts: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    hits = counts @ (chosen & (labels == 1)).astype(np.float64)
    said = counts @ chosen.astype(np.float64)
    true = counts @ labels.astype(np.float64)
    return _share(hits, said), _share(hits, true), _share(2 * hits, said + true)


def _as_probabilities(
    labels: IntArray, probabilities: FloatArray, counts: FloatArray
) -> dict[str, FloatArray]:
    total, true = counts.sum(axis=1), counts @ labels.astype(np.float64)
    p = np.clip(probabilities, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    loss = -(counts @ np.where(labels == 1, np.log(p), np.log1p(-p)))
    rate = np.clip(true / total, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    base = -(true * np.log(rate) + (total - true) * np.log1p(-rate))
    promised = counts @ probabilities
    return {
        "log_loss_gain": 1 - loss / base,
        "promised": promised,
        "true": true,
        "promised_ratio": _share(promised, true),
    }


def _average_precision(labels: IntArray, scores: FloatArray, counts: FloatArray) -> FloatArray:
    """Return AP = Σ_k (R_k - R_{k-1}) P_k for each row of counts; NaN without positives."""
    order, ends = _ranked(scores)
    # Sums over the best k pairs, where the last of them ends a run of equal scores.
    total = np.cumsum(counts[:, order], axis=1)[:, ends]
    hits = np.cumsum(counts[:, order] * labels[order], axis=1)[:, ends]
    gained = np.diff(hits, axis=1, prepend=0)
    summed = (gained * hits / np.maximum(total, 1)).sum(axis=1)
    return _share(summed, hits[:, -1] if len(ends) else np.zeros(len(counts)))


def _ranked(scores: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the positions from the highest score, and where each distinct score ends."""
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.diff(scores[order], append=-np.inf) != 0)
    return order, ends


def _share(of: npt.ArrayLike, whole: npt.ArrayLike) -> FloatArray:
    """Divide; a share of nothing is NaN."""
    of, whole = np.asarray(of, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    shares = np.full(np.broadcast(of, whole).shape, np.nan)
    np.divide(of, whole, out=shares, where=whole != 0)
    return shares


def _marked(concepts: int, pairs: IntArray) -> BoolArray:
    marked = np.zeros((concepts, concepts), dtype=np.bool_)
    marked[tuple(pairs.T)] = True
    return marked
