"""One run of an experiment: what determines it, and what comes out."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import torch

from proprl.data.bundled import load_course
from proprl.data.course import Course
from proprl.data.public import BENCHMARKS, load_benchmark
from proprl.data.splits.folds import leak_free_folds, new_concept_splits, with_fewer_labels
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit, given_split
from proprl.errors import DivergedError, ProprlError
from proprl.evaluation.memoriser import memorised_labels
from proprl.evaluation.metrics import evaluate_scores
from proprl.experiments.running.fit import among, background_of, fit_as_asked
from proprl.experiments.running.memory import PeakMemory
from proprl.experiments.running.rows import row_of
from proprl.experiments.running.similarity import SimilarityWatch
from proprl.experiments.running.whole_map import WHOLE_MAP, map_result, map_split
from proprl.features.gather import gather_evidence
from proprl.features.readings import NOBODY
from proprl.fitted import Fitted
from proprl.graphs.evidence import Evidence
from proprl.models.base import PairScorer
from proprl.models.registry import method, method_settings
from proprl.progress import SILENT

PROTOCOLS = ("published", "leak-free", "new-concepts")
FOLDS = 10
FEWEST = 5
"""Where labels are taken away, so many training pairs of each label must be left."""
# Raised whenever the meaning of a result changes, so that old results are not taken for new.
VERSION = 4
# The same for a single method, when it comes to other results with the same settings.
REVISIONS = {"sequitur": 12, "trees": 2}
# What runs could not be told apart by when others were kept; as it is here, it names nothing.
LATER: dict[str, Any] = {"background": "none", "refit": False}


@dataclass(frozen=True)
class Run:
    """Everything that determines one result."""

    method: str
    course: str
    """The name of a public set, of a bundled course, or a folder."""
    protocol: str = "published"
    fold: int = 0
    """Which fold (leak-free) or draw (new-concepts, whole-map); 0 under `published`."""
    seed: int = 0
    preset: str = "default"
    changes: dict[str, Any] = field(default_factory=dict)
    alignment: str = "fixed"
    encoder: str = "auto"
    shuffled_labels: bool = False
    """A control: labels that say nothing must teach nothing."""
    part: Literal["test", "validation", "development"] = "test"
    """The pairs that are scored; what is to be chosen is chosen on validation, or on the
    development half of a map."""
    watched: bool = False
    """Whether the similarity of pairs is followed from epoch to epoch."""
    label_share: float = 1.0
    """The share of the training and validation pairs that is known."""
    background: Literal["none", "auto"] = "none"
    """Whether unlabelled pairs are learned from; on a whole map they always are."""
    refit: bool = False
    """Whether it learns from training and validation pairs, once validation pairs chose."""

    @property
    def row(self) -> str:
        """The row of a table that the run belongs to.

        >>> Run("svm", "mooc").row, Run("svm", "mooc", refit=True).row
        ('svm', 'svm+refit')
        """
        return row_of(asdict(self))

    def __str__(self) -> str:
        """Name the run as one line of a progress bar or an error does."""
        words = {"published": f"seed {self.seed}", WHOLE_MAP: f"{self.part}, draw {self.fold}"}
        repeat = words.get(self.protocol, f"fold {self.fold}")
        fewer = "" if self.label_share == 1 else f", {self.label_share:.3g} of its labels"
        return f"{self.row} on {self.course}, {repeat}{fewer}"

    def key(self, data: str) -> str:
        """Give the name under which the result on that data is kept.

        A preset may change from one version to the next; what it stands for is what counts.
        """
        settings = method_settings(self.method, self.preset, **self.changes).model_dump(mode="json")
        parts = {**asdict(self), "settings": settings, "data": data, "version": VERSION}
        for name, usual in LATER.items():
            if parts[name] == usual:
                del parts[name]
        if self.method in REVISIONS:
            parts["revision"] = REVISIONS[self.method]
        text = json.dumps(parts, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


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


def split_of(run: Run, course: Course) -> PairSplit:
    """Give the split that the protocol asks for."""
    if run.protocol == WHOLE_MAP:
        return map_split(run, course)
    labelled = course.labelled_pairs()
    if run.protocol == "published":
        parts = course.split_column()
        if parts is None:
            raise ProprlError(f"{course.name} has no published split: its pairs name no parts")
        split = given_split(labelled, parts)
    elif run.protocol == "leak-free":
        split = leak_free_folds(labelled, folds=FOLDS)[run.fold]
    elif run.protocol == "new-concepts":
        split = new_concept_splits(labelled, repeats=run.fold + 1)[run.fold]
    else:
        known = ", ".join(PROTOCOLS)
        raise ProprlError(f"there is no protocol {run.protocol!r}; known: {known}")
    if run.label_share < 1:
        split = with_fewer_labels(split, run.label_share)
    return _shuffled(split, run.seed) if run.shuffled_labels else split


def scored_part(run: Run, split: PairSplit) -> LabelledPairs:
    """Give the pairs of a split that the run is judged by."""
    if run.protocol == WHOLE_MAP:
        return split.test  # `part` says there which half of the map is asked
    part: LabelledPairs = getattr(split, run.part)
    return part


def execute(run: Run, root: str | None = None) -> dict[str, Any]:
    """Fit, score one part of the split once, and give the metrics and what they cost.

    On one thread: sums over more depend on their number, and a result must not.
    """
    torch.set_num_threads(1)
    course = course_of(run.course, run.alignment, root)
    settings = method_settings(run.method, run.preset, **run.changes)
    evidence, encoder = evidence_of(run.course, run.alignment, root, run.encoder, settings.read_by)
    if run.protocol == WHOLE_MAP:
        return map_result(run, course, evidence, encoder, settings)
    split = split_of(run, course)
    if run.label_share < 1 and np.bincount(split.train.labels, minlength=2).min() < FEWEST:
        return _nothing_learned(run, encoder, split)
    scorer = method(run.method)(settings, device="cpu")
    watch = SimilarityWatch(scorer, evidence.features, split) if run.watched else None
    background = background_of(run, scorer, split, evidence.concept_count)
    _warm_up()
    memory = PeakMemory()
    started = time.perf_counter()
    try:
        fit = fit_as_asked(run, scorer, evidence, split, background, watch or SILENT)
    except DivergedError as error:
        if run.part != "validation":
            raise
        return _useless(run, encoder, error, time.perf_counter() - started)
    fitted = time.perf_counter()
    part = scored_part(run, split)
    forward = fit.score(part.pairs)
    scored = time.perf_counter()
    reverse = fit.score(part.pairs[:, ::-1].copy())
    threshold = fit.report.threshold
    metrics = evaluate_scores(part.labels, forward, reverse, pairs=part.pairs, threshold=threshold)
    model = Fitted.on(
        course,
        evidence,
        method=run.method,
        preset=run.preset,
        settings=settings,
        seed=run.seed,
        fit=fit,
        split=split,
        background=0 if background is None else len(background),
        encoder=encoder,
        notes=(),
    )
    return {
        "run": asdict(run),
        "encoder": encoder,
        "metrics": metrics,
        "threshold": threshold,
        "labels": part.labels.tolist(),
        "known_labels": len(split.train) + len(split.validation),
        "memorised": memorised_labels(split.train, part.pairs),
        "scores": {"forward": forward.tolist(), "reverse": reverse.tolist()},
        "train_seconds": fitted - started,
        "score_seconds": scored - fitted,
        "peak_memory_mb": memory.growth_mb(),
        "parameters": _parameters(fit.scorer),
        "bundle_mb": model.size / 1e6,
        "epochs": len(fit.report.history.epochs),
        **({} if background is None else {"background": among(background, part)}),
        **({"similarity": watch.seen} if watch else {}),
    }


def _parameters(scorer: PairScorer) -> int:
    """Count the parameters of a network; a method without one has none."""
    return sum(v.size for name, v in scorer.state().items() if name.startswith("network/"))


def _nothing_learned(run: Run, encoder: str, split: PairSplit) -> dict[str, Any]:
    """Give the result of a run to which too few labels were left: no metric has a value."""
    return {
        "run": asdict(run),
        "encoder": encoder,
        "metrics": dict.fromkeys(("accuracy", "f1", "auc", "ordered_share")),
        "known_labels": len(split.train) + len(split.validation),
        "train_seconds": 0.0,
        "score_seconds": 0.0,
    }


def _useless(run: Run, encoder: str, error: DivergedError, seconds: float) -> dict[str, Any]:
    """Give the result of settings that do not learn: where some are chosen, the last choice."""
    return {
        "run": asdict(run),
        "encoder": encoder,
        "metrics": {"auc": 0.0},
        "diverged": str(error),
        "train_seconds": seconds,
        "score_seconds": 0.0,
    }


@lru_cache(maxsize=1)
def _warm_up() -> None:
    """Let torch load what it loads at a first step: seconds and 80 MB that are no run's own."""
    w = torch.ones(1, requires_grad=True)
    optimiser = torch.optim.Adam([w], fused=True)
    w.sum().backward()  # type: ignore[no-untyped-call]
    optimiser.step()


def _shuffled(split: PairSplit, seed: int) -> PairSplit:
    rng = np.random.default_rng(seed)

    def shuffle(part: LabelledPairs) -> LabelledPairs:
        return LabelledPairs(part.pairs, rng.permutation(part.labels))

    return PairSplit(
        shuffle(split.train),
        shuffle(split.validation),
        split.test,
        split.protocol,
        promises_reversed=split.promises_reversed,
    )
