"""Sequitur: what follows from what. Explicit evidence, two learners, one calibrated probability.

*Trees* and a *line* (logistic regression) read the same evidence about a pair: what texts, moves
and resources say of it, and what is known of other pairs (`evidence_table`). Concepts without a
label have trees and a line of their own, and so have pairs without a known reverse where every
known reverse counts (`judge`).

It learns twice. In the *rehearsal* only the training pairs are known: what it then says of the
validation pairs sets slope, intercept and threshold, and stays its answer about them, so that
figures on validation pairs are honest. Then it learns from both.

z = weighted mean of the learners' logits, p = σ(slope · z + intercept + r). r is what a known
label of the reverse order adds (`reverse_labels`), mostly 0. Where a language model has read about
the concepts, a learner's logit is that of p(belong together) · p(this one comes first) (`order`).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import torch
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import expit
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.data.splits import LabelledPairs, PairSplit
from proprl.errors import FeatureError
from proprl.evaluation.metrics import best_threshold, enough_to_choose, f1
from proprl.graphs.evidence import Evidence
from proprl.models.autoencoder import refuse_beyond_limit
from proprl.models.base import FitReport, Settings, state_part
from proprl.models.evidence_table import EvidenceTable
from proprl.models.judge import COUNTS, STEPS, Judge, SequiturSettings
from proprl.models.needs import SUPERVISED
from proprl.models.order import WEIGHT
from proprl.models.proprl_network import VIEWS
from proprl.progress import SILENT, Progress
from proprl.training.bundle import pack_evidence, unpack_evidence
from proprl.training.checkpoint import Checkpoint
from proprl.training.objective import balanced_class_weights


class SequiturScorer:
    """Trees and a line under the common contract; see `PairScorer`."""

    settings_type: ClassVar[type[Settings]] = SequiturSettings
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"default": {}}
    needs: ClassVar[frozenset[str]] = SUPERVISED

    judge: Judge
    rehearsal: Judge
    """Who judges the validation pairs; it does not know them."""
    validation: IntArray
    """The validation pairs: (m, 2)."""
    slope: float
    intercept: float

    def __init__(self, settings: SequiturSettings, *, device: str = "auto") -> None:
        self.settings = settings
        self.device = device  # nothing here runs on a device; kept for the contract
        self.report = FitReport()

    def fit(
        self,
        evidence: Evidence,
        split: PairSplit,
        *,
        seed: int,
        progress: Progress = SILENT,
        checkpoint: Checkpoint | None = None,  # noqa: ARG002 - a fit takes seconds
    ) -> FitReport:
        """Learn from the training pairs, calibrate on the validation pairs, learn from both."""
        refuse_beyond_limit("sequitur", evidence.concept_count, "concepts")
        evidence = self._kept(evidence)
        progress.begin("evidence", 2 * STEPS)
        with _one_thread():
            threshold = self._learn(evidence, split, seed, progress)
        progress.end()
        known = self.judge.table.known
        self.report = FitReport(
            views=evidence.views,
            missing_views=tuple(view for view in VIEWS if view not in evidence.views),
            class_weights=balanced_class_weights(torch.from_numpy(known.labels)),
            threshold=threshold,
            branch_weights=self._weights,
            facts=self._facts(evidence),
        )
        return self.report

    def score(self, pairs: IntArray) -> FloatArray:
        """Give σ(slope · z + intercept + r) for each pair: (m, 2) -> (m,)."""
        z = self._z(pairs)
        r = np.where(
            self._rehearsed(pairs), self.rehearsal.reverses.z(pairs), self.judge.reverses.z(pairs)
        )
        p: FloatArray = expit(self.slope * z + self.intercept + r)
        return p

    def details(self, pairs: IntArray) -> dict[str, FloatArray]:
        """Give the probability that each learner would give alone, without what a reverse adds.

        `order` is the chance that the source comes first, by what a language model has read.
        """
        logits = self._logits(pairs)
        details = {name: expit(self.slope * z + self.intercept) for name, z in logits.items()}
        if self.judge.table.tells_order:
            order = np.where(
                self._rehearsed(pairs),
                self.rehearsal.table.order(pairs),
                self.judge.table.order(pairs),
            )
            details["order"] = expit(WEIGHT * order)
        return details

    def joined_by(self, features: FloatArray, readings: FloatArray | None = None) -> Self:
        """Give the same scorer with more concepts, of which nothing is known but a text."""
        known = self.judge.table.evidence
        X = np.vstack([known.features, features.astype(np.float32)])
        refuse_beyond_limit("sequitur", len(X), "concepts")
        B, M, P, R = known.transitions, known.incidence, known.passages, known.readings
        evidence = Evidence(
            X,
            transitions=None if B is None else _grown(B, len(X), len(X)),
            incidence=None if M is None else _grown(M, len(X), M.shape[1]),
            resource_links=known.resource_links,
            passages=None if P is None else np.vstack([P, np.zeros_like(X[len(P) :])]),
            readings=None if R is None else np.vstack([R, _readings_like(R, readings, features)]),
        )
        joined = copy(self)
        joined._take_up(evidence, self.judge.state(), self.rehearsal.state())
        return joined

    def state(self) -> dict[str, FloatArray]:
        """Give the evidence, the known labels and what was learned from them."""
        return {
            **pack_evidence(self.judge.table.evidence),
            "validation": self.validation,
            "calibration": np.array([self.slope, self.intercept]),
            **{f"judge/{name}": array for name, array in self.judge.state().items()},
            **{f"rehearsal/{name}": array for name, array in self.rehearsal.state().items()},
        }

    @classmethod
    def restore(
        cls, settings: Any, state: Mapping[str, FloatArray], report: FitReport, *, device: str
    ) -> Self:
        """Give back the scorer that `state` was taken from."""
        scorer = cls(settings, device=device)
        scorer.report = report
        scorer._take_up(
            unpack_evidence(state), state_part(state, "judge/"), state_part(state, "rehearsal/")
        )
        scorer.validation = state["validation"].astype(np.int64)
        scorer.slope, scorer.intercept = state["calibration"].tolist()
        return scorer

    def _take_up(
        self,
        evidence: Evidence,
        judge: Mapping[str, FloatArray],
        rehearsal: Mapping[str, FloatArray],
    ) -> None:
        table = self._table(evidence, LabelledPairs.empty())
        self.judge, self.rehearsal = (
            Judge.restored(one, table, self.settings) for one in (judge, rehearsal)
        )

    def _table(self, evidence: Evidence, known: LabelledPairs) -> EvidenceTable:
        s = self.settings
        return EvidenceTable(evidence, known, sources=s.sources, roles=s.roles, folds=s.folds)

    def _kept(self, evidence: Evidence) -> Evidence:
        """Give what is evidence here, as a bundle keeps it: a loaded model sees the same numbers.

        Single precision, half of it for readings. What the settings switch off is left out.
        """
        passages = evidence.passages if self.settings.passages else None
        readings = evidence.readings if self.settings.reverse_labels != "both" else None
        return Evidence(
            evidence.features.astype(np.float32),
            transitions=evidence.transitions,
            incidence=evidence.incidence,
            resource_links=evidence.resource_links if self.settings.resource_order else None,
            passages=None if passages is None else passages.astype(np.float32),
            readings=None if readings is None else _in_few_digits(readings),
        )

    def _facts(self, evidence: Evidence) -> dict[str, float]:
        facts = {
            "evidence columns": float(len(self.judge.table.names)),
            "calibration slope": self.slope,
        }
        if evidence.passages is not None:
            facts["concepts with passages"] = float(evidence.passages.any(axis=1).sum())
        return facts

    def _learn(self, evidence: Evidence, split: PairSplit, seed: int, progress: Progress) -> float:
        """Rehearse, calibrate, learn from everything; give the threshold."""
        table = self._table(evidence, split.train)
        validation = split.validation
        self.judge = self.rehearsal = Judge.taught(
            table, self.settings, seed=seed, then=validation.pairs, progress=progress
        )
        self.validation = validation.pairs
        threshold = self._calibrate(validation)
        known = LabelledPairs(
            np.concatenate([split.train.pairs, validation.pairs]),
            np.concatenate([split.train.labels, validation.labels]),
        )
        if len(validation):
            self.judge = Judge.taught(
                table.knowing(known), self.settings, seed=seed, progress=progress
            )
        return threshold

    def _calibrate(self, asked: LabelledPairs) -> float:
        """Fit slope and intercept to how these pairs are judged, and choose the threshold.

        Known reverses are left out: where negatives were made by turning positives round, pairs
        without a known reverse are positive more often than not, but only among labelled ones.
        Whoever counts reverses known not to hold asks about such pairs, so there they count here.
        """
        self.slope, self.intercept = 1.0, 0.0
        if not enough_to_choose(asked.labels):
            return 0.5
        z = self._z(asked.pairs)
        count = self.settings.reverse_labels == "both"
        r = self.rehearsal.reverses.z(asked.pairs) if count else np.zeros(len(z))
        slope, intercept = fitted_sigmoid(z, r, asked.labels)
        if slope > 0:  # else these pairs say nothing about how sure one may be
            self.slope, self.intercept = slope, intercept
        # Of probabilities that mean what they say, F1 is best when cut at half the best F1 (Lipton,
        # Elkan and Naryanaswamy 2014). That half varies less than the place where it is reached.
        p = expit(self.slope * z + self.intercept + r)
        return f1(asked.labels, p, best_threshold(asked.labels, p)) / 2

    def _z(self, pairs: IntArray) -> FloatArray:
        """Give the weighted mean of what the learners say."""
        logits = self._logits(pairs)
        z: FloatArray = np.sum([weight * logits[name] for name, weight in self._weights.items()], 0)
        return z

    def _logits(self, pairs: IntArray) -> dict[str, FloatArray]:
        """Give what each learner says: of validation pairs the rehearsal's, else the judge's."""
        rehearsed = self._rehearsed(pairs)
        logits: dict[str, FloatArray] = {name: np.empty(len(pairs)) for name in self._weights}
        with _one_thread():
            for judge, here in ((self.rehearsal, rehearsed), (self.judge, ~rehearsed)):
                if here.any():
                    said = judge.logits(pairs[here])
                    for name, z in logits.items():
                        z[here] = said[name]
        return logits

    def _rehearsed(self, pairs: IntArray) -> npt.NDArray[np.bool_]:
        """Say which are validation pairs, in this order or the other: (m, 2) -> (m,)."""
        n = self.judge.table.evidence.concept_count
        low, high = np.sort(self.validation, axis=1).T
        asked_low, asked_high = np.sort(pairs, axis=1).T
        return np.isin(asked_low * n + asked_high, low * n + high)

    @property
    def _weights(self) -> dict[str, float]:
        learners = self.settings.learners.split(" and ")
        total = sum(COUNTS[name] for name in learners)
        return {name: COUNTS[name] / total for name in learners}


def _one_thread() -> AbstractContextManager[object]:
    """Keep products of matrices on one thread.

    They are many and small: threads that wait for each other gain little, and when another
    program wants a core, a fit took 20 times as long.
    """
    limits: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limits


def fitted_sigmoid(z: FloatArray, r: FloatArray, labels: IntArray) -> tuple[float, float]:
    """Give slope and intercept for which σ(slope · z + intercept + r) fits the labels best.

    r counts as it is. Platt scaling, but for r and a weak pull of the slope to 0: pairs that are
    told apart without fault would make it infinite.
    """

    def loss(slope_intercept: FloatArray) -> tuple[float, FloatArray]:
        slope, intercept = slope_intercept
        logit = slope * z + intercept + r
        off = expit(logit) - labels
        value = np.sum(np.logaddexp(0.0, logit) - labels * logit) + slope**2 / 20
        return float(value), np.array([off @ z + slope / 10, off.sum()])

    slope, intercept = minimize(loss, np.array([1.0, 0.0]), jac=True, method="BFGS").x
    return float(slope), float(intercept)


def _in_few_digits(R: FloatArray) -> FloatArray:
    """Give readings, which are many numbers, in half precision if it can hold them."""
    held = 1e-2 < np.abs(R).max() < 1e4
    return np.asarray(R.astype(np.float16 if held else np.float32))


def _readings_like(R: FloatArray, given: FloatArray | None, features: FloatArray) -> FloatArray:
    """Give readings of new concepts as wide as R; zeros where nobody has read about them."""
    shape = len(features), R.shape[1]
    if given is None:
        return np.zeros(shape, dtype=R.dtype)
    if given.shape != shape:
        raise FeatureError(
            f"a new reading has {given.shape[1]} numbers, those of the model have {R.shape[1]}: it "
            "was trained with another language model or by another version of proprl; train again"
        )
    return given.astype(R.dtype)


def _grown(matrix: SparseMatrix, rows: int, columns: int) -> SparseMatrix:
    """Give a matrix of this shape with nothing in what is new."""
    entries = matrix.tocoo()
    return csr_array((entries.data, (entries.row, entries.col)), shape=(rows, columns))
