"""One run: fit, score one part of the split once, and measure what that is worth and costs."""

from __future__ import annotations

import ctypes
import gc
import time
from contextlib import suppress
from dataclasses import asdict, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import torch

from proprl.arrays import IntArray
from proprl.bundle import bundle_size
from proprl.calibrating import Fit
from proprl.data.bundled import load_course
from proprl.data.course import Course
from proprl.data.public import BENCHMARKS, load_benchmark
from proprl.data.splits.labelled import LabelledPairs, pair_codes
from proprl.data.splits.parts import PairSplit
from proprl.errors import DivergedError
from proprl.evaluation.metrics import evaluate_scores
from proprl.evaluation.rules import memorised_labels
from proprl.experiments.running.protocols import scored_part, split_of
from proprl.experiments.running.reasons import reasons_result
from proprl.experiments.running.run import REASONS, WHOLE_MAP, Result, Run
from proprl.experiments.running.similarity import SimilarityWatch
from proprl.experiments.running.whole_map import map_result
from proprl.features.gather import gather_evidence
from proprl.features.reader import NOBODY
from proprl.fitted import Fitted
from proprl.fitting import Prepared, auto_background, fit_prepared
from proprl.graphs.evidence import Evidence
from proprl.models.base import CrossFits, PairScorer
from proprl.models.registry import method_settings
from proprl.progress import SILENT, Progress

PROCESS = Path("/proc/self")
FEWEST_OF_A_LABEL = 5
"""Where labels are taken away, at least this many training pairs of each label must be left."""


@lru_cache(maxsize=8)
def course_of(name: str, alignment: str, root: str | None) -> Course:
    """Give the course of that name; public sets come from `root`."""
    if name in BENCHMARKS:
        return load_benchmark(name, root, alignment=alignment)  # type: ignore[arg-type]
    return load_course(name)


@lru_cache(maxsize=8)
def evidence_of(
    name: str, alignment: str, root: str | None, encoder: str, reader: str = NOBODY
) -> tuple[Evidence, str]:
    """Give a course's evidence; texts are encoded once and shared by all runs of a process."""
    return gather_evidence(course_of(name, alignment, root), encoder, reader=reader)


def execute(run: Run, root: str | None = None) -> Result:
    """Give the metrics of a run, what they were computed from, and what the run cost.

    It runs on one thread: sums over several threads depend on their number.
    """
    torch.set_num_threads(1)
    course = course_of(run.course, run.alignment, root)
    settings = method_settings(run.method, run.preset, **run.changes)
    evidence, encoder = evidence_of(run.course, run.alignment, root, run.encoder, settings.read_by)
    prepared = Prepared(course, run.method, run.preset, settings, evidence, encoder)
    if run.protocol == WHOLE_MAP:
        return map_result(run, prepared)
    split = split_of(run, course)
    if run.protocol == REASONS:
        background = _background_of(run, split, evidence.concept_count)
        return reasons_result(run, prepared, split, background)
    known = len(split.train) + len(split.validation)
    told = {"run": asdict(run), "encoder": encoder, "known_labels": known}
    fewest = np.bincount(split.train.labels, minlength=2).min()
    if run.label_share < 1 and fewest < FEWEST_OF_A_LABEL:
        no_metric = dict.fromkeys(("accuracy", "f1", "auc", "ordered_share"))
        return {**told, "metrics": no_metric, "train_seconds": 0.0, "score_seconds": 0.0}
    scorer = prepared.scorer("cpu")
    watch = SimilarityWatch(scorer, evidence.features, split) if run.watched else None
    background = _background_of(run, split, evidence.concept_count)
    _warm_up()
    memory = PeakMemory()
    started = time.perf_counter()
    try:
        model = _fitted(run, prepared, split, background, scorer, watch or SILENT)
    except DivergedError as error:
        if run.part != "validation":
            raise
        # Where settings are chosen, those that do not learn come last.
        told |= {"metrics": {"auc": 0.0}, "diverged": str(error)}
        return {**told, "train_seconds": time.perf_counter() - started, "score_seconds": 0.0}
    seconds = time.perf_counter() - started
    part = scored_part(run, split)
    return {
        **told,
        **_judged(model.fit, part),
        "memorised": memorised_labels(split.train, part.pairs),
        "train_seconds": seconds,
        "peak_memory_mb": memory.growth_mb(),
        "bundle_mb": bundle_size(model) / 1e6,
        **({} if background is None else {"background": _among(background, part)}),
        **({"similarity": watch.seen} if watch else {}),
    }


def _judged(fit: Fit, part: LabelledPairs) -> Result:
    """Score pairs in both orders, and give the metrics of the scores."""
    started = time.perf_counter()
    forward = fit.score(part.pairs)
    seconds = time.perf_counter() - started
    reverse = fit.score(part.pairs[:, ::-1].copy())
    threshold = fit.report.threshold
    network = (v for name, v in fit.scorer.state().items() if name.startswith("network/"))
    return {
        "metrics": evaluate_scores(
            part.labels, forward, reverse, pairs=part.pairs, threshold=threshold
        ),
        "threshold": threshold,
        "labels": part.labels.tolist(),
        "scores": {"forward": forward.tolist(), "reverse": reverse.tolist()},
        "score_seconds": seconds,
        "parameters": sum(values.size for values in network),  # 0 where there is no network
    }


def _fitted(
    run: Run,
    prepared: Prepared,
    split: PairSplit,
    background: IntArray | None,
    scorer: PairScorer,
    progress: Progress,
) -> Fitted:
    """Fit as a user would, and fit again where other labels are to be learned from.

    A refit learns from validation pairs too. A run that is judged by validation pairs must not
    learn from them.
    """
    fit = partial(fit_prepared, prepared, background=background, seed=run.seed)
    first = fit(split, scorer=scorer, progress=progress)
    blind = run.part == "validation" and isinstance(scorer, CrossFits)
    if not run.refit and not blind:
        return first
    train = split.train.joined(split.validation) if run.refit else split.train
    again = fit(replace(split, train=train, validation=LabelledPairs.empty()), device="cpu")
    if blind:
        return again
    # The first fit chose the threshold, on pairs that it had not learned from.
    report = replace(again.report, threshold=first.report.threshold)
    return replace(again, fit=replace(again.fit, report=report))


def _background_of(run: Run, split: PairSplit, n: int) -> IntArray | None:
    """Draw the background of a run; None where it learns from none."""
    if run.background == "none":
        return None
    known = split.train.joined(split.validation)
    return auto_background(run.method, known, n, seed=run.seed)


def _among(background: IntArray, part: LabelledPairs) -> dict[str, int]:
    """Count the background, and the scored pairs that are among it."""
    taken = np.isin(pair_codes(part.pairs), pair_codes(background))
    positives = int((taken & (part.labels == 1)).sum())
    return {"pairs": len(background), "scored": int(taken.sum()), "scored_positives": positives}


@lru_cache(maxsize=1)
def _warm_up() -> None:
    """Let torch load what it loads at its first step: its seconds and 80 MB belong to no run."""
    w = torch.ones(1, requires_grad=True)
    optimiser = torch.optim.Adam([w], fused=True)
    w.sum().backward()  # type: ignore[no-untyped-call]
    optimiser.step()


class PeakMemory:
    """Watches the process' resident memory from now on; on Linux only.

    Other systems cannot forget the peak so far. A run would hide behind the peaks of earlier runs
    in the same process, so nothing is measured there.
    """

    def __init__(self) -> None:
        _give_back()
        try:
            (PROCESS / "clear_refs").write_text("5")  # see proc(5): resets VmHWM
            self.before: int | None = _kib("VmRSS")
        except OSError:
            self.before = None

    def growth_mb(self) -> float | None:
        """Give by how many MB the peak since the start exceeds what was in use at the start."""
        return None if self.before is None else (_kib("VmHWM") - self.before) * 1024 / 1e6


def _give_back() -> None:
    """Return freed memory to the system: if it were used again, that would not count as growth."""
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library has no such call
        ctypes.CDLL(None).malloc_trim(0)


def _kib(field: str) -> int:
    for line in (PROCESS / "status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1])
    raise OSError(f"{PROCESS}/status does not tell {field}")
