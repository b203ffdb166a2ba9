"""The one fit: from a course to a fitted model.

`prepare` gathers what a course says, `fit_prepared` learns from it, `fit` does both. The
estimator calls `fit`; the experiments keep what is prepared, and time only what is learned.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from proprl.arrays import IntArray
from proprl.calibrating import fit_scorer
from proprl.cautions import cautions
from proprl.data.course import Course
from proprl.data.named_pairs import NamedPairs, background_rows
from proprl.data.splits.course_split import split_course
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit, refuse_single_class
from proprl.errors import ProprlError
from proprl.features.gather import NONE, gather_evidence
from proprl.features.reader import NOBODY, resolve_reader
from proprl.fitted import Fitted
from proprl.graphs.evidence import Evidence
from proprl.models.base import PairScorer, Settings
from proprl.models.needs import FEATURES, LABELS, check_inputs, offered_inputs
from proprl.models.registry import method, method_settings
from proprl.pairs.background import draw_background
from proprl.progress import SILENT, Progress
from proprl.training.checkpoint import Checkpoint

Unlabelled: TypeAlias = NamedPairs | Literal["auto"] | None
"""Pairs without a label, as `NamedPairs`; "auto" draws them, None means none."""


@dataclass(frozen=True)
class Choices:
    """What a person chooses before a fit; see `PrerequisiteModel`."""

    method: str = "sequitur"
    preset: str = "default"
    settings: Mapping[str, Any] | None = None
    """In what the method departs from its preset."""
    encoder: str = "auto"
    split: str = "auto"
    seed: int = 42
    device: str = "auto"


AS_USUAL = Choices()


@dataclass(frozen=True)
class Prepared:
    """A method with its settings, and all that a course tells it apart from labels."""

    course: Course
    method: str
    preset: str
    settings: Settings
    evidence: Evidence
    encoder: str

    def scorer(self, device: str = "auto") -> PairScorer:
        """Give a scorer that has learned nothing yet."""
        return method(self.method)(self.settings, device=device)


@dataclass(frozen=True)
class Kept:
    """Where an interrupted fit is kept, and whether it goes on from there."""

    folder: Path
    resume: bool = False


def prepare(
    course: Course, choices: Choices = AS_USUAL, *, progress: Progress = SILENT
) -> Prepared:
    """Gather what a method needs of a course; an input that is missing is named, with a remedy."""
    return _gathered(course, choices, _checked(course, choices), progress)


def _gathered(course: Course, choices: Choices, settings: Settings, progress: Progress) -> Prepared:
    """Gather what a method needs of a course that was found to have it."""
    evidence, encoder = gather_evidence(
        course,
        choices.encoder if FEATURES in method(choices.method).needs else NONE,
        reader=settings.read_by,
        progress=progress,
    )
    return Prepared(course, choices.method, choices.preset, settings, evidence, encoder)


def auto_background(
    name: str, known: LabelledPairs, concepts: int, *, seed: int
) -> IntArray | None:
    """Draw background (k, 2) for a method; None for one that learns nothing from it."""
    if not method(name).takes_background:
        return None
    return draw_background(known, concepts, seed=seed)


def fit_prepared(
    prepared: Prepared,
    split: PairSplit,
    *,
    background: IntArray | None = None,
    background_chosen: bool = False,
    seed: int,
    scorer: PairScorer | None = None,
    device: str = "auto",
    progress: Progress = SILENT,
    kept: Kept | None = None,
) -> Fitted:
    """Learn from the labels of a split, and from background: pairs without a label (k, 2).

    `background_chosen` says that a person chose these pairs: the model then warns of it. Who
    wants to watch a scorer while it learns gives an unfitted one.
    """
    known = split.train.joined(split.validation)
    fit = fit_scorer(
        scorer or prepared.scorer(device),
        prepared.evidence,
        split,
        background=background,
        seed=seed,
        progress=progress,
        checkpoint=_checkpoint(kept, prepared, split, background, seed),
    )
    count = None if background is None else len(background)
    notes = cautions(prepared.method, fit, known, count, given=background_chosen)
    return Fitted.on(
        prepared.course,
        prepared.evidence,
        method=prepared.method,
        preset=prepared.preset,
        settings=prepared.settings,
        seed=seed,
        fit=fit,
        split=split,
        background=count or 0,
        encoder=prepared.encoder,
        notes=tuple(notes),
    )


def fit(
    course: Course,
    choices: Choices = AS_USUAL,
    *,
    background: Unlabelled = "auto",
    progress: Progress = SILENT,
    kept: Kept | None = None,
) -> Fitted:
    """Prepare a course and learn from it."""
    settings = _checked(course, choices)  # before anything takes time
    scorer_class = method(choices.method)
    parts = split_course(
        course,
        choices.split,
        labels_needed=LABELS in scorer_class.needs,
        positives_suffice=scorer_class.takes_background and background is not None,
    )
    known = parts.train.joined(parts.validation)
    unlabelled = _unlabelled(course, choices, known, background)
    return fit_prepared(
        _gathered(course, choices, settings, progress),
        parts,
        background=unlabelled,
        background_chosen=not isinstance(background, str),
        seed=choices.seed,
        device=choices.device,
        progress=progress,
        kept=kept,
    )


def _checked(course: Course, choices: Choices) -> Settings:
    """Give a method's settings; one that the course cannot serve is an error."""
    settings = method_settings(choices.method, choices.preset, **(choices.settings or {}))
    if settings.read_by != NOBODY:  # as a saved model finds it again
        settings = settings.model_copy(update={"reader": resolve_reader(settings.read_by)})
    needs = method(choices.method).needs
    offered = offered_inputs(course, needs, choices.encoder)
    check_inputs(choices.method, needs, offered, course.name)
    return settings


def _unlabelled(
    course: Course, choices: Choices, known: LabelledPairs, asked: Unlabelled
) -> IntArray | None:
    """Give the pairs without a label to learn from, as rows (k, 2); None for none at all."""
    rows, scorer_class = None, method(choices.method)
    if isinstance(asked, str) and asked == "auto":
        rows = auto_background(choices.method, known, len(course), seed=choices.seed)
    elif asked is not None:
        given = background_rows(asked, known, course.ids, course.names)
        rows = given if len(given) else None
        if rows is not None and not scorer_class.takes_background:
            raise ProprlError(
                f"{choices.method} learns nothing from pairs without a label: fit it with "
                "background=None"
            )
    if LABELS in scorer_class.needs and (rows is None or not len(rows)):
        refuse_single_class(known, course.name)
    return rows


def _checkpoint(
    kept: Kept | None,
    prepared: Prepared,
    split: PairSplit,
    background: IntArray | None,
    seed: int,
) -> Checkpoint | None:
    """Name a fit by all that determines it, so that no other one is continued."""
    if kept is None:
        return None
    run = {
        "course": prepared.course.fingerprint,
        "method": prepared.method,
        "seed": str(seed),
        "encoder": prepared.encoder,
        "split": split.protocol,
        "background": _digest(background),
        **{name: str(value) for name, value in prepared.settings.model_dump().items()},
    }
    return Checkpoint(kept.folder, run, kept.resume)


def _digest(pairs: IntArray | None) -> str:
    if pairs is None:
        return "none"
    return hashlib.sha256(np.ascontiguousarray(pairs).tobytes()).hexdigest()
