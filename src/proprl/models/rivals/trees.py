"""Trees: what a plain forest makes of explicit evidence about a pair.

The rival of every model that learns representations: a row holds what the course says of both
orders of a pair (`proprl.pairs`), and how many prerequisites and non-prerequisites are known to
begin and to end at each of its concepts. No label is its own evidence: that of the pair, and that
of its reverse, are not counted. Pairs without a label are learned from and never counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import Field
from sklearn.ensemble import ExtraTreesClassifier

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.grouping import draw_parts, unordered_codes
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.evaluation.metrics import best_threshold, enough_to_choose
from proprl.graphs.evidence import VIEWS, Evidence
from proprl.models.base import FitReport, Settings, label_weights, state_part, training_rows
from proprl.models.forests.tree_sum import TreeSum
from proprl.models.needs import SUPERVISED
from proprl.models.rivals.autoencoder import refuse_beyond_limit
from proprl.pairs.course import course_columns
from proprl.pairs.labels import label_matrix
from proprl.progress import SILENT, Progress
from proprl.training.bundle import pack_evidence, unpack_evidence
from proprl.training.checkpoint import Checkpoint

# With background, a training row is described by the labels outside its fold.
FOLDS = 10


class TreesSettings(Settings):
    """Settings of the trees."""

    trees: int = Field(500, ge=1)
    leaf: int = Field(2, ge=1)
    """Rows that a leaf holds at least."""


class TreesScorer:
    """Extra-trees on explicit evidence under the common contract; see `PairScorer`."""

    settings_type: ClassVar[type[Settings]] = TreesSettings
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"default": {}}
    needs: ClassVar[frozenset[str]] = SUPERVISED
    takes_background: ClassVar[bool] = True

    forest: TreeSum

    def __init__(self, settings: TreesSettings, *, device: str = "auto") -> None:
        self.settings = settings
        self.device = device  # nothing here runs on a device; kept for the contract
        self.report = FitReport()

    def fit(
        self,
        evidence: Evidence,
        split: PairSplit,
        *,
        background: IntArray | None = None,
        seed: int,
        progress: Progress = SILENT,
        checkpoint: Checkpoint | None = None,  # noqa: ARG002 - a fit takes seconds
    ) -> FitReport:
        """Learn from the training rows; choose the threshold on the validation pairs."""
        refuse_beyond_limit("trees", evidence.concept_count, "concepts")
        progress.begin("fitting", 1)
        self._know(evidence, split.train)  # only labels are counted, never background
        rows = training_rows(split, background)
        class_weights = label_weights(split.train)
        columns = self._training_columns(rows, seed)
        grown: Any = ExtraTreesClassifier(
            self.settings.trees,
            min_samples_leaf=self.settings.leaf,
            class_weight=dict(enumerate(class_weights)),
            random_state=seed,
        ).fit(columns, rows.labels)
        trees = [tree.tree_ for tree in grown.estimators_]
        self.forest = TreeSum.from_sklearn(trees, columns.shape[1])
        validation = split.validation
        threshold = 0.5
        if enough_to_choose(validation.labels):
            threshold = best_threshold(validation.labels, self.score(validation.pairs))
        self.report = FitReport(
            views=evidence.views,
            missing_views=tuple(view for view in VIEWS if view not in evidence.views),
            class_weights=class_weights,
            threshold=threshold,
            facts={"leaves": float(self.forest.leaves.sum())},
        )
        progress.step()
        progress.end()
        return self.report

    def score(self, pairs: IntArray) -> FloatArray:
        """Give the mean share of positives in the leaves a pair falls into: (m, 2) -> (m,)."""
        p = self.forest.sums(self._rows(pairs))
        return p.clip(0.0, 1.0)  # rounding may lift a mean of shares a hair above 1

    def details(self, pairs: IntArray) -> dict[str, FloatArray]:  # noqa: ARG002
        """Give nothing: the score has no parts."""
        return {}

    def state(self) -> dict[str, FloatArray]:
        """Give the evidence, the known labels and the trees."""
        return {
            **pack_evidence(self.evidence),
            "known/pairs": self.known.pairs,
            "known/labels": self.known.labels,
            **{f"forest/{name}": array for name, array in self.forest.state().items()},
        }

    @classmethod
    def restore(
        cls, settings: Any, state: Mapping[str, FloatArray], report: FitReport, *, device: str
    ) -> Self:
        """Give back the scorer that `state` was taken from."""
        scorer = cls(settings, device=device)
        scorer.report = report
        pairs, labels = (state[f"known/{part}"].astype(np.int64) for part in ("pairs", "labels"))
        scorer._know(unpack_evidence(state), LabelledPairs(pairs, labels))
        columns = scorer._rows(pairs[:0]).shape[1]
        scorer.forest = TreeSum.restored(state_part(state, "forest/"), columns)
        return scorer

    def _know(self, evidence: Evidence, known: LabelledPairs) -> None:
        """Take up what rows are made of."""
        # As a bundle keeps it: a loaded model sees the same numbers.
        features = evidence.features.astype(np.float32)
        self.evidence = replace(evidence, features=features, resource_features=None, readings=None)
        self.known = known
        self._of_course = course_columns(self.evidence)

    def _rows(self, pairs: IntArray) -> FloatArray:
        """Give the numbers of each pair: (m, 2) -> (m, columns), single precision."""
        counts = label_counts(self.known, pairs, self.evidence.concept_count)
        return np.hstack([self._of_course.rows(pairs), counts]).astype(np.float32)

    def _training_columns(self, rows: LabelledPairs, seed: int) -> FloatArray:
        """Give the numbers of the training rows, of which the labels stand first: (m, columns)."""
        columns, labels = self._rows(rows.pairs), len(self.known)
        if len(rows) == labels:
            return columns
        # A pair without a label has none of its own to leave out. Its counts would be higher by
        # one for that alone, and trees would tell background by it: on the development halves of
        # LectureBank's two maps background then lowered the average precision, from 0.40 to 0.36
        # and from 0.12 to 0.11. So a row's whole fold is left out of its counts: 0.42 and 0.14.
        fold = draw_parts(rows.labels, unordered_codes(rows.pairs), [1 / FOLDS] * FOLDS, seed)
        for k in range(FOLDS):
            inside, known = fold == k, rows.take(np.flatnonzero(fold[:labels] != k))
            counts = label_counts(known, rows.pairs[inside], self.evidence.concept_count)
            columns[inside, -counts.shape[1] :] = counts
        return columns


def label_counts(known: LabelledPairs, pairs: IntArray, n: int) -> FloatArray:
    """Count the known labels about the concepts of each pair: (m, 2) -> (m, 8).

    Positives that begin at the source, that end there, that begin and that end at the target, and
    negatives likewise; neither the pair itself nor its reverse is counted.
    """
    a, b = pairs.T
    columns = []
    for label in (1, 0):
        labelled = label_matrix(known, label, n)
        begin, end = labelled.sum(axis=1), labelled.sum(axis=0)
        there = labelled.toarray()
        own, reverse = there[a, b], there[b, a]
        columns += [begin[a] - own, end[a] - reverse, begin[b] - reverse, end[b] - own]
    return np.column_stack(columns)
