"""Trees and a line that learned from some labelled pairs, and what they judge other pairs by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import torch
from pydantic import Field
from scipy.special import expit, logit
from sklearn.ensemble import ExtraTreesClassifier

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits import LabelledPairs
from proprl.models.base import Settings, state_part
from proprl.models.evidence_table import EvidenceTable, Sources
from proprl.models.forest import Forest, flat_forest, mean_share
from proprl.models.line import Line
from proprl.models.reverse_labels import ReverseLabels, Which
from proprl.progress import SILENT, Progress
from proprl.training.objective import balanced_class_weights

# A learner is never surer than this: one must not outvote the other.
SUREST = 0.999
# What the learners count in their mean.
COUNTS = {"trees": 2.0, "line": 1.0}
# What a lesson about a newcomer counts: pairs of known concepts are asked about more often.
NEWCOMERS = 0.1
STEPS = 2  # of a progress bar: lessons, learning


class SequiturSettings(Settings):
    """How Sequitur's judges learn."""

    trees: int = Field(250, ge=1)
    leaf: int = Field(2, ge=1)
    """Rows that a leaf holds at least."""
    shyness: float = Field(100.0, gt=0)
    """How strongly the line's coefficients are drawn to 0."""
    dealt: int = Field(2, ge=1)
    """How often pairs are dealt into folds; each time gives every pair another row. It learns from
    all rows of a known pair, and judges a pair by the mean over its rows."""
    reverse_labels: Which = "positive"
    """Which known labels of the reverse order are evidence."""
    sources: Sources = "course and labels"
    """What else is evidence: the course, the labels of other pairs, or both."""
    roles: bool = True
    """Whether labels of other pairs count by likeness of role, too."""
    passages: bool = True
    """Whether passages of resources that mention a concept are its second text."""
    resource_order: bool = True
    """Whether the order of resources is evidence."""
    newcomers: bool = True
    """Whether some lessons are about concepts of which only the text is known."""
    learners: Literal["trees and line", "trees", "line"] = "trees and line"
    """Whose logits count."""

    @property
    def reads_passages(self) -> bool:
        """See `Settings`."""
        return self.passages


@dataclass(frozen=True)
class Judge:
    """What is known, and what was learned from it. It has seen no label but those of its table."""

    table: EvidenceTable
    reverses: ReverseLabels
    forest: Forest
    line: Line
    dealt: int

    @classmethod
    def taught(
        cls, table: EvidenceTable, s: SequiturSettings, *, seed: int, progress: Progress = SILENT
    ) -> Self:
        """Learn from the known pairs of a table."""
        known = table.known
        lessons = [(known, table.rows(known.pairs, salt)) for salt in range(s.dealt)]
        counts = [np.ones(len(known))] * s.dealt
        if s.newcomers:
            rows, asked = table.lessons_about_newcomers(known)
            lessons.append((asked, rows))
            counts.append(np.full(len(asked), NEWCOMERS))
        progress.step()
        x = np.vstack([rows for _, rows in lessons])
        y = np.concatenate([labelled.labels for labelled, _ in lessons])
        classes = np.array(balanced_class_weights(torch.from_numpy(known.labels)))
        weights = np.concatenate(counts) * classes[y]
        trees: Any = ExtraTreesClassifier(
            s.trees, min_samples_leaf=s.leaf, max_features=0.3, random_state=seed
        ).fit(x, y, sample_weight=weights)
        progress.step()
        return cls(
            table,
            ReverseLabels.learned(known, s.reverse_labels),
            flat_forest([tree.tree_ for tree in trees.estimators_]),
            Line.fitted(x, y, weights, s.shyness),
            s.dealt,
        )

    def logits(self, pairs: IntArray) -> dict[str, FloatArray]:
        """Give what each learner says of each pair, known reverses apart."""
        logits: dict[str, FloatArray] = {name: np.zeros(len(pairs)) for name in COUNTS}
        for salt in range(self.dealt):
            x = self.table.rows(pairs, salt)
            p = {"trees": mean_share(x, self.forest), "line": expit(self.line.z(x))}
            for name, values in p.items():
                logits[name] += logit(values.clip(1 - SUREST, SUREST)) / self.dealt
        return logits

    def state(self) -> dict[str, FloatArray]:
        """Give the labels it knows and what it learned from them."""
        known = self.table.known
        return {
            "known/pairs": known.pairs,
            "known/labels": known.labels,
            "reverses": self.reverses.weights,
            **{f"forest/{name}": array for name, array in self.forest.items()},
            **{f"line/{name}": array for name, array in self.line.state().items()},
        }

    @classmethod
    def restored(
        cls, state: Mapping[str, FloatArray], course: EvidenceTable, s: SequiturSettings
    ) -> Self:
        """Give back the judge that `state` was taken from, with the course's evidence."""
        pairs, labels = (state[f"known/{part}"].astype(np.int64) for part in ("pairs", "labels"))
        known = LabelledPairs(pairs, labels)
        return cls(
            course.knowing(known),
            ReverseLabels(known, state["reverses"]),
            state_part(state, "forest/"),
            Line(**state_part(state, "line/")),
            s.dealt,
        )
