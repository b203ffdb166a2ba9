"""The one fit: from a course to a fitted model.

`prepare` gathers what a course says, `fit_prepared` learns from it, `fit` does both. The
estimator calls `fit`; the experiments keep what is prepared, and time only what is learned.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from proprl.arrays import IntArray
from proprl.calibrating import cautions, fit_scorer
from proprl.data.course import Course
from proprl.data.lookup import NamedPairs, background_rows
from proprl.data.resources import resources_of
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit, refuse_single_class, split_course
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


@dataclass(eq=False, repr=False)
class Choices:
    """What a person chooses before a fit; see `PrerequisiteModel`."""

    method: str = "sequitur"
    _: KW_ONLY
    preset: str = "default"
    seed: int = 42
    encoder: str = "auto"
    split: str = "auto"
    settings: Mapping[str, Any] | None = None
    device: str = "auto"


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


def prepare(course: Course, choices: Choices, *, progress: Progress = SILENT) -> Prepared:
    """Gather what a method needs of a course; an input that is missing is named, with a remedy."""
    return _gathered(course, choices, _checked(course, choices), progress)


def _checked(course: Course, choices: Choices) -> Settings:
    """Give a method's settings; one that the course cannot serve is an error."""
    settings = method_settings(choices.method, choices.preset, **(choices.settings or {}))
    if settings.read_by != NOBODY:  # as a saved model finds it again
        settings = settings.model_copy(update={"reader": resolve_reader(settings.read_by)})
    needs = method(choices.method).needs
    offered = offered_inputs(course, needs, choices.encoder)
    check_inputs(choices.method, needs, offered, course.name)
    return settings


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
    checkpoint: Checkpoint | None = None,
) -> Fitted:
    """Learn from the labels of a split, and from background: pairs without a label (k, 2).

    `background_chosen` says that a person chose these pairs: the model then warns of it. Who
    wants to watch a scorer while it learns gives an unfitted one.
    """
    course, evidence = prepared.course, prepared.evidence
    fit = fit_scorer(
        scorer or prepared.scorer(device),
        evidence,
        split,
        background=background,
        seed=seed,
        progress=progress,
        checkpoint=checkpoint,
    )
    known = split.train.joined(split.validation)
    count = None if background is None else len(background)
    return Fitted(
        method=prepared.method,
        preset=prepared.preset,
        settings=prepared.settings,
        seed=seed,
        fit=fit,
        split=split,
        background=count or 0,
        concept_ids=course.ids,
        concept_names=course.names,
        encoder=prepared.encoder,
        course_name=course.name,
        course_subject=course.subject,
        course_fingerprint=course.fingerprint,
        notes=tuple(cautions(prepared.method, fit, known, count, given=background_chosen)),
        transitions=evidence.transitions,
        incidence=evidence.incidence,
        topics=course.topics,
    )


def fit(
    course: Course,
    choices: Choices,
    *,
    background: Unlabelled = "auto",
    progress: Progress = SILENT,
    checkpoint: Path | None = None,
    resume: bool = False,
) -> Fitted:
    """Prepare a course and learn from it; with `checkpoint`, an interrupted fit can be resumed."""
    settings = _checked(course, choices)  # before anything takes time
    scorer_class = method(choices.method)
    split = split_course(
        course,
        choices.split,
        labels_needed=LABELS in scorer_class.needs,
        positives_suffice=scorer_class.takes_background and background is not None,
    )
    unlabelled = _unlabelled(course, choices, split.train.joined(split.validation), background)
    prepared = _gathered(course, choices, settings, progress)
    kept = None
    if checkpoint is not None:
        run = _run(prepared, split, unlabelled, choices.seed)
        kept = Checkpoint(checkpoint, run, resume)
    # Experiments, which give nobody reasons, are spared this.
    resources = resources_of(course, prepared.evidence.incidence, progress)
    fitted = fit_prepared(
        prepared,
        split,
        background=unlabelled,
        background_chosen=not isinstance(background, str),
        seed=choices.seed,
        device=choices.device,
        progress=progress,
        checkpoint=kept,
    )
    return replace(fitted, resources=resources)


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


def _run(
    prepared: Prepared, split: PairSplit, background: IntArray | None, seed: int
) -> dict[str, str]:
    """Name a fit by all that determines it, so that no other one is continued."""
    rows = None if background is None else np.ascontiguousarray(background).tobytes()
    return {
        "course": prepared.course.fingerprint,
        "method": prepared.method,
        "seed": str(seed),
        "encoder": prepared.encoder,
        "split": split.protocol,
        "background": "none" if rows is None else hashlib.sha256(rows).hexdigest(),
        **{name: str(value) for name, value in prepared.settings.model_dump().items()},
    }
