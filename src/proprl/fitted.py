"""A fitted model: what it learned, what it was fitted on, and what that tells of the map."""

from __future__ import annotations

from dataclasses import dataclass

from proprl.arrays import SparseMatrix
from proprl.calibrating import Fit
from proprl.data.resources import Resources
from proprl.data.splits.labelled import PARTS, LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.evaluation.metrics import ENOUGH_TO_CHOOSE
from proprl.models.base import FitReport, PairScorer, Settings


@dataclass(frozen=True)
class Expected:
    """How many prerequisites there are among the open pairs, as far as the model can tell."""

    number: float
    low: float
    high: float
    """It lies between these in 95 of 100 resamples."""
    open_pairs: int
    """Pairs without a label in either order that do not follow from labels, nor their reverses."""

    @property
    def one_in(self) -> float:
        """One open pair in so many is a prerequisite."""
        return self.open_pairs / self.number if self.number else float("inf")


@dataclass(frozen=True)
class Fitted:
    """A fitted method and what it was fitted on: enough to predict without the course."""

    method: str
    preset: str
    settings: Settings
    seed: int
    fit: Fit
    split: PairSplit
    background: int
    """How many pairs without a label were learned from."""
    concept_ids: tuple[str, ...]
    concept_names: tuple[str, ...]
    encoder: str
    course_name: str
    course_subject: str
    course_fingerprint: str
    notes: tuple[str, ...]
    """What a person should know before trusting the model, in sentences."""
    transitions: SparseMatrix | None
    incidence: SparseMatrix | None
    """This and `transitions` are kept so that explanations can point at evidence."""
    topics: tuple[str, ...] = ()
    """The topic of each concept, "" where it has none; () where the course names no topics."""
    resources: Resources | None = None
    """Of the columns of `incidence`; None without it."""

    @property
    def scorer(self) -> PairScorer:
        """The fitted method."""
        return self.fit.scorer

    @property
    def report(self) -> FitReport:
        """What the fit used and chose."""
        return self.fit.report

    @property
    def parts(self) -> dict[str, LabelledPairs]:
        """The parts of the split by name."""
        return {part: getattr(self.split, part) for part in PARTS}

    @property
    def known(self) -> LabelledPairs:
        """The labels that were learned or chosen from: never those of the test part."""
        return self.split.train.joined(self.split.validation)

    @property
    def enough(self) -> bool:
        """Whether there are labels enough to say anything of the whole map.

        On `campus`, learned edges (from 0.3 on) of three models with ten labels promised 265, and
        94 were right; with twenty, 100 and 97.
        """
        return len(self.known) >= ENOUGH_TO_CHOOSE

    @property
    def positives_alone(self) -> bool:
        """Whether nobody has said of any pair that it is no prerequisite."""
        return len(self.known) > 0 and bool(self.known.labels.all())

    @property
    def believed(self) -> float | None:
        """The probability from which on a pair of the map is believed; None if nothing says so."""
        return self.fit.calibration.believed if self.fit.calibration and self.enough else None

    @property
    def expected(self) -> Expected | None:
        """How many prerequisites there are among open pairs; None where nothing says so."""
        if self.believed is None:
            return None
        number, low, high, count = 0.0, 0.0, 0.0, 0
        for one in (self.fit.calibration, self.fit.calibration_of_new):
            if one and one.base_rate is not None and one.interval is not None:
                number += one.base_rate * one.open_pairs
                low += one.interval[0] * one.open_pairs
                high += one.interval[1] * one.open_pairs
                count += one.open_pairs
        return Expected(number, low, high, count)
