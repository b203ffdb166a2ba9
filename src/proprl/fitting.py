"""The one fit: background drawn, a method fitted, its scores made probabilities.

The estimator and the experiments call the same function.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from proprl.arrays import FloatArray, IntArray
from proprl.data.grouping import pair_codes
from proprl.data.origins import CHOSEN, DRAWN
from proprl.data.splits import LabelledPairs, PairSplit
from proprl.evaluation.base_rate import (
    PRIOR_DEVIATION,
    PRIOR_MEAN,
    Calibration,
    Scored,
    fit_to_labels,
    fit_to_map,
    log_odds,
)
from proprl.evaluation.metrics import best_threshold, enough_to_choose
from proprl.graphs.evidence import Evidence
from proprl.models.base import CrossFits, FitReport, HeldOut, PairScorer
from proprl.pairs.background import draw_background, follows_from_others, open_pairs
from proprl.progress import SILENT, Progress
from proprl.training.checkpoint import Checkpoint

Background: TypeAlias = IntArray | Literal["auto"] | None
"""Pairs without a label to learn from; "auto" draws them, None means none."""

# Of background that a method does not hold out itself, a tenth is kept for the calibration, or
# FEW pairs if that is more.
HELD_OUT = 10
# Fewer background pairs cannot tell how rare prerequisites are.
FEW = 100


@dataclass(frozen=True)
class Fit:
    """A fitted method, and how its scores become probabilities."""

    scorer: PairScorer
    report: FitReport
    calibration: Calibration | None
    """None where a method's own scores are taken as they are."""
    held_out: HeldOut | None
    """Scores of labels and background that the method had not learned from, if any."""

    def score(self, pairs: IntArray) -> FloatArray:
        """Give the probability of each pair: (m, 2) -> (m,)."""
        scores = self.scorer.score(pairs)
        return scores if self.calibration is None else self.calibration.probability(scores)


def fit_scorer(
    scorer: PairScorer,
    evidence: Evidence,
    split: PairSplit,
    *,
    background: Background = None,
    seed: int,
    progress: Progress = SILENT,
    checkpoint: Checkpoint | None = None,
) -> Fit:
    """Fit a method on the training part, and on background; validation is for choosing.

    With background, probabilities hold for the whole map; without, for pairs as people pick them.
    """
    known = split.train.joined(split.validation)
    if isinstance(background, str):
        background = None
        if scorer.takes_background:
            background = draw_background(known, evidence.concept_count, seed=seed)
    lent, kept = background, None
    crossed = isinstance(scorer, CrossFits)
    if background is not None and not crossed:
        here = np.arange(len(background)) % _every(len(background)) == 0
        lent, kept = background[~here], background[here]
    report = scorer.fit(
        evidence, split, background=lent, seed=seed, progress=progress, checkpoint=checkpoint
    )
    if isinstance(scorer, CrossFits):
        held_out = scorer.held_out
    elif kept is not None:
        validation = split.validation
        held_out = HeldOut(validation, scorer.score(validation.pairs), scorer.score(kept))
    else:
        return Fit(scorer, report, None, None)
    calibration = calibrated(held_out, known, evidence.concept_count)
    labels = held_out.labels.labels
    threshold = report.threshold
    if enough_to_choose(labels):
        threshold = best_threshold(labels, calibration.probability(held_out.scores))
    return Fit(scorer, replace(report, threshold=threshold), calibration, held_out)


def _every(background: int) -> int:
    """Give which of so many background pairs are kept: each tenth, or more if that were too few."""
    return min(HELD_OUT, background // FEW) if background >= 2 * FEW else HELD_OUT


def calibrated(
    held_out: HeldOut,
    known: LabelledPairs,
    n: int,
    *,
    prior: tuple[float, float] = (PRIOR_MEAN, PRIOR_DEVIATION),
) -> Calibration:
    """Fit slope and intercept to scores that a method gave to what it had not learned from.

    Only labels count that a person picked, or that were drawn, and that speak of pairs like the
    open ones. Labels that follow from others score too high. Negatives that are positives turned
    round tell which order is right, and not how rare prerequisites are.
    """
    z, labels = log_odds(held_out.scores), held_out.labels
    positive = labels.labels == 1
    if len(held_out.background) < FEW:
        return fit_to_labels(z, labels.labels)
    turned = np.isin(pair_codes(labels.pairs[:, ::-1]), pair_codes(known.positives))
    is_open = ~follows_from_others(labels.pairs, known, n)
    chosen, drawn = is_open & (labels.origin == CHOSEN), is_open & (labels.origin == DRAWN)
    # So that ten drawn labels say as much as ten others, however many pairs they stand for.
    weights = 1 / labels.chance[drawn]
    scored = Scored(
        z[chosen & positive],
        z[chosen & ~positive & ~turned],
        log_odds(held_out.background),
        z[drawn],
        labels.labels[drawn].astype(np.float64),
        weights / weights.mean() if len(weights) else weights,
    )
    calibration = fit_to_map(scored, int(open_pairs(known, n).sum()), prior=prior)
    if not enough_to_choose(known.labels):  # they rank pairs, and cannot tell how many hold
        return replace(calibration, base_rate=None, interval=None, believed=None)
    return calibration
