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
from typing import Any, Self

import numpy as np
import torch  # before LightGBM: it brings the OpenMP library that LightGBM needs
from pydantic import Field
from scipy.sparse import csr_array
from scipy.special import expit
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.data.splits.labelled import LabelledPairs, pair_codes
from proprl.errors import BundleError, FeatureError
from proprl.features.reader import NOBODY
from proprl.graphs.evidence import VIEWS
from proprl.models.base import (
    FitReport,
    HeldOut,
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
from proprl.pairs.table import PairTable, fold_of
from proprl.training.bundle import joined, part_of

CROSS_FIT_PARTS = 5
# The final trees are grown this often, from different seeds, and averaged: that evens out chance.
TIMES = 3
# The weight of a row in which a concept is taken for new.
COLD = 0.25
# Negatives added to those counted among pairs whose reverse is confirmed.
RULED_OUT = 5
# Cold-start rows take every second pair of the background, with twice the weight.
THINNED = 2

# Trees that split at random places, one of few columns each: many weak opinions generalise from
# few labels better than a few sharp ones.
GROWTH = {
    "objective": "binary",
    "extra_trees": True,
    "learning_rate": 0.045,
    "num_leaves": 15,
    "feature_fraction": 0.3,
    "min_data_in_leaf": 20,
    "lambda_l2": 5.0,
    "deterministic": True,
    "force_col_wise": True,
    "verbose": -1,
}

# Places where a column may be split: more of them take longer and tell no more.
PLACES_TO_SPLIT = 63

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


class Lesson:
    """Weighted rows to grow trees from; the trees add up to a row's log-odds."""

    def __init__(self, x: FloatArray, y: IntArray, weights: FloatArray) -> None:
        import lightgbm

        self.columns = x.shape[1]
        # A column that is the same in all rows is kept, so that columns keep their numbers.
        binning = {"feature_pre_filter": False, "max_bin": PLACES_TO_SPLIT, "verbose": -1}
        binning["num_threads"] = torch.get_num_threads()
        self._rows: Any = lightgbm.Dataset(x, y, weight=weights, params=binning).construct()

    def grown(
        self, trees: int, *, among: IntArray | None = None, times: int = 1, seed: int
    ) -> TreeSum:
        """Grow trees from all rows, or those `among` them: the mean of several `times`."""
        from lightgbm import train

        rows = self._rows if among is None else self._rows.subset(among)
        growth = {**GROWTH, "num_threads": torch.get_num_threads()}
        seeds = range(times * seed, times * (seed + 1))
        grown = [train({**growth, "seed": one}, rows, trees) for one in seeds]
        return TreeSum.from_lightgbm([one.model_to_string() for one in grown], self.columns)


class SequiturScorer(PairScorer):
    """Boosted trees on the table of pairs."""

    settings_type = SequiturSettings

    table: PairTable
    trees: TreeSum
    held_out = HeldOut(LabelledPairs.empty(), np.empty(0), np.empty(0))
    reverse_weight: float
    """What a confirmed reverse adds to a pair's log-odds."""

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
        scores = np.full(len(rows), 0.5)  # stays where a few pairs are all in one part
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
        larger = copy(self)
        larger.table = PairTable(evidence, self.table.known)
        return larger

    def state(self) -> dict[str, Any]:
        """Give the evidence, the known labels and the trees."""
        known = pack_known(self.table.evidence, self.table.known)
        worth = {"reverse_weight": np.array([self.reverse_weight])}
        return {**known, **worth, **joined(trees=self.trees.state())}

    def take_up(self, state: State) -> None:
        """Take up the evidence, the known labels and the trees."""
        self.table = PairTable(*unpack_known(state))
        self.trees = TreeSum.restored(part_of(state, "trees"), len(self.table.columns))
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
    # Even where no label of such a pair is known, the added negatives speak against it.
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
