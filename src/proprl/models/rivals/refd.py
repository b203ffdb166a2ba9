"""RefD: who refers to whom more often than the other way round; it needs no labels.

RefD(A, B) = Σ_c r(c,B) w(c,A) / Σ_c w(c,A)  -  Σ_c r(c,A) w(c,B) / Σ_c w(c,B)   ∈ [-1, 1]

w(c, A) is what c counts among the concepts that A refers to, r(c, B) is 1 where c refers to B.
If the concepts that A refers to refer to B, and those that B refers to do not refer to A, then B is
a prerequisite of A (Liang, Wu, Huang and Giles 2015). So the score of an ordered pair (a, b) is
s = RefD(b, a). A term whose weights sum to 0 is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from pydantic import Field
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.data.splits.labelled import LabelledPairs
from proprl.errors import TrainingError
from proprl.evaluation.metrics import auc, enough_to_choose
from proprl.graphs.evidence import VIEWS, Evidence
from proprl.models.base import FitReport, PairScorer, Settings, State, Task, share
from proprl.models.needs import BEHAVIOUR, RESOURCE, RESOURCE_OR_BEHAVIOUR, check_inputs

Weights: TypeAlias = Literal["equal", "tfidf"]

TAUS = (0.1, 0.2, 0.3, 0.5)
# Where no label can choose it: the best on the train and validation rows of MOOC and UCD.
USUAL_TAU = 0.1
# What references are read from, for each view of a course.
SOURCES = {BEHAVIOUR: "transitions", RESOURCE: "incidence"}
# From this |RefD| on Liang et al. call a pair a prerequisite.
THETA: Mapping[Weights, float] = {"equal": 0.05, "tfidf": 0.02}
# Numbers in a dense block of a few sources' scores against all concepts: 16 MB.
CELLS_AT_ONCE = 2_000_000
# Without labelled pairs, the share of zeros is counted on so many ordered pairs.
COUNTED = 10_000


class RefDSettings(Settings):
    """Settings of RefD."""

    source: Literal["auto", "transitions", "incidence"] = "auto"
    """What references are read from; "auto": transitions where the course has them."""
    weights: Weights = "equal"
    tau: float | None = Field(None, gt=0, le=1)  # None: chosen on validation
    """From incidence, c refers to B if this share of c's resources holds B too."""


@dataclass(frozen=True)
class References:
    """Who refers to whom, in both directions, as sparse matrices."""

    W: SparseMatrix  # (n, n): w(c, A) in row A, column c
    R: SparseMatrix  # (n, n): r(c, B) in row c, column B

    def difference(self, pairs: IntArray) -> FloatArray:
        """Give s(a, b) = RefD(b, a) for each pair: (m, 2) -> (m,).

        Only rows of the sources that are asked for are computed, a few at a time.
        """
        W_t, R_t = self.W.T.tocsr(), self.R.T.tocsr()
        total = np.asarray(self.W.sum(axis=1))  # Σ_c w(c, A)
        s = np.zeros(len(pairs))
        block = pairs[:, 0] // max(1, CELLS_AT_ONCE // self.W.shape[0])
        for one in np.unique(block):
            rows = np.flatnonzero(block == one)
            a, here = np.unique(pairs[rows, 0], return_inverse=True)
            b = pairs[rows, 1]
            towards_a = (R_t[a] @ W_t).toarray()[here, b]  # Σ_c r(c, a) w(c, b)
            towards_b = (self.W[a] @ self.R).toarray()[here, b]  # Σ_c r(c, b) w(c, a)
            s[rows] = share(towards_a, total[b]) - share(towards_b, total[a[here]])
        return s


def references_in_transitions(T: SparseMatrix, weights: Weights) -> References:
    """A refers to c if learners go from A to c, as often as they do."""
    links = _without_diagonal(T)
    R = links.sign()
    if weights == "equal":
        return References(R, R)
    df = np.asarray(R.sum(axis=0))
    return References(_by_rarity(links, links.shape[0], df), R)


def references_in_incidence(M: SparseMatrix, weights: Weights, tau: float) -> References:
    """C refers to B if a share of at least τ of c's resources holds B too.

    The share tells the two orders apart: that two concepts meet at all says the same of both.
    """
    met = _without_diagonal(csr_array(M @ M.T))  # (n, n): in how many resources
    degree = np.asarray(M.sum(axis=1))
    meeting = met.tocoo()
    refers = meeting.data / degree[meeting.row] >= tau
    ends = meeting.row[refers], meeting.col[refers]
    R = csr_array((np.ones(int(refers.sum())), ends), shape=met.shape)
    W = met if weights == "equal" else _by_rarity(met, M.shape[1], degree)
    return References(W, R)


class RefDScorer(PairScorer):
    """RefD under the common contract.

    Labels, where there are some, choose τ, the threshold and the sign: learners walk from
    prerequisite to dependent, links lead back. They also make the score a probability.
    """

    settings_type = RefDSettings
    needs = frozenset({RESOURCE_OR_BEHAVIOUR})
    takes_background = False

    matrix: SparseMatrix  # T or M
    references: References
    tau: float
    sign: float
    slope: float  # of the logistic regression; 0: there is none, p = (s + 1) / 2
    intercept: float

    def learn(self, task: Task) -> FitReport:
        """Read the references; let labels choose sign, τ, threshold and probability."""
        if task.background is not None and len(task.background):
            raise TrainingError(
                "refd takes no background, because it counts references and learns from no pairs: "
                "fit it with background=None"
            )
        task.progress.begin("fitting", 1)
        split, view = task.split, self._view(task.evidence)
        self.matrix = getattr(task.evidence, SOURCES[view])
        # Both labels are needed to choose; where validation is too small, train has to do.
        parts = (split.validation, split.train)
        judge = next((part for part in parts if enough_to_choose(part.labels)), None)
        self.tau, self.sign = self._choose(view, judge)
        self.references = self._read(view, self.tau)
        self.slope, self.intercept = self._logistic(split.train, task.class_weights)
        otherwise = 0.5 if self.slope else (1 + THETA[self.settings.weights]) / 2
        threshold = self.best_threshold(split.validation, otherwise)
        known = np.concatenate([split.train.pairs, split.validation.pairs])
        counted = known if len(known) else _spread_pairs(self.matrix.shape[0])
        zeros = self.references.difference(counted) == 0
        facts: dict[str, float | str] = {
            "source": SOURCES[view],
            "sign": self.sign,
            "sign_chosen_by": "convention" if judge is None else "labels",
            "probability": "logistic" if self.slope else "(s+1)/2",
            "zero_share": float(zeros.mean()) if len(zeros) else 1.0,
            **({"tau": self.tau} if view == RESOURCE else {}),
        }
        task.progress.step()
        task.progress.end()
        return replace(task.report(VIEWS, threshold=threshold, facts=facts), views=(view,))

    def score(self, pairs: IntArray) -> FloatArray:
        """Give the probability that source is a prerequisite of target: (m, 2) -> (m,)."""
        s = self.sign * self.references.difference(pairs)
        p = expit(self.slope * s + self.intercept) if self.slope else (s + 1) / 2
        return np.asarray(p.clip(0.0, 1.0))

    def details(self, pairs: IntArray) -> dict[str, FloatArray]:
        """Give RefD itself, before sign and calibration; 0 says that nothing was found."""
        return {"refd": self.references.difference(pairs)}

    def state(self) -> dict[str, FloatArray]:
        """Give the matrix that references are read from, and what labels chose."""
        view = self.report.views[0]
        return {
            f"{view}/indptr": self.matrix.indptr.astype(np.int64),
            f"{view}/indices": self.matrix.indices.astype(np.int32),
            f"{view}/data": self.matrix.data.astype(np.float64),
            f"{view}/shape": np.array(self.matrix.shape),
            "chosen": np.array([self.tau, self.sign, self.slope, self.intercept]),
        }

    def take_up(self, state: State) -> None:
        """Take up the matrix, and read the references from it."""
        (view,) = self.report.views
        arrays = tuple(state[f"{view}/{part}"] for part in ("data", "indices", "indptr"))
        self.matrix = csr_array(arrays, shape=tuple(state[f"{view}/shape"].tolist()))
        self.tau, self.sign, self.slope, self.intercept = state["chosen"].tolist()
        self.references = self._read(view, self.tau)

    def _view(self, evidence: Evidence) -> str:
        """Give the view that references are read from; an error where the course lacks it."""
        source = self.settings.source
        if source == "auto":
            source = "incidence" if evidence.transitions is None else "transitions"
        view = next(view for view, name in SOURCES.items() if name == source)
        check_inputs(f"refd with source={source}", {view}, evidence.views, "this course")
        return view

    def _read(self, view: str, tau: float) -> References:
        """Read the references from the matrix of this view."""
        if view == BEHAVIOUR:
            return references_in_transitions(self.matrix, self.settings.weights)
        return references_in_incidence(self.matrix, self.settings.weights, tau)

    def _choose(self, view: str, judge: LabelledPairs | None) -> tuple[float, float]:
        """Give the τ and the sign that order the judging labels best."""
        fixed = self.settings.tau
        if judge is None:
            return fixed or USUAL_TAU, 1.0
        reached: dict[tuple[float, float], float] = {}
        for tau in TAUS if view == RESOURCE and fixed is None else (fixed or USUAL_TAU,):
            found = auc(judge.labels, self._read(view, tau).difference(judge.pairs))
            reached |= {(tau, 1.0): found, (tau, -1.0): 1 - found}
        return max(reached, key=lambda choice: reached[choice])

    def _logistic(
        self, train: LabelledPairs, class_weights: tuple[float, float]
    ) -> tuple[float, float]:
        """Give slope and intercept of the logistic regression of the label on s, or twice 0."""
        s = self.sign * self.references.difference(train.pairs)
        scale = float(s.std()) if len(np.unique(train.labels)) == 2 else 0.0
        if scale == 0:
            return 0.0, 0.0
        weights = np.asarray(class_weights)[train.labels]
        model: Any = LogisticRegression().fit(s[:, None] / scale, train.labels, weights)
        slope, intercept = float(model.coef_[0, 0]), float(model.intercept_[0])
        # A falling curve would turn round the sign that validation chose.
        return (slope / scale, intercept) if slope > 0 else (0.0, 0.0)


def _without_diagonal(A: SparseMatrix) -> SparseMatrix:
    """Give a copy in which nothing refers to itself."""
    coo = A.tocoo()
    other = (coo.row != coo.col) & (coo.data != 0)
    return csr_array((coo.data[other], (coo.row[other], coo.col[other])), shape=A.shape)


def _by_rarity(A: SparseMatrix, documents: int, df: FloatArray) -> SparseMatrix:
    """Give A with column c multiplied by ln(documents / df(c))."""
    return csr_array((A.data * np.log(documents / df[A.indices]), A.indices, A.indptr), A.shape)


def _spread_pairs(n: int) -> IntArray:
    """Give ordered pairs spread evenly over all of them, or all of them if they are few."""
    every = n * (n - 1)
    index = np.unique(np.linspace(0, max(every - 1, 0), min(COUNTED, every)).astype(np.int64))
    source, offset = np.divmod(index, max(n - 1, 1))
    return np.column_stack([source, offset + (offset >= source)])
