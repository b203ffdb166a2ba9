"""Sequitur: what follows from what. Explicit evidence, two learners, one calibrated probability.

*Trees* and a *line* (logistic regression) read the same evidence about a pair: what texts, moves
and resources say of it, and what is known of other pairs (`evidence_table`).

Five juries of them learn from four fifths of the labelled pairs each, validation pairs included. A
pair with a label is judged by the jury that has not learned from it, any other by all five. So all
labels are learned from, and what is said of a labelled pair is as honest as of any other: slope,
intercept and threshold are fitted to it, and figures on validation pairs mean what they say.

z = mean of the learners' logits, p = σ(slope · z + intercept + r). r is what a known label of the
reverse order adds (`reverse_labels`), mostly 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from pydantic import Field
from scipy.sparse import csr_array
from scipy.special import expit, logit
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.data.splits import LabelledPairs, PairSplit
from proprl.evaluation.metrics import best_threshold, enough_to_choose, f1
from proprl.graphs.evidence import Evidence
from proprl.models.autoencoder import refuse_beyond_limit
from proprl.models.base import FitReport, Settings, state_part
from proprl.models.evidence_table import EvidenceTable, Sources
from proprl.models.forest import Forest, flat_forest, mean_share
from proprl.models.known_pairs import fold_of
from proprl.models.line import Line
from proprl.models.needs import SUPERVISED
from proprl.models.proprl_network import VIEWS
from proprl.models.reverse_labels import ReverseLabels
from proprl.training.bundle import pack_sparse, unpack_sparse
from proprl.training.checkpoint import Checkpoint
from proprl.training.objective import balanced_class_weights
from proprl.training.progress import SILENT, Progress

# A learner is never surer than this: one must not outvote the other.
SUREST = 0.999
JURIES, JURY_SALT = 5, 1_000
STEPS = JURIES + 2  # of a progress bar: lessons, juries, calibration
# With fewer labels of a kind, four fifths of them would teach a jury too little.
LABELS_FOR_JURIES = 20
# What a lesson about a newcomer counts: pairs of known concepts are asked about more often.
NEWCOMERS = 0.3


class SequiturSettings(Settings):
    """Settings of Sequitur."""

    trees: int = Field(100, ge=1)
    """Trees of a jury."""
    leaf: int = Field(2, ge=1)
    """Rows that a leaf holds at least."""
    shyness: float = Field(100.0, gt=0)
    """How strongly the line's coefficients are drawn to 0."""
    dealt: int = Field(2, ge=1)
    """How often known pairs are dealt into folds; each time gives every pair another row."""
    reverse_labels: bool = True
    """Whether a known label of the reverse order is evidence."""
    sources: Sources = "course and labels"
    """What else is evidence: the course, the labels of other pairs, or both."""
    newcomers: bool = True
    """Whether some lessons are about concepts of which only the text is known."""
    members: tuple[Literal["trees", "line"], ...] = Field(("trees", "line"), min_length=1)


class SequiturScorer:
    """Trees and a line under the common contract; see `PairScorer`."""

    settings_type: ClassVar[type[Settings]] = SequiturSettings
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"default": {}}
    needs: ClassVar[frozenset[str]] = SUPERVISED

    table: EvidenceTable
    juries: list[Jury]
    reverses: ReverseLabels
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
        """Learn from the training and validation pairs, and calibrate on how they are judged."""
        refuse_beyond_limit("sequitur", evidence.concept_count, "concepts")
        evidence = _in_single_precision(evidence)
        progress.begin("evidence", STEPS)
        with _one_thread():
            self._learn(evidence, split, seed, progress)
            threshold = self._calibrate()
        progress.step()
        progress.end()
        members = self.settings.members
        self.report = FitReport(
            views=evidence.views,
            missing_views=tuple(view for view in VIEWS if view not in evidence.views),
            class_weights=balanced_class_weights(torch.from_numpy(split.train.labels)),
            threshold=threshold,
            branch_weights=dict.fromkeys(members, 1 / len(members)),
            facts={"evidence columns": float(len(self.table.names)), "slope": self.slope},
        )
        return self.report

    def score(self, pairs: IntArray) -> FloatArray:
        """Give σ(slope · z + intercept + r) for each pair: (m, 2) -> (m,)."""
        z = self.slope * self._z(pairs) + self.intercept
        p: FloatArray = expit(z + self.reverses.z(pairs))
        return p

    def details(self, pairs: IntArray) -> dict[str, FloatArray]:
        """Give each member's probability."""
        return {name: expit(z) for name, z in self._logits(pairs).items()}

    def joined_by(self, features: FloatArray) -> Self:
        """Give the same scorer with more concepts, of which nothing is known but a vector."""
        known = self.table.evidence
        X = np.vstack([known.features, features.astype(np.float32)])
        refuse_beyond_limit("sequitur", len(X), "concepts")
        B, M = known.transitions, known.incidence
        evidence = Evidence(
            X,
            transitions=None if B is None else _grown(B, len(X), len(X)),
            incidence=None if M is None else _grown(M, len(X), M.shape[1]),
        )
        joined = copy(self)
        joined.table = EvidenceTable(evidence, self.table.known, sources=self.settings.sources)
        return joined

    def state(self) -> dict[str, FloatArray]:
        """Give the evidence, the known labels and what the members learned."""
        evidence, known = self.table.evidence, self.table.known
        return {
            "evidence/features": evidence.features,
            **pack_sparse("evidence/transitions", evidence.transitions),
            **pack_sparse("evidence/incidence", evidence.incidence),
            "known/pairs": known.pairs,
            "known/labels": known.labels,
            "reverses/pairs": self.reverses.known.pairs,
            "reverses/labels": self.reverses.known.labels,
            "reverses/weights": self.reverses.weights,
            "calibration": np.array([self.slope, self.intercept]),
            **{
                f"jury {number}/{name}": array
                for number, jury in enumerate(self.juries)
                for name, array in jury.state().items()
            },
        }

    @classmethod
    def restore(
        cls, settings: Any, state: Mapping[str, FloatArray], report: FitReport, *, device: str
    ) -> Self:
        """Give back the scorer that `state` was taken from."""
        scorer = cls(settings, device=device)
        scorer.report = report
        evidence = Evidence(
            state["evidence/features"],
            transitions=unpack_sparse("evidence/transitions", state),
            incidence=unpack_sparse("evidence/incidence", state),
        )
        scorer.table = EvidenceTable(evidence, _labelled(state, "known"), sources=settings.sources)
        scorer.reverses = ReverseLabels(_labelled(state, "reverses"), state["reverses/weights"])
        count = len({name.partition("/")[0] for name in state if name.startswith("jury ")})
        scorer.juries = [Jury.restored(state_part(state, f"jury {k}/")) for k in range(count)]
        scorer.slope, scorer.intercept = state["calibration"].tolist()
        return scorer

    def _learn(self, evidence: Evidence, split: PairSplit, seed: int, progress: Progress) -> None:
        """Let each jury learn from the labelled pairs outside its fold."""
        s, train = self.settings, split.train
        known = LabelledPairs(
            np.concatenate([train.pairs, split.validation.pairs]),
            np.concatenate([train.labels, split.validation.labels]),
        )
        self.table = EvidenceTable(evidence, known, sources=s.sources)
        # Of training pairs only: both orders of a pair often stand in one part, and validation
        # pairs would be judged by more than is known of pairs that are asked about later.
        self.reverses = ReverseLabels.learned(train)
        if not s.reverse_labels:
            self.reverses = ReverseLabels(train, np.zeros(2))
        lessons = [Lesson(known, self.table.rows(known.pairs, salt)) for salt in range(s.dealt)]
        if s.newcomers:
            rows, asked = self.table.lessons_about_newcomers(known)
            lessons.append(Lesson(asked, rows, counts=NEWCOMERS))
        progress.step()
        classes = np.array(balanced_class_weights(torch.from_numpy(known.labels)))
        self.juries = []
        juries = _jury_count(known)
        for jury in range(juries):
            kept = [lesson.outside(jury, juries) for lesson in lessons]
            y = np.concatenate([lesson.labelled.labels for lesson in kept])
            counts = np.concatenate([np.full(len(one.rows), one.counts) for one in kept])
            x = np.vstack([lesson.rows for lesson in kept])
            self.juries.append(Jury.fitted(x, y, counts * classes[y], s, (seed + jury) % 2**32))
            progress.step(JURIES // juries)

    def _calibrate(self) -> float:
        """Fit slope and intercept to how labelled pairs are judged, and choose the threshold."""
        self.slope, self.intercept = 1.0, 0.0
        known = self.table.known
        if len(self.juries) == 1 or not enough_to_choose(known.labels):
            return 0.5
        z = self._z(known.pairs)
        fitted = LogisticRegression(C=10.0).fit(z[:, None], known.labels)
        if fitted.coef_[0, 0] > 0:  # else these pairs say nothing about how sure one may be
            self.slope, self.intercept = float(fitted.coef_[0, 0]), float(fitted.intercept_[0])
        # Of probabilities that mean what they say, F1 is best when cut at half the best F1 (Lipton,
        # Elkan and Naryanaswamy 2014). That half varies less than the place where it is reached.
        p = expit(self.slope * z + self.intercept)
        return f1(known.labels, p, best_threshold(known.labels, p)) / 2

    def _z(self, pairs: IntArray) -> FloatArray:
        return np.asarray(np.mean(list(self._logits(pairs).values()), axis=0))

    def _logits(self, pairs: IntArray) -> dict[str, FloatArray]:
        """Give each learner's logit: of the jury that may judge a pair, or the mean of all."""
        with _one_thread():
            x = self.table.rows(pairs)
            said = [jury.logits(x) for jury in self.juries]
        fold = fold_of(pairs, len(self.juries), JURY_SALT)
        labelled = self.table.is_known(pairs)
        return {
            name: np.where(
                labelled,
                np.stack([one[name] for one in said])[fold, np.arange(len(pairs))],
                np.mean([one[name] for one in said], axis=0),
            )
            for name in self.settings.members
        }


@dataclass(frozen=True)
class Lesson:
    """Labelled pairs to learn from, the rows that describe them, and what each of them counts."""

    labelled: LabelledPairs
    rows: FloatArray
    counts: float = 1.0

    def outside(self, jury: int, juries: int) -> Lesson:
        """Give the part that this jury learns from; a single one learns from everything."""
        if juries == 1:
            return self
        kept = np.flatnonzero(fold_of(self.labelled.pairs, juries, JURY_SALT) != jury)
        return replace(self, labelled=self.labelled.take(kept), rows=self.rows[kept])


@dataclass(frozen=True)
class Jury:
    """Trees and a line that learned from the same rows."""

    forest: Forest
    line: Line

    @classmethod
    def fitted(
        cls, x: FloatArray, y: IntArray, weights: FloatArray, s: SequiturSettings, seed: int
    ) -> Self:
        """Learn from rows, which count by their weights."""
        trees: Any = ExtraTreesClassifier(
            s.trees, min_samples_leaf=s.leaf, max_features=0.3, random_state=seed
        ).fit(x, y, sample_weight=weights)
        forest = flat_forest([tree.tree_ for tree in trees.estimators_])
        return cls(forest, Line.fitted(x, y, weights, s.shyness))

    @classmethod
    def restored(cls, state: Mapping[str, FloatArray]) -> Self:
        """Give back the jury that `state` was taken from."""
        return cls(state_part(state, "forest/"), Line(**state_part(state, "line/")))

    def logits(self, x: FloatArray) -> dict[str, FloatArray]:
        """Give what each learner says of each row."""
        p = {"trees": mean_share(x, self.forest), "line": expit(self.line.z(x))}
        return {name: logit(values.clip(1 - SUREST, SUREST)) for name, values in p.items()}

    def state(self) -> dict[str, FloatArray]:
        """Give what was learned."""
        forest = {f"forest/{name}": array for name, array in self.forest.items()}
        return forest | {f"line/{name}": array for name, array in self.line.state().items()}


def _jury_count(known: LabelledPairs) -> int:
    fewest = min(int(known.labels.sum()), int((1 - known.labels).sum()))
    return JURIES if fewest >= LABELS_FOR_JURIES else 1


def _one_thread() -> AbstractContextManager[object]:
    """Keep products of matrices on one thread.

    They are many and small: threads that wait for each other gain little, and when another
    program wants a core, a fit took 20 times as long.
    """
    limits: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limits


def _in_single_precision(evidence: Evidence) -> Evidence:
    """Give the evidence as it is kept, so that a loaded model sees the same numbers."""
    return Evidence(
        evidence.features.astype(np.float32),
        transitions=evidence.transitions,
        incidence=evidence.incidence,
    )


def _grown(matrix: SparseMatrix, rows: int, columns: int) -> SparseMatrix:
    """Give a matrix of this shape with nothing in what is new."""
    entries = matrix.tocoo()
    return csr_array((entries.data, (entries.row, entries.col)), shape=(rows, columns))


def _labelled(state: Mapping[str, FloatArray], name: str) -> LabelledPairs:
    pairs, labels = (state[f"{name}/{part}"].astype(np.int64) for part in ("pairs", "labels"))
    return LabelledPairs(pairs, labels)
