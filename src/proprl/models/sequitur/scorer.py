"""Sequitur: one table of pairs, one kind of learner.

A row says what is known of an ordered pair (`proprl.pairs`). Boosted trees learn from labelled
pairs, from background, and from cold-start rows: pairs of both kinds in which a concept is taken
for new. For the calibration every pair is also scored by trees that learned from other pairs alone:
five times they learn from four fifths of the pairs and score the rest.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import Field
from scipy.sparse import csr_array
from scipy.special import expit
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.data.splits.grouping import pair_codes
from proprl.data.splits.labelled import LabelledPairs
from proprl.errors import BundleError, FeatureError
from proprl.features.reader import NOBODY
from proprl.graphs.evidence import VIEWS
from proprl.models.base import FitReport, HeldOut, Settings, State, state_part
from proprl.models.forests.tree_sum import TreeSum
from proprl.models.needs import refuse_beyond_limit
from proprl.models.scorer import Scorer, Task, as_kept, pack_known, unpack_known
from proprl.models.sequitur.learner import Lesson
from proprl.pairs.table import PairTable, fold_of

CROSS_FIT_PARTS = 5
# So many times the final trees are grown: what one says by chance the others do not.
TIMES = 3
# What a row counts in which a concept is taken for new.
COLD = 0.25
# So many negatives are made up among pairs whose reverse is confirmed.
RULED_OUT = 5
# Of background, every second pair is enough for that, and counts twice.
THINNED = 2

# Products of matrices are many and small here: threads that wait for each other gain little, and
# when another program wants a core, a fit took 20 times as long.
one_thread = partial(threadpool_limits, limits=1, user_api="blas")


class SequiturSettings(Settings):
    """Settings of Sequitur."""

    trees: int = Field(200, ge=1)
    """How many trees."""
    reader: str = NOBODY
    """The language model that reads about the concepts: a hub's name for it, or a folder."""

    @property
    def read_by(self) -> str:
        """See `Settings`."""
        return self.reader


class SequiturScorer(Scorer):
    """Boosted trees on the table of pairs."""

    settings_type: ClassVar[type[Settings]] = SequiturSettings

    table: PairTable
    trees: TreeSum
    held_out = HeldOut(LabelledPairs.empty(), np.empty(0), np.empty(0))
    reverse_weight: float
    """What it adds to a pair's log-odds that labels put it in the other order."""

    def learn(self, task: Task) -> FitReport:
        """Learn from training and validation pairs alike, and from background."""
        refuse_beyond_limit("sequitur", task.evidence.concept_count, "concepts")
        task.progress.begin("learning", CROSS_FIT_PARTS + 3)
        known = task.split.train.joined(task.split.validation)
        task = replace(task, split=replace(task.split, train=known))
        rows = task.rows
        self.table = PairTable(as_kept(task.evidence), known)
        with one_thread():
            x = self.table.rows(rows.pairs)
            task.progress.step()
            again = np.r_[: len(known), len(known) : len(rows) : THINNED]
            cold, which = self.table.cold_rows(rows.pairs[again])
            task.progress.step()
        which, weights = again[which], task.row_weights
        cold_weights = COLD * weights[which] * np.where(which < len(known), 1, THINNED)
        x_all, y = np.vstack([x, cold]), np.concatenate([rows.labels, rows.labels[which]])
        lesson = Lesson(x_all, y, np.concatenate([weights, cold_weights]))
        trees = self.settings.trees
        part = fold_of(np.vstack([rows.pairs, rows.pairs[which]]), CROSS_FIT_PARTS)
        scores = np.full(len(rows), 0.5)  # of a handful of pairs that are all in one part
        for one in range(CROSS_FIT_PARTS):
            seen, judged = np.flatnonzero(part != one), np.flatnonzero(part[: len(rows)] == one)
            if len(judged) and len(seen):
                grown = lesson.grown(trees, among=seen, seed=task.seed)
                scores[judged] = expit(grown.sums(x[judged]))
            task.progress.step()
        self.held_out = HeldOut(known, scores[: len(known)], scores[len(known) :])
        self.trees = lesson.grown(trees, times=TIMES, seed=task.seed)
        self.reverse_weight = _weight_of_reverses(known)
        task.progress.step()
        task.progress.end()
        return task.report(VIEWS, facts={"numbers about each pair": float(x.shape[1])})

    def score(self, pairs: IntArray) -> FloatArray:
        """Give what the trees say of each pair: (m, 2) -> (m,)."""
        with one_thread():
            z = self.trees.sums(self.table.rows(pairs))
        return np.asarray(expit(z + self.reverse_weight * self.table.ruled_out(pairs)))

    def details(self, pairs: IntArray) -> dict[str, FloatArray]:
        """Give what each kind of evidence adds to the log-odds, by exact Shapley values."""
        with one_thread():
            values = self.trees.contributions(self.table.rows(pairs))
        kinds = np.array([column.kind for column in self.table.columns])
        by_kind = {kind: values[:, :-1][:, kinds == kind].sum(axis=1) for kind in np.unique(kinds)}
        return {"base": values[:, -1], **{str(kind): sums for kind, sums in by_kind.items()}}

    def joined_by(
        self,
        features: FloatArray,
        readings: FloatArray | None = None,
        named_in: SparseMatrix | None = None,
    ) -> Self:
        """Give the same scorer with more concepts, of which nothing is known but a text."""
        known = self.table.evidence
        X = np.vstack([known.features, features.astype(np.float32)])
        n, M, N, R = len(X), known.incidence, known.named_in, known.readings
        refuse_beyond_limit("sequitur", n, "concepts")
        if R is not None:
            R = np.vstack([R, _readings_like(R, readings, len(features))])
        if N is not None:
            N = _grown(N, n, n) if named_in is None else _grown(N, n, n).maximum(named_in)
        evidence = replace(
            known,
            features=X,
            transitions=None if known.transitions is None else _grown(known.transitions, n, n),
            incidence=None if M is None else _grown(M, n, M.shape[1]),
            named_in=N,
            readings=R,
        )
        joined = copy(self)
        joined.table = PairTable(evidence, self.table.known)
        return joined

    def state(self) -> dict[str, Any]:
        """Give the evidence, the known labels and the trees."""
        known = pack_known(self.table.evidence, self.table.known)
        worth = {"reverse_weight": np.array([self.reverse_weight])}
        return {**known, **worth, **self.trees.state("trees/")}

    def take_up(self, state: State) -> None:
        """Take up the evidence, the known labels and the trees."""
        self.table = PairTable(*unpack_known(state))
        self.trees = TreeSum.restored(state_part(state, "trees/"), len(self.table.columns))
        worth = state["reverse_weight"]
        if worth.shape != (1,) or not np.isfinite(worth).all():
            raise BundleError("what a confirmed reverse is worth is not one number")
        self.reverse_weight = float(worth[0])


def _weight_of_reverses(known: LabelledPairs) -> float:
    """Give what a confirmed reverse adds to the log-odds of a pair: a log likelihood ratio.

    In one course it rules the pair out, in another experts called some pairs mutual.
    """
    positive = known.labels == 1
    confirmed = np.isin(pair_codes(known.pairs[:, ::-1]), pair_codes(known.positives))
    share = (positive.sum() + 1) / (len(positive) + 2)
    # Where no label says so, a confirmed reverse rules a pair out as if a few labels had said it.
    yes, no = (confirmed & positive).sum(), (confirmed & ~positive).sum() + RULED_OUT
    odds = (yes + share) / (no + 1 - share)
    return float(np.log(odds) - np.log(share / (1 - share)))


def _readings_like(R: FloatArray, readings: FloatArray | None, k: int) -> FloatArray:
    """Give the readings of k concepts as wide and as precise as R; zeros where there are none."""
    if readings is None:
        readings = np.zeros((k, R.shape[1]))
    if readings.shape[1] != R.shape[1]:
        raise FeatureError(
            f"the reader gives {readings.shape[1]} numbers for a concept, but the model was "
            f"trained on {R.shape[1]}: give it the reader it was trained with, or train again"
        )
    return readings.astype(R.dtype)


def _grown(matrix: SparseMatrix, rows: int, columns: int) -> SparseMatrix:
    """Give a matrix of this shape with nothing in what is new."""
    entries = matrix.tocoo()
    return csr_array((entries.data, (entries.row, entries.col)), shape=(rows, columns))
