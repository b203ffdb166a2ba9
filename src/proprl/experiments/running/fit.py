"""The fit of one run: with background or without, on train alone or on train and validation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from proprl.arrays import IntArray
from proprl.calibrating import Fit, fit_scorer
from proprl.data.splits.grouping import pair_codes
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.graphs.evidence import Evidence
from proprl.models.base import CrossFits, PairScorer
from proprl.models.registry import method, method_settings
from proprl.pairs.background import draw_background
from proprl.progress import Progress

if TYPE_CHECKING:
    from proprl.experiments.running.execute import Run


def background_of(run: Run, scorer: PairScorer, split: PairSplit, n: int) -> IntArray | None:
    """Give the background of a run as "auto" draws it; None where the method takes none."""
    if run.background == "none" or not scorer.takes_background:
        return None
    return draw_background(split.train.joined(split.validation), n, seed=run.seed)


def among(background: IntArray, part: LabelledPairs) -> dict[str, int]:
    """Count the background, and what of the scored pairs was taken for it: nobody said which."""
    taken = np.isin(pair_codes(part.pairs), pair_codes(background))
    positives = int((taken & (part.labels == 1)).sum())
    return {"pairs": len(background), "scored": int(taken.sum()), "scored_positives": positives}


def fit_as_asked(
    run: Run,
    scorer: PairScorer,
    evidence: Evidence,
    split: PairSplit,
    background: IntArray | None,
    progress: Progress,
) -> Fit:
    """Fit once, and again where the run is about other labels than a user's fit learns from."""
    fit = fit_scorer(
        scorer, evidence, split, background=background, seed=run.seed, progress=progress
    )
    # Who learns from validation pairs must not be judged by them.
    blind = run.part == "validation" and isinstance(scorer, CrossFits)
    if not run.refit and not blind:
        return fit
    train = split.train.joined(split.validation) if run.refit else split.train
    split = replace(split, train=train, validation=LabelledPairs.empty())
    settings = method_settings(run.method, run.preset, **run.changes)
    again = fit_scorer(
        method(run.method)(settings, device="cpu"),
        evidence,
        split,
        background=background,
        seed=run.seed,
    )
    if blind:
        return again
    # Chosen before, on pairs that were not learned from then.
    return replace(again, report=replace(again.report, threshold=fit.report.threshold))
