"""The contract that every method keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.data.splits.grouping import pair_codes
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.errors import TrainingError
from proprl.features.reader import NOBODY
from proprl.graphs.evidence import Evidence
from proprl.progress import SILENT, Progress
from proprl.training.checkpoint import Checkpoint
from proprl.training.loop import History
from proprl.training.objective import balanced_class_weights

Presets: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Named choices of settings; "default" is ours, "paper" the published one."""
State: TypeAlias = Mapping[str, FloatArray]
"""What a fitted method keeps, as named arrays."""


class Settings(BaseModel):
    """Settings of a method: frozen, checked, and without room for misspelt names."""

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


class PairScorer(Protocol):
    """A method: it learns from evidence and labelled pairs, then scores ordered pairs.

    The graph that carries messages (`evidence`) and the pairs to be scored are separate:
    nothing that comes from labels is part of the evidence.
    """

    settings_type: ClassVar[type[Settings]]
    presets: ClassVar[Presets]
    needs: ClassVar[frozenset[str]]
    """What a course must bring, in the words of `proprl.models.needs`; checked before a fit."""
    takes_background: ClassVar[bool]
    """Whether pairs without a label can be learned from; else a fit refuses them."""

    def __init__(self, settings: Any, *, device: str = "auto") -> None: ...

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

    def score(self, pairs: IntArray) -> FloatArray:
        """Give the probability that source is a prerequisite of target: (m, 2) -> (m,)."""

    def details(self, pairs: IntArray) -> dict[str, FloatArray]:
        """Give the parts a score is made of, by name, each of shape (m,); may be empty."""

    def state(self) -> dict[str, FloatArray]:
        """Give everything that `score` needs, as named arrays."""

    @classmethod
    def restore(cls, settings: Any, state: State, report: FitReport, *, device: str) -> Self:
        """Give back the fitted method that `state` was taken from."""


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

    A background row weighs as much as a labelled negative, and the balance does not count it.
    Were all rows counted, a positive would weigh as much as the twenty background rows drawn for
    it; the labelled negatives, which tell the direction, would weigh next to nothing. Average
    precision with all rows counted, and with labels alone (development half of `lecturebank-208`,
    one draw): ConLearn 0.14 and 0.41, SVM 0.31 and 0.34, HGAP-Net 0.42 and 0.44, GKROM 0.42 and
    0.43, ProPRL 0.46 and 0.45, RF 0.46 and 0.41. All scores become lower by it, which calibration
    puts right.
    """
    if len(np.unique(train.labels)) < 2:
        return (1.0, 1.0)
    return balanced_class_weights(torch.from_numpy(train.labels))


def refuse_background(name: str, background: IntArray | None, why: str) -> None:
    """Raise if a method is given pairs without a label and cannot learn from them."""
    if background is not None and len(background):
        raise TrainingError(
            f"{name} takes no background, because {why}: fit it with background=None"
        )


def state_part(state: State, prefix: str) -> dict[str, FloatArray]:
    """Give the arrays of a state whose names begin with `prefix`, without it.

    >>> state_part({"line/w": 1.0, "forest/roots": 2.0}, "line/")
    {'w': 1.0}
    """
    return {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}
