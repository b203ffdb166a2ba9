"""The contract that every method keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from pydantic import BaseModel, ConfigDict

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits import PairSplit
from proprl.features.readings import NOBODY
from proprl.graphs.evidence import Evidence
from proprl.progress import SILENT, Progress
from proprl.training.checkpoint import Checkpoint
from proprl.training.loop import History


class Settings(BaseModel):
    """Settings of a method: frozen, checked, and without room for misspelt names."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @property
    def reads_passages(self) -> bool:
        """Whether passages that mention a concept are evidence; to encode them takes a while."""
        return False

    @property
    def read_by(self) -> str:
        """Which language model reads about the concepts; see `proprl.features.readings`."""
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
    presets: ClassVar[Mapping[str, Mapping[str, Any]]]
    needs: ClassVar[frozenset[str]]
    """What a course must bring, in the words of `proprl.models.needs`; checked before a fit."""

    def __init__(self, settings: Any, *, device: str = "auto") -> None: ...

    def fit(
        self,
        evidence: Evidence,
        split: PairSplit,
        *,
        seed: int,
        progress: Progress = SILENT,
        checkpoint: Checkpoint | None = None,
    ) -> FitReport:
        """Learn from the training pairs, choose on the validation pairs, never see the test."""

    def score(self, pairs: IntArray) -> FloatArray:
        """Give the probability that source is a prerequisite of target: (m, 2) -> (m,)."""

    def details(self, pairs: IntArray) -> dict[str, FloatArray]:
        """Give the parts a score is made of, by name, each of shape (m,); may be empty."""

    def state(self) -> dict[str, FloatArray]:
        """Give everything that `score` needs, as named arrays."""

    @classmethod
    def restore(
        cls, settings: Any, state: Mapping[str, FloatArray], report: FitReport, *, device: str
    ) -> Self:
        """Give back the fitted method that `state` was taken from."""


@runtime_checkable
class TakesNewConcepts(Protocol):
    """A method that can score concepts of which it knows a vector and nothing else."""

    def joined_by(self, features: FloatArray, readings: FloatArray | None = None) -> PairScorer:
        """Give a scorer whose last rows are these concepts (k × d); it learns nothing.

        `readings` (k × d'') is what the model's reader makes of them, if it has one.
        """


def state_part(state: Mapping[str, FloatArray], prefix: str) -> dict[str, FloatArray]:
    """Give the arrays of a state whose names begin with `prefix`, without it.

    >>> state_part({"line/w": 1.0, "forest/roots": 2.0}, "line/")
    {'w': 1.0}
    """
    return {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}
