"""What all methods share: how one is fitted, what it reports, and how it is given back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.errors import BundleError
from proprl.evaluation.metrics import best_threshold, enough_to_choose
from proprl.graphs.evidence import Evidence
from proprl.models.base import (
    FitReport,
    PairScorer,
    Presets,
    Settings,
    State,
    label_weights,
    training_rows,
)
from proprl.models.needs import SUPERVISED
from proprl.progress import SILENT, Progress
from proprl.training.bundle import pack_evidence, unpack_evidence
from proprl.training.checkpoint import Checkpoint

SCORED_AT_ONCE = 4_096
"""Pairs scored at once: bounds the memory that their numbers take."""


@dataclass(frozen=True)
class Task:
    """What a fit is given."""

    evidence: Evidence
    split: PairSplit
    background: IntArray | None
    seed: int
    progress: Progress
    checkpoint: Checkpoint | None

    @cached_property
    def rows(self) -> LabelledPairs:
        """The rows to learn from; see `training_rows`."""
        return training_rows(self.split, self.background)

    @cached_property
    def class_weights(self) -> tuple[float, float]:
        """The weights of label 0 and of label 1; see `label_weights`."""
        return label_weights(self.split.train)

    @property
    def row_weights(self) -> FloatArray:
        """The weight of each row's label: (m,)."""
        return np.asarray(self.class_weights)[self.rows.labels]

    def report(self, views: tuple[str, ...] = (), **chosen: Any) -> FitReport:
        """Give a report of a method that can use these views, with what it has chosen."""
        present = self.evidence.views
        return FitReport(
            views=tuple(view for view in views if view in present),
            missing_views=tuple(view for view in views if view not in present),
            class_weights=self.class_weights,
            **chosen,
        )


class Scorer(PairScorer, ABC):
    """What every method derives from.

    A method says how it learns (`learn`) and scores (`score`), what it keeps (`state`), and how it
    takes that up again (`take_up`).
    """

    settings_type: ClassVar[type[Settings]] = Settings
    presets: ClassVar[Presets] = {"default": {}}
    needs = SUPERVISED
    takes_background = True

    def __init__(self, settings: Any, *, device: str = "auto") -> None:  # noqa: ARG002 - networks'
        self.settings = settings
        self.report = FitReport()

    def fit(
        self,
        evidence: Evidence,
        split: PairSplit,
        *,
        background: IntArray | None = None,
        seed: int,
        progress: Progress = SILENT,
        checkpoint: Checkpoint | None = None,
    ) -> FitReport:
        """Learn from the training rows, choose on the validation pairs, and keep the report."""
        self.report = self.learn(Task(evidence, split, background, seed, progress, checkpoint))
        return self.report

    @abstractmethod
    def learn(self, task: Task) -> FitReport:
        """Learn, and give the report."""

    def details(self, pairs: IntArray) -> dict[str, FloatArray]:  # noqa: ARG002
        """Give nothing: the score has no parts."""
        return {}

    @classmethod
    def restore(cls, settings: Any, state: State, report: FitReport, *, device: str) -> Self:
        """Give back the fitted method that `state` was taken from."""
        scorer = cls(settings, device=device)
        scorer.report = report
        scorer.take_up(state)
        return scorer

    @abstractmethod
    def take_up(self, state: State) -> None:
        """Take up what `state` gave; `report` is there already."""

    def best_threshold(self, validation: LabelledPairs, otherwise: float = 0.5) -> float:
        """Give the threshold that does best on these pairs; `otherwise` where they are too few."""
        if not enough_to_choose(validation.labels):
            return otherwise
        return best_threshold(validation.labels, self.score(validation.pairs))


def as_kept(evidence: Evidence) -> Evidence:
    """Give evidence as a bundle keeps it: so a loaded model sees the same numbers."""
    readings = evidence.readings
    return replace(
        evidence,
        features=evidence.features.astype(np.float32),
        resource_features=None,
        readings=None if readings is None else readings.astype(np.float16),
    )


def pack_known(evidence: Evidence, known: LabelledPairs) -> dict[str, FloatArray]:
    """Give the evidence and the known labels as named arrays."""
    labels = {"known/pairs": known.pairs, "known/labels": known.labels}
    return {**pack_evidence(evidence), **labels}


def unpack_known(state: State) -> tuple[Evidence, LabelledPairs]:
    """Give back what `pack_known` made arrays of."""
    evidence = unpack_evidence(state)
    pairs, labels = (state[f"known/{part}"].astype(np.int64) for part in ("pairs", "labels"))
    if (pairs >= evidence.concept_count).any():
        raise BundleError("a known label names a concept row that is not there")
    return evidence, LabelledPairs(pairs, labels)
