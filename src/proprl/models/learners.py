"""Trees and a line that learned from the same rows of evidence, each with a say of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from scipy.special import expit, logit
from sklearn.ensemble import ExtraTreesClassifier

from proprl.arrays import FloatArray, IntArray
from proprl.models.base import state_part
from proprl.models.forest import Forest, flat_forest, mean_share
from proprl.models.line import Line

# A learner is never surer than this: one must not outvote the other.
SUREST = 0.999


@dataclass(frozen=True)
class Lessons:
    """Rows of evidence, the label of each, and how much each counts."""

    rows: FloatArray
    labels: IntArray
    counts: FloatArray

    def and_(self, *others: Lessons) -> Lessons:
        """Give these lessons, and others after them."""
        every = (self, *others)
        return Lessons(
            np.vstack([lessons.rows for lessons in every]),
            np.concatenate([lessons.labels for lessons in every]),
            np.concatenate([lessons.counts for lessons in every]),
        )


@dataclass(frozen=True)
class Learners:
    """What trees and a line learned."""

    forest: Forest
    line: Line

    @classmethod
    def taught(cls, lessons: Lessons, *, trees: int, leaf: int, shyness: float, seed: int) -> Self:
        """Learn from lessons."""
        x, y, counts = lessons.rows, lessons.labels, lessons.counts
        grown: Any = ExtraTreesClassifier(
            trees,
            min_samples_leaf=leaf,
            max_features=0.3,
            random_state=seed,
            # Each tree has a seed of its own: on more threads the same trees grow.
            n_jobs=torch.get_num_threads(),
        ).fit(x, y, sample_weight=counts)
        return cls(
            flat_forest([tree.tree_ for tree in grown.estimators_]),
            Line.fitted(x, y, counts, shyness),
        )

    def logits(self, x: FloatArray) -> dict[str, FloatArray]:
        """Give what each learner says of each row."""
        p = {"trees": mean_share(x, self.forest), "line": expit(self.line.z(x))}
        return {name: logit(values.clip(1 - SUREST, SUREST)) for name, values in p.items()}

    def state(self) -> dict[str, Any]:
        """Give what was learned, as named arrays."""
        return {
            **{f"forest/{name}": array for name, array in self.forest.items()},
            **{f"line/{name}": array for name, array in self.line.state().items()},
        }

    @classmethod
    def restored(cls, state: Mapping[str, FloatArray]) -> Self:
        """Give back the learners that `state` was taken from."""
        return cls(state_part(state, "forest/"), Line(**state_part(state, "line/")))
