"""The contract of a method, and what all methods share: the fit, the report, the saved state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
from pydantic import BaseModel, ConfigDict

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.data.splits.labelled import LabelledPairs, pair_codes
from proprl.data.splits.parts import PairSplit
from proprl.errors import BundleError, TrainingError
from proprl.evaluation.metrics import best_threshold, enough_to_choose
from proprl.features.reader import NOBODY
from proprl.graphs.evidence import Evidence
from proprl.models.needs import SUPERVISED
from proprl.progress import SILENT, Progress
from proprl.training.bundle import pack_evidence, unpack_evidence
from proprl.training.checkpoint import Checkpoint
from proprl.training.loop import History

Presets: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Named choices of settings; "default" is ours, "paper" the published one."""
State: TypeAlias = Mapping[str, FloatArray]
"""What a fitted method keeps, as named arrays."""

SCORED_AT_ONCE = 4_096
"""Pairs scored at once: bounds the memory that their numbers take."""
BALANCED = 0.1
"""Labels are balanced if the share of positives is within this of one half."""


class Settings(BaseModel):
    """Settings of a method: frozen and checked; a misspelt name is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @property
    def read_by(self) -> str:
        """Which language model reads about the concepts; see `proprl.features.reader`."""
        return NOBODY


@dataclass(frozen=True)
class FitReport:
    """What a fit used and what it chose."""

    views: tuple[str, ...] = ()
    """The views of the course that took part; see `Evidence.views`."""
    missing_views: tuple[str, ...] = ()
    """The views the course could not offer; they were switched off."""
    class_weights: tuple[float, float] = (1.0, 1.0)
    """The weights of label 0 and label 1; both 1 where the labels are balanced."""
    threshold: float = 0.5
    """A pair is called a prerequisite from this probability on."""
    branch_weights: Mapping[str, float] = field(default_factory=dict)
    """What each branch counts in the final probability; they sum to 1."""
    history: History = field(default_factory=History)
    """Every epoch, for methods that are trained in epochs."""
    facts: Mapping[str, float | str] = field(default_factory=dict)
    """What the method itself chose or counted, by name; RefD, for one, tells its sign."""


@dataclass(frozen=True)
class Task:
    """What a fit is given."""

    evidence: Evidence
    split: PairSplit
    background: IntArray | None
    seed: int
    progress: Progress
    checkpoint: Checkpoint | None

    @cached_property
    def rows(self) -> LabelledPairs:
        """The rows to learn from; see `training_rows`."""
        return training_rows(self.split, self.background)

    @cached_property
    def class_weights(self) -> tuple[float, float]:
        """The weights of label 0 and of label 1; see `label_weights`."""
        return label_weights(self.split.train)

    @property
    def row_weights(self) -> FloatArray:
        """The weight of each row's label: (m,)."""
        return np.asarray(self.class_weights)[self.rows.labels]

    def report(self, views: tuple[str, ...] = (), **chosen: Any) -> FitReport:
        """Give a report of a method that can use these views, with what it has chosen."""
        present = self.evidence.views
        return FitReport(
            views=tuple(view for view in views if view in present),
            missing_views=tuple(view for view in views if view not in present),
            class_weights=self.class_weights,
            **chosen,
        )


class PairScorer(ABC):
    """A method: it learns from evidence and labelled pairs, then scores ordered pairs.

    A method says how it learns (`learn`) and scores (`score`), what it keeps (`state`), and how it
    takes that up again (`take_up`).

    The graph that carries messages (`evidence`) and the pairs to be scored are separate: nothing
    that comes from labels is part of the evidence.
    """

    settings_type: ClassVar[type[Settings]] = Settings
    presets: ClassVar[Presets] = {"default": {}}
    needs: ClassVar[frozenset[str]] = SUPERVISED
    """What a course must bring, in the words of `proprl.models.needs`; checked before a fit."""
    takes_background: ClassVar[bool] = True
    """Whether pairs without a label can be learned from; else a fit refuses them."""

    def __init__(self, settings: Any, *, device: str = "auto") -> None:  # noqa: ARG002 - networks'
        self.settings = settings
        self.report = FitReport()

    def fit(
        self,
        evidence: Evidence,
        split: PairSplit,
        *,
        background: IntArray | None = None,
        seed: int,
        progress: Progress = SILENT,
        checkpoint: Checkpoint | None = None,
    ) -> FitReport:
        """Learn from the training pairs, choose on the validation pairs, never see the test.

        `background` holds ordered pairs without a label (k, 2). They are training rows with label 0
        and nothing else: see `training_rows`. None means none.
        """
        self.report = self.learn(Task(evidence, split, background, seed, progress, checkpoint))
        return self.report

    @abstractmethod
    def learn(self, task: Task) -> FitReport:
        """Learn, and give the report."""

    @abstractmethod
    def score(self, pairs: IntArray) -> FloatArray:
        """Give the probability that source is a prerequisite of target: (m, 2) -> (m,)."""

    def details(self, pairs: IntArray) -> dict[str, FloatArray]:  # noqa: ARG002
        """Give the parts that a score is made of, by name, each (m,); here it has none."""
        return {}

    @abstractmethod
    def state(self) -> dict[str, FloatArray]:
        """Give everything that `score` needs, as named arrays."""

    @abstractmethod
    def take_up(self, state: State) -> None:
        """Take up what `state` gave; `report` is there already."""

    @classmethod
    def restore(cls, settings: Any, state: State, report: FitReport, *, device: str) -> Self:
        """Give back the fitted method that `state` was taken from."""
        scorer = cls(settings, device=device)
        scorer.report = report
        scorer.take_up(state)
        return scorer

    def best_threshold(self, validation: LabelledPairs, otherwise: float = 0.5) -> float:
        """Give the threshold that does best on these pairs; `otherwise` where they are too few."""
        if not enough_to_choose(validation.labels):
            return otherwise
        return best_threshold(validation.labels, self.score(validation.pairs))


@dataclass(frozen=True)
class HeldOut:
    """Scores of pairs, each given by a model that had not learned from that pair."""

    labels: LabelledPairs
    scores: FloatArray  # (m,) of the labelled pairs
    background: FloatArray  # (k,) scores of background pairs
    of_new: FloatArray = field(default_factory=lambda: np.empty(0))
    """Scores (l,) of open pairs with a concept that no label is about."""


@runtime_checkable
class CrossFits(Protocol):
    """A method that scores every label by what it had learned from the others."""

    held_out: HeldOut


@runtime_checkable
class TakesNewConcepts(Protocol):
    """A method that can score concepts of which it knows a vector and nothing else."""

    def joined_by(
        self,
        features: FloatArray,
        readings: FloatArray | None = None,
        named_in: SparseMatrix | None = None,
    ) -> PairScorer:
        """Give a scorer that knows these k concepts too, as its last rows; nothing is learned.

        `features` (k × d) are their texts' vectors, `readings` (k × d'') what the model's reader
        makes of them, if it has one. `named_in` (n + k × n + k) says whose text names whom.
        """


def training_rows(split: PairSplit, background: IntArray | None) -> LabelledPairs:
    """Give the rows a method learns from: the training labels, then background with label 0.

    These rows are for learning alone. What describes a pair (graphs, counts of labels, scales) is
    made of `split.train`: a pair without a label says nothing about other pairs.
    """
    if background is None or len(background) == 0:
        return split.train
    unlabelled = LabelledPairs(background, np.zeros(len(background), dtype=np.int64))
    known = np.concatenate([split.train.pairs, split.validation.pairs])
    labelled = np.isin(pair_codes(unlabelled.pairs), pair_codes(known))
    if labelled.any():
        first = tuple(unlabelled.pairs[np.argmax(labelled)].tolist())
        raise TrainingError(
            f"{labelled.sum()} of {len(unlabelled)} background pairs have a label in train or "
            f"validation, such as {first} in concept rows: leave out of the background what is "
            "labelled"
        )
    return LabelledPairs(
        np.concatenate([split.train.pairs, unlabelled.pairs]),
        np.concatenate([split.train.labels, unlabelled.labels]),
    )


def label_weights(train: LabelledPairs) -> tuple[float, float]:
    """Give the weights of label 0 and of label 1 that let both labels count alike.

    Balanced labels weigh 1: other weights would only add noise.

    A background row weighs as much as a labelled negative, and the balance does not count it.
    Were all rows counted, a positive would weigh as much as the twenty background rows drawn for
    it; the labelled negatives, which tell the direction, would weigh next to nothing. Average
    precision with all rows counted, and with labels alone (development half of `lecturebank-208`,
    one draw): ConLearn 0.14 and 0.41, SVM 0.31 and 0.34, HGAP-Net 0.42 and 0.44, GKROM 0.42 and
    0.43, ProPRL 0.46 and 0.45, RF 0.46 and 0.41. It lowers all scores; calibration puts that
    right.
    """
    count, positives = len(train), int(train.labels.sum())
    if positives in (0, count) or abs(positives / count - 0.5) <= BALANCED:
        return (1.0, 1.0)
    return (count / (2 * (count - positives)), count / (2 * positives))


def as_kept(evidence: Evidence) -> Evidence:
    """Give evidence as a bundle keeps it: so a loaded model sees the same numbers."""
    readings = evidence.readings
    return replace(
        evidence,
        features=evidence.features.astype(np.float32),
        resource_features=None,
        readings=None if readings is None else readings.astype(np.float16),
    )


def pack_known(evidence: Evidence, known: LabelledPairs) -> dict[str, FloatArray]:
    """Give the evidence and the known labels as named arrays."""
    labels = {"known/pairs": known.pairs, "known/labels": known.labels}
    return {**pack_evidence(evidence), **labels}


def unpack_known(state: State) -> tuple[Evidence, LabelledPairs]:
    """Give back what `pack_known` made arrays of."""
    evidence = unpack_evidence(state)
    pairs, labels = (state[f"known/{part}"].astype(np.int64) for part in ("pairs", "labels"))
    if (pairs >= evidence.concept_count).any():
        raise BundleError("a known label names a concept row that is not there")
    return evidence, LabelledPairs(pairs, labels)


def share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Give part / whole, and 0 where the whole is 0.

    >>> share(np.array([1.0, 2.0]), np.array([4.0, 0.0]))
    array([0.25, 0.  ])
    """
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
