"""Everything a fitted model knows, and how it is kept in a bundle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter

from proprl.arrays import SparseMatrix
from proprl.data.course import Course
from proprl.data.splits import LabelledPairs, PairSplit
from proprl.errors import BundleError, ProprlError
from proprl.graphs.evidence import Evidence
from proprl.models.base import FitReport, PairScorer, Settings
from proprl.models.registry import method
from proprl.training.bundle import (
    Arrays,
    bundle_files,
    pack_sparse,
    read_bundle,
    unpack_sparse,
    write_bundle,
)
from proprl.version import __version__

REPORT = TypeAdapter(FitReport)


@dataclass(frozen=True)
class Fitted:
    """A fitted method and what it was fitted on: enough to predict without the course."""

    method: str
    preset: str
    settings: Settings
    seed: int
    scorer: PairScorer
    report: FitReport
    split: PairSplit
    concept_ids: tuple[str, ...]
    concept_names: tuple[str, ...]
    encoder: str
    course_name: str
    course_subject: str
    course_fingerprint: str
    validation_metrics: Mapping[str, float | int | None]
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

    def save(self, folder: Path) -> None:
        """Write the bundle, whole or not at all. The same fit gives the same bytes."""
        write_bundle(folder, self._content(), self._arrays())

    @property
    def size(self) -> int:
        """How many bytes the bundle takes."""
        return sum(map(len, bundle_files(self._content(), self._arrays()).values()))

    def _content(self) -> dict[str, Any]:
        return {
            "proprl": __version__,
            "method": self.method,
            "preset": self.preset,
            "settings": self.settings.model_dump(mode="json"),
            "seed": self.seed,
            "report": REPORT.dump_python(self.report, mode="json"),
            "split": {
                "protocol": self.split.protocol,
                "promises_reversed": self.split.promises_reversed,
                "notes": list(self.split.notes),
            },
            "concepts": {"ids": list(self.concept_ids), "names": list(self.concept_names)},
            "encoder": self.encoder,
            "course": {
                "name": self.course_name,
                "subject": self.course_subject,
                "fingerprint": self.course_fingerprint,
            },
            "metrics": {"validation": dict(self.validation_metrics)},
        }

    def _arrays(self) -> dict[str, Arrays]:
        evidence = pack_sparse("transitions", self.transitions) | pack_sparse(
            "incidence", self.incidence
        )
        split = {
            part: np.column_stack([labelled.pairs, labelled.labels])  # (m, 3)
            for part, labelled in self.parts.items()
        }
        return {"weights": self.scorer.state(), "split": split, "evidence": evidence}

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> Fitted:
        """Read a bundle; a damaged, foreign or too new one is refused."""
        content, files = read_bundle(folder)
        try:
            return cls._from_bundle(content, files, device)
        except (KeyError, TypeError, ValueError, RuntimeError, ProprlError) as error:
            # Whole by its checksums, yet not what this version writes.
            what = str(error).splitlines()[0]
            raise BundleError(
                f"{folder} was not written by this version of proprl ({what}); train again"
            ) from error

    @classmethod
    def _from_bundle(
        cls,
        content: Mapping[str, Any],
        files: Mapping[str, Mapping[str, npt.NDArray[Any]]],
        device: str,
    ) -> Fitted:
        scorer_class = method(content["method"])
        settings = scorer_class.settings_type(**content["settings"])
        report = REPORT.validate_python(content["report"])
        if len(content["concepts"]["ids"]) != len(content["concepts"]["names"]):
            raise ValueError("as many ids as names were expected")
        parts = {
            part: LabelledPairs(rows[:, :2], rows[:, 2]) for part, rows in files["split"].items()
        }
        return cls(
            method=content["method"],
            preset=content["preset"],
            settings=settings,
            seed=content["seed"],
            scorer=scorer_class.restore(settings, files["weights"], report, device=device),
            report=report,
            split=PairSplit(
                **parts,
                protocol=content["split"]["protocol"],
                promises_reversed=content["split"]["promises_reversed"],
                notes=tuple(content["split"]["notes"]),
            ),
            concept_ids=tuple(content["concepts"]["ids"]),
            concept_names=tuple(content["concepts"]["names"]),
            encoder=content["encoder"],
            course_name=content["course"]["name"],
            course_subject=content["course"].get("subject", ""),
            course_fingerprint=content["course"]["fingerprint"],
            validation_metrics=content["metrics"]["validation"],
            transitions=unpack_sparse("transitions", files["evidence"]),
            incidence=unpack_sparse("incidence", files["evidence"]),
        )

    @property
    def parts(self) -> dict[str, LabelledPairs]:
        """The parts of the split by name."""
        return {
            "train": self.split.train,
            "validation": self.split.validation,
            "test": self.split.test,
        }
