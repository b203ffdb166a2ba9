"""Trees: what a plain forest makes of explicit evidence about a pair.

A row holds what the course says of both orders of a pair (`proprl.pairs`), and how many
prerequisites and non-prerequisites are known to begin and to end at each of its concepts. No label
is its own evidence: the labels of the pair and of its reverse are not counted. Pairs without a
label are learned from and never counted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import Field
from sklearn.ensemble import ExtraTreesClassifier

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.labelled import LabelledPairs, unordered_codes
from proprl.data.splits.parts import draw_parts
from proprl.graphs.evidence import VIEWS, Evidence
from proprl.models.base import (
    FitReport,
    PairScorer,
    Settings,
    State,
    Task,
    as_kept,
    pack_known,
    unpack_known,
)
from proprl.models.needs import refuse_beyond_limit
from proprl.models.tree_sum import TreeSum
from proprl.pairs.columns import course_columns
from proprl.pairs.labels import label_matrix
from proprl.training.bundle import joined, part_of

# With background, a training row is described by the labels outside its fold.
COUNTING_FOLDS = 10


class TreesSettings(Settings):
    """Settings of the trees."""

    trees: int = Field(500, ge=1)
    leaf: int = Field(2, ge=1)
    """Rows that a leaf holds at least."""


class TreesScorer(PairScorer):
    """Extra-trees on explicit evidence."""

    settings_type = TreesSettings

    forest: TreeSum

    def learn(self, task: Task) -> FitReport:
        """Learn from the training rows; choose the threshold on the validation pairs."""
        refuse_beyond_limit("trees", task.evidence.concept_count, "concepts")
        task.progress.begin("fitting", 1)
        self._know(task.evidence, task.split.train)  # only labels are counted, never background
        columns = self._training_columns(task.rows, task.seed)
        grown: Any = ExtraTreesClassifier(
            self.settings.trees,
            min_samples_leaf=self.settings.leaf,
            class_weight=dict(enumerate(task.class_weights)),
            random_state=task.seed,
        ).fit(columns, task.rows.labels)
        self.forest = TreeSum.from_sklearn(grown, columns.shape[1])
        threshold = self.best_threshold(task.split.validation)
        task.progress.step()
        task.progress.end()
        leaves = float(self.forest.leaves.sum())
        return task.report(VIEWS, threshold=threshold, facts={"leaves": leaves})

    def score(self, pairs: IntArray) -> FloatArray:
        """Give the mean share of positives in the leaves a pair falls into: (m, 2) -> (m,)."""
        p = self.forest.sums(self._rows(pairs))
        return p.clip(0.0, 1.0)  # rounding may lift a mean of shares a hair above 1

    def state(self) -> dict[str, FloatArray]:
        """Give the evidence, the known labels and the trees."""
        return {**pack_known(self.evidence, self.known), **joined(forest=self.forest.state())}

    def take_up(self, state: State) -> None:
        """Take up the evidence, the known labels and the trees."""
        self._know(*unpack_known(state))
        columns = self._rows(self.known.pairs[:0]).shape[1]
        self.forest = TreeSum.restored(part_of(state, "forest"), columns)

    def _know(self, evidence: Evidence, known: LabelledPairs) -> None:
        """Keep the evidence and the labels that rows are made of."""
        self.evidence = replace(as_kept(evidence), readings=None)
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
        # The counts of a labelled pair leave out its own label. A background pair has none, so its
        # counts would be higher by one, and trees would know background by that. On the development
        # halves of LectureBank's two maps background then lowered the average precision, from 0.40
        # to 0.36 and from 0.12 to 0.11. So a row's whole fold is left out of its counts: 0.42 and
        # 0.14.
        fold = draw_parts(
            rows.labels, unordered_codes(rows.pairs), [1 / COUNTING_FOLDS] * COUNTING_FOLDS, seed
        )
        for k in range(COUNTING_FOLDS):
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
