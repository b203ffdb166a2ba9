"""What the classical methods share: an ordered pair as one vector, and how it is kept.

A pair (a, b) becomes x = [e_a; e_b], standardised on the training pairs, so that the two halves
keep the order of the pair. A method adds what it learns from such vectors (`learn`) and what it
makes of them (`probability`). Everything learned is named arrays, and scores are computed from
those arrays at once: a model that was saved and loaded cannot score otherwise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.evaluation.metrics import best_threshold, enough_to_choose
from proprl.graphs.evidence import Evidence
from proprl.models.base import FitReport, Settings, label_weights, training_rows
from proprl.models.needs import SUPERVISED
from proprl.progress import SILENT, Progress
from proprl.training.checkpoint import Checkpoint

Parameters: TypeAlias = dict[str, Any]
"""What a method has learned: named arrays."""

CONCEPTS = "concepts/"
# Pairs scored at once: bounds the memory that their features take.
SCORED_AT_ONCE = 4_096


@dataclass(frozen=True)
class Lesson:
    """What a classical method learns from."""

    pairs: IntArray  # (m, 2)
    x: FloatArray  # (m, 2d), their features, standardised
    y: IntArray  # (m,)
    class_weights: tuple[float, float]
    validation_x: FloatArray
    validation_y: IntArray
    seed: int

    @property
    def sample_weights(self) -> FloatArray:
        """The weight of each training pair."""
        return np.asarray(self.class_weights)[self.y]

    @property
    def can_choose(self) -> bool:
        """Whether the validation pairs are enough to choose by."""
        return enough_to_choose(self.validation_y)


class ClassicalScorer(ABC):
    """A classifier on [e_a; e_b]; see `proprl.models.base.PairScorer`."""

    settings_type: ClassVar[type[Settings]] = Settings
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"default": {}}
    needs: ClassVar[frozenset[str]] = SUPERVISED
    takes_background: ClassVar[bool] = True

    X: FloatArray  # (n, d), as the encoder gave it
    mean: FloatArray  # (2d,) of the training pairs
    scale: FloatArray  # (2d,)
    learned: Parameters

    def __init__(self, settings: Any, *, device: str = "auto") -> None:
        self.settings = settings
        self.device = device  # nothing here runs on a device; kept for the contract
        self.report = FitReport()

    @abstractmethod
    def learn(self, lesson: Lesson) -> tuple[Parameters, dict[str, float | str]]:
        """Give what is learned, as named arrays, and what is worth telling about it."""

    @abstractmethod
    def probability(self, x: FloatArray, learned: Parameters) -> FloatArray:
        """Give the probability of label 1 for each row of pair features: (m, 2d) -> (m,)."""

    def fit(
        self,
        evidence: Evidence,
        split: PairSplit,
        *,
        background: IntArray | None = None,
        seed: int,
        progress: Progress = SILENT,
        checkpoint: Checkpoint | None = None,  # noqa: ARG002 - a fit is one step
    ) -> FitReport:
        """Learn from the training rows; choose the threshold on the validation pairs."""
        progress.begin("fitting", 1)
        self.X = evidence.features.astype(np.float32)
        self._standardise(split.train)  # not on background, which changes no column
        rows = training_rows(split, background)
        class_weights = label_weights(split.train)
        lesson = Lesson(
            pairs=rows.pairs,
            x=self.pair_features(rows.pairs),
            y=rows.labels,
            class_weights=class_weights,
            validation_x=self.pair_features(split.validation.pairs),
            validation_y=split.validation.labels,
            seed=seed,
        )
        self.learned, facts = self.learn(lesson)
        threshold = 0.5
        if lesson.can_choose:
            threshold = best_threshold(split.validation.labels, self.score(split.validation.pairs))
        self.report = FitReport(class_weights=class_weights, threshold=threshold, facts=facts)
        progress.step()
        progress.end()
        return self.report

    def score(self, pairs: IntArray) -> FloatArray:
        """Give the probability that source is a prerequisite of target: (m, 2) -> (m,)."""
        p = np.empty(len(pairs))
        for start in range(0, len(pairs), SCORED_AT_ONCE):
            chunk = slice(start, start + SCORED_AT_ONCE)
            p[chunk] = self.probability(self.pair_features(pairs[chunk]), self.learned)
        return p.clip(0.0, 1.0)  # rounding may lift a mean of shares a hair above 1

    def details(self, pairs: IntArray) -> dict[str, FloatArray]:  # noqa: ARG002
        """Give nothing: the score has no parts."""
        return {}

    def state(self) -> dict[str, FloatArray]:
        """Give the concepts' features and what was learned."""
        concepts = {"X": self.X, "mean": self.mean, "scale": self.scale}
        return {f"{CONCEPTS}{name}": array for name, array in concepts.items()} | self.learned

    @classmethod
    def restore(
        cls, settings: Any, state: Mapping[str, FloatArray], report: FitReport, *, device: str
    ) -> Self:
        """Give back the scorer that `state` was taken from."""
        scorer = cls(settings, device=device)
        scorer.report = report
        scorer.X, scorer.mean, scorer.scale = (
            state[f"{CONCEPTS}{name}"] for name in ("X", "mean", "scale")
        )
        scorer.learned = {k: v for k, v in state.items() if not k.startswith(CONCEPTS)}
        return scorer

    def pair_features(self, pairs: IntArray) -> FloatArray:
        """Give [e_a; e_b] of each pair, standardised: (m, 2) -> (m, 2d)."""
        x = self._joined(pairs)
        x -= self.mean
        x /= self.scale
        return x

    def _joined(self, pairs: IntArray) -> FloatArray:
        return np.concatenate([self.X[pairs[:, 0]], self.X[pairs[:, 1]]], axis=1)

    def _standardise(self, train: LabelledPairs) -> None:
        """Take mean and deviation of each column from the training pairs."""
        x = self._joined(train.pairs)
        self.mean = x.mean(axis=0, dtype=np.float64).astype(np.float32)
        # A constant column keeps its scale; rounding of the mean is not a deviation.
        varies = np.ptp(x, axis=0) > 0
        self.scale = np.where(varies, x.std(axis=0, dtype=np.float64), 1.0).astype(np.float32)
