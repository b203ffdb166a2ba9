"""A method fitted, its scores made probabilities, and what to know before trusting these.

Probabilities hold for the whole map, or for pairs as people pick them. Scores of labels and
background that the method had not learned from say how sure one may be.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.labelled import CHOSEN, DRAWN, LabelledPairs, pair_codes
from proprl.data.splits.parts import PairSplit
from proprl.evaluation.base_rate import (
    PRIOR_DEVIATION,
    PRIOR_MEAN,
    Calibration,
    Scored,
    at_base_rate,
    best_expected_f1,
    fit_to_labels,
    fit_to_map,
    log_odds,
)
from proprl.evaluation.metrics import ENOUGH_TO_CHOOSE, best_threshold, enough_to_choose
from proprl.graphs.closure import BoolArray
from proprl.graphs.evidence import Evidence
from proprl.models.base import CrossFits, FitReport, HeldOut, PairScorer
from proprl.pairs.background import follows_from_others, open_pairs, with_labels
from proprl.progress import SILENT, Progress
from proprl.training.checkpoint import Checkpoint

# Of background that a method does not hold out itself, a tenth is kept for the calibration, or
# FEW_UNLABELLED pairs if that is more.
HELD_OUT = 10
# Fewer background pairs cannot tell how rare prerequisites are.
FEW_UNLABELLED = 100
# Nor can fewer labels of a kind: yes, and no that is more than a yes turned round.
FEW_LABELS = 5
# Of open pairs with a concept that no label is about, so many are scored for their calibration.
OF_NEW = 2_000
# Such pairs are prerequisites half as often as the others. On the development halves of two maps,
# with a half, a fifth and a quarter known, it was 0.37 to 0.66 times as often.
RATE_OF_NEW = 0.5
AS_PICKED = "its probabilities hold for pairs as people pick them, not for the whole map"


@dataclass(frozen=True)
class Fit:
    """A fitted method, and how its scores become probabilities."""

    scorer: PairScorer
    report: FitReport
    calibration: Calibration | None
    """None where a method's own scores are taken as they are."""
    held_out: HeldOut | None
    """Scores of labels and background that the method had not learned from, if any."""
    calibration_of_new: Calibration | None = None
    """Of pairs with a concept that no label is about; None: the same."""
    labelled: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The concepts that labels are about."""

    def score(self, pairs: IntArray) -> FloatArray:
        """Give the probability of each pair: (m, 2) -> (m,)."""
        scores = self.scorer.score(pairs)
        if self.calibration is None:
            return scores
        p = self.calibration.probability(scores)
        if self.calibration_of_new is not None:
            new = self._with_new(pairs)
            p[new] = self.calibration_of_new.probability(scores[new])
        return p

    @property
    def base_rate(self) -> float | None:
        """The share of prerequisites among open pairs; None where it cannot be told."""
        return None if self.calibration is None else self.calibration.base_rate

    def calibration_for(self, pair: IntArray) -> Calibration | None:
        """Give the calibration that judges a pair: (1, 2)."""
        new = self.calibration_of_new is not None and self._with_new(pair).any()
        return self.calibration_of_new if new else self.calibration

    def with_prior(self, prior: tuple[float, float], known: LabelledPairs, n: int) -> Fit:
        """Give the same fit, as if another base rate had been expected."""
        if self.held_out is None:
            return self
        first, of_new = calibrations(self.held_out, known, n, prior=prior)
        return replace(self, calibration=first, calibration_of_new=of_new)

    def _with_new(self, pairs: IntArray) -> BoolArray:
        new: BoolArray = np.asarray(~np.isin(pairs, self.labelled).all(axis=1))
        return new


def fit_scorer(
    scorer: PairScorer,
    evidence: Evidence,
    split: PairSplit,
    *,
    background: IntArray | None = None,
    seed: int,
    progress: Progress = SILENT,
    checkpoint: Checkpoint | None = None,
) -> Fit:
    """Fit a method on the training part, and on background; validation is for choosing.

    With background, probabilities hold for the whole map; without, for pairs as people pick them.
    """
    known, n = split.train.joined(split.validation), evidence.concept_count
    lent, kept = background, None
    crossed = isinstance(scorer, CrossFits)
    if background is not None and not crossed:
        count = len(background)
        every = min(HELD_OUT, count // FEW_UNLABELLED)
        here = np.arange(count) % (every if every > 1 else HELD_OUT) == 0
        lent, kept = background[~here], background[here]
    report = scorer.fit(
        evidence, split, background=lent, seed=seed, progress=progress, checkpoint=checkpoint
    )
    if isinstance(scorer, CrossFits):
        held_out = replace(scorer.held_out, of_new=_scores_of_new(scorer, known, n, seed))
    elif kept is not None:
        validation = split.validation
        held_out = HeldOut(validation, scorer.score(validation.pairs), scorer.score(kept))
    else:
        return Fit(scorer, report, None, None)
    calibration, of_new = calibrations(held_out, known, n)
    labels = held_out.labels.labels
    threshold = report.threshold
    if enough_to_choose(labels):
        threshold = best_threshold(labels, calibration.probability(held_out.scores))
    report = replace(report, threshold=threshold)
    return Fit(scorer, report, calibration, held_out, of_new, np.unique(known.pairs))


def _scores_of_new(scorer: PairScorer, known: LabelledPairs, n: int, seed: int) -> FloatArray:
    """Score some open pairs with a concept that no label is about: (l,)."""
    pool = np.argwhere(open_pairs(known, n) & ~with_labels(known, n)).astype(np.int64)
    drawn = np.random.default_rng(seed).permutation(len(pool))[:OF_NEW]
    return scorer.score(pool[np.sort(drawn)])


def calibrations(
    held_out: HeldOut,
    known: LabelledPairs,
    n: int,
    *,
    prior: tuple[float, float] = (PRIOR_MEAN, PRIOR_DEVIATION),
) -> tuple[Calibration, Calibration | None]:
    """Give the calibration of pairs whose concepts have labels, and that of the other pairs.

    Background shows which scores pairs get whose concepts have labels. Other pairs get other
    scores: their calibration is made to give their own base rate. Both have one threshold, because
    they speak of one map.
    """
    first = calibrated(held_out, known, n, prior=prior)
    if len(held_out.background) < FEW_UNLABELLED or not len(held_out.of_new):
        return first, None
    is_open = open_pairs(known, n)
    of_old = int((is_open & with_labels(known, n)).sum())
    first = replace(first, open_pairs=of_old)
    p_old = first.probability(held_out.background)
    of_new = at_base_rate(first, log_odds(held_out.of_new), RATE_OF_NEW * p_old.mean())
    of_new = replace(of_new, open_pairs=int(is_open.sum()) - of_old)
    if first.believed is None:
        return first, of_new
    p = p_old, of_new.probability(held_out.of_new)
    stands_for = [first.open_pairs / len(p[0]), of_new.open_pairs / len(p[1])]
    weights = np.repeat(stands_for, [len(p[0]), len(p[1])])
    believed = best_expected_f1(np.concatenate(p), weights)
    return replace(first, believed=believed), replace(of_new, believed=believed)


def calibrated(
    held_out: HeldOut,
    known: LabelledPairs,
    n: int,
    *,
    prior: tuple[float, float] = (PRIOR_MEAN, PRIOR_DEVIATION),
) -> Calibration:
    """Fit slope and intercept to scores that a method gave to what it had not learned from.

    Only labels of pairs like the open ones count, picked by a person or drawn by lot. A label that
    follows from others is left out: it scores too high. A negative that turns a positive round is
    left out too: it tells which order is right, not how rare prerequisites are.
    """
    z, labels = log_odds(held_out.scores), held_out.labels
    positive = labels.labels == 1
    if len(np.unique(labels.labels)) < 2:  # they rank pairs, and cannot tell how sure one may be
        return Calibration()
    if len(held_out.background) < FEW_UNLABELLED:
        return fit_to_labels(z, labels.labels)
    turned = np.isin(pair_codes(labels.pairs[:, ::-1]), pair_codes(known.positives))
    is_open = ~follows_from_others(labels.pairs, known, n)
    chosen, drawn = is_open & (labels.origin == CHOSEN), is_open & (labels.origin == DRAWN)
    # So that ten drawn labels say as much as ten others, however many pairs they stand for.
    weights = labels.chance[drawn].min(initial=1) / labels.chance[drawn]
    scored = Scored(
        z[chosen & positive],
        z[chosen & ~positive & ~turned],
        log_odds(held_out.background),
        z[drawn],
        labels.labels[drawn].astype(np.float64),
        weights / weights.mean() if len(weights) else weights,
    )
    calibration = fit_to_map(scored, int(open_pairs(known, n).sum()), prior=prior)
    of_each = min(len(scored.positive), len(scored.negative))
    if of_each < FEW_LABELS and len(scored.drawn) < ENOUGH_TO_CHOOSE:
        # They rank pairs, and cannot tell how many hold.
        return replace(calibration, base_rate=None, interval=None, believed=None)
    return calibration


def cautions(
    method: str, fit: Fit, known: LabelledPairs, background: int | None, *, given: bool = False
) -> list[str]:
    """Say what limits a fit; `background` counts the pairs without a label, None: not wanted.

    `given` background was chosen by the user.
    """
    found = []
    positives = len(known.positives)
    one_sided = len(known) > 0 and positives == len(known)
    if one_sided:
        found.append(
            f"All {positives} labels say yes: pairs can be ranked, but how many prerequisites "
            "there are cannot be told, and nothing is believed. Add pairs that are none (label 0)."
        )
    if 0 < len(known) < ENOUGH_TO_CHOOSE:
        found.append(
            f"Only {len(known)} labels to learn from: every answer is little but a guess, and of "
            f"the whole map nothing is believed before there are {ENOUGH_TO_CHOOSE}."
        )
    if not fit.scorer.takes_background:
        found.append(
            f"{method} learns nothing from pairs without a label: {AS_PICKED}. In Python, "
            "model.graph(threshold=0.9) draws a map from a threshold of your own."
        )
    elif background is None:
        found.append(f"No pairs without a label were learned from: {AS_PICKED}.")
    elif not background:
        found.append(
            "Among concepts with labels no pair is left without one: how rare prerequisites are "
            f"elsewhere cannot be told, and {AS_PICKED}."
        )
    elif fit.held_out is None or len(fit.held_out.background) < FEW_UNLABELLED:
        found.append(
            f"Only {background} pairs without a label to learn from: how many prerequisites there "
            f"are cannot be told, and {AS_PICKED}. Label pairs of more concepts."
        )
    elif not one_sided and len(known) >= ENOUGH_TO_CHOOSE and fit.base_rate is None:
        found.append(
            f"Fewer than {FEW_LABELS} labels of a kind tell how rare prerequisites are: how many "
            "there are cannot be told. A label counts if a person chose its pair and it does not "
            "follow from others; a no to a prerequisite turned round does not count. Label more "
            "pairs of both kinds."
        )
    elif given:
        found.append(
            "You chose the pairs without a label: the expected number of prerequisites holds if "
            "they were drawn by lot from all pairs that no label settles."
        )
    return found
