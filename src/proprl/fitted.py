"""Everything a fitted model knows, and how it is kept in a bundle."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter

from proprl.arrays import SparseMatrix
from proprl.bundle import (
    UNREADABLE,
    Files,
    Said,
    check_fit,
    check_sizes,
    not_ours,
    opened,
    pack_course,
    pack_held_out,
    unpack_course,
    unpack_held_out,
    unpack_split,
)
from proprl.calibrating import Fit
from proprl.data.course import Course
from proprl.data.splits.labelled import PARTS, LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.evaluation.metrics import ENOUGH_TO_CHOOSE
from proprl.graphs.evidence import Evidence
from proprl.models.base import FitReport, PairScorer, Settings
from proprl.models.registry import method
from proprl.training.bundle import Arrays, bundle_files, pack_labelled, write_bundle
from proprl.version import __version__

REPORT = TypeAdapter(FitReport)


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
    transitions: SparseMatrix | None  # kept so that explanations can point at evidence
    incidence: SparseMatrix | None

    @classmethod
    def on(cls, course: Course, evidence: Evidence, **facts: Any) -> Fitted:
        """Give what was fitted on a course; `facts` are the fields that it does not tell."""
        return cls(
            concept_ids=course.ids,
            concept_names=course.names,
            course_name=course.name,
            course_subject=course.subject,
            course_fingerprint=course.fingerprint,
            transitions=evidence.transitions,
            incidence=evidence.incidence,
            **facts,
        )

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

    def save(self, folder: Path) -> None:
        """Write the bundle, whole or not at all. The same fit gives the same bytes."""
        write_bundle(folder, self._content(), self._arrays())

    @property
    def size(self) -> int:
        """How many bytes the bundle takes."""
        return sum(map(len, bundle_files(self._content(), self._arrays()).values()))

    def _content(self) -> dict[str, Any]:
        calibration, of_new = self.fit.calibration, self.fit.calibration_of_new
        return {
            "proprl": __version__,
            "method": self.method,
            "preset": self.preset,
            "settings": self.settings.model_dump(mode="json"),
            "seed": self.seed,
            "report": REPORT.dump_python(self.report, mode="json"),
            "calibration": None if calibration is None else asdict(calibration),
            "calibration_of_new": None if of_new is None else asdict(of_new),
            "background": self.background,
            "split": {
                "protocol": self.split.protocol,
                "promises_reversed": self.split.promises_reversed,
                "notes": list(self.split.notes),
            },
            "notes": list(self.notes),
            "concepts": {"ids": list(self.concept_ids), "names": list(self.concept_names)},
            "encoder": self.encoder,
            "course": {
                "name": self.course_name,
                "subject": self.course_subject,
                "fingerprint": self.course_fingerprint,
            },
        }

    def _arrays(self) -> dict[str, Arrays]:
        labels: dict[str, npt.NDArray[Any]] = {}
        for part, labelled in self.parts.items():
            labels |= pack_labelled(part, labelled)
        return {
            "weights": self.scorer.state(),
            "labels": labels,
            "heldout": pack_held_out(self.fit.held_out),
            "evidence": pack_course(self.transitions, self.incidence),
        }

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> Fitted:
        """Read a bundle; a damaged, foreign, too old or too new one is refused."""
        content, files = opened(folder)
        try:
            return cls._from_bundle(Said.model_validate(content), files, device)
        except UNREADABLE as error:
            raise not_ours(folder, error) from error

    @classmethod
    def _from_bundle(cls, said: Said, files: Files, device: str) -> Fitted:
        check_sizes(said, files)
        n = len(said.concepts.ids)
        split = unpack_split(said.split, files["labels"], n)
        scorer_class = method(said.method)
        settings = scorer_class.settings_type(**said.settings)
        fit = Fit(
            scorer_class.restore(settings, files["weights"], said.report, device=device),
            said.report,
            said.calibration,
            unpack_held_out(files["heldout"]),
            said.calibration_of_new,
            np.unique(split.train.joined(split.validation).pairs),
        )
        check_fit(fit, split, files["weights"], n)
        shown = unpack_course(files["evidence"], n)
        return cls(
            method=said.method,
            preset=said.preset,
            settings=settings,
            seed=said.seed,
            fit=fit,
            split=split,
            background=said.background,
            notes=said.notes,
            concept_ids=said.concepts.ids,
            concept_names=said.concepts.names,
            encoder=said.encoder,
            course_name=said.course.name,
            course_subject=said.course.subject,
            course_fingerprint=said.course.fingerprint,
            transitions=shown.transitions,
            incidence=shown.incidence,
        )
