"""What the classical methods share: an ordered pair as one vector.

A pair (a, b) becomes x = [e_a; e_b], standardised on the training pairs; the two halves keep the
order of the pair. A method says what it learns from such vectors (`learned_from`) and what it makes
of them (`probability`). What it has learned is named arrays. Scores are computed from these
arrays alone, so a model that was saved and loaded gives the same ones.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.labelled import LabelledPairs
from proprl.models.base import FitReport, State
from proprl.models.scorer import SCORED_AT_ONCE, Scorer, Task

Parameters: TypeAlias = dict[str, Any]
"""What a method has learned: named arrays."""
Facts: TypeAlias = Mapping[str, float | str]
"""What is worth telling about it."""

CONCEPTS = ("X", "mean", "scale")


class ClassicalScorer(Scorer):
    """A classifier on [e_a; e_b]."""

    X: FloatArray  # (n, d), as the encoder gave it
    mean: FloatArray  # (2d,) of the training pairs
    scale: FloatArray  # (2d,)
    learned: Parameters

    @abstractmethod
    def learned_from(self, x: FloatArray, task: Task) -> tuple[Parameters, Facts]:
        """Give what is learned from the vectors of `task.rows` (m, 2d), and what to tell of it."""

    @abstractmethod
    def probability(self, x: FloatArray, learned: Parameters) -> FloatArray:
        """Give the probability of label 1 for each vector: (m, 2d) -> (m,)."""

    def learn(self, task: Task) -> FitReport:
        """Learn from the training rows; choose the threshold on the validation pairs."""
        task.progress.begin("fitting", 1)
        self.X = task.evidence.features.astype(np.float32)
        self._standardise(task.split.train)  # not on background, which changes no column
        self.learned, facts = self.learned_from(self.pair_features(task.rows.pairs), task)
        threshold = self.best_threshold(task.split.validation)
        task.progress.step()
        task.progress.end()
        return task.report(threshold=threshold, facts=facts)

    def score(self, pairs: IntArray) -> FloatArray:
        """Give the probability that source is a prerequisite of target: (m, 2) -> (m,)."""
        p = np.empty(len(pairs))
        for start in range(0, len(pairs), SCORED_AT_ONCE):
            chunk = slice(start, start + SCORED_AT_ONCE)
            p[chunk] = self.probability(self.pair_features(pairs[chunk]), self.learned)
        return p.clip(0.0, 1.0)  # rounding may lift a mean of shares a hair above 1

    def state(self) -> dict[str, FloatArray]:
        """Give the concepts' features and what was learned."""
        return {f"concepts/{name}": getattr(self, name) for name in CONCEPTS} | self.learned

    def take_up(self, state: State) -> None:
        """Take up the concepts' features and what was learned."""
        self.X, self.mean, self.scale = (state[f"concepts/{name}"] for name in CONCEPTS)
        self.learned = {k: v for k, v in state.items() if not k.startswith("concepts/")}

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
