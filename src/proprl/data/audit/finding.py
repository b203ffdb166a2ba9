"""What an audit hands back, and the labelled rows that it looks at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from proprl.arrays import IntArray
from proprl.data.course import Course
from proprl.data.splits.labelled import PARTS, distinct_pairs, pair_codes

Severity = Literal["error", "warning", "note", "ok"]
"""`error`: results on this course cannot be trusted. `ok`: looked for and not found."""

SHOWN = 3
"""How many examples a finding carries."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for: how often it is there, and why that matters."""

    kind: str  # what scripts call it
    title: str  # what people call it
    severity: Severity
    count: int
    total: int  # what `count` is counted among
    meaning: str  # why it matters and what to do
    examples: tuple[str, ...] = ()  # by the names of concepts
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the finding as a JSON object."""
        return vars(self) | {"examples": list(self.examples), "details": dict(self.details)}


def counted(
    kind: str,
    title: str,
    severity: Severity,
    count: int,
    total: int,
    meaning: str,
    *,
    examples: Iterable[str] = (),
    details: Mapping[str, Any] | None = None,
) -> Finding:
    """Return a finding that has this severity if its count is above 0, and is ok otherwise."""
    severity = severity if count else "ok"
    shown = tuple(examples)[:SHOWN]
    return Finding(kind, title, severity, int(count), int(total), meaning, shown, details or {})


@dataclass(frozen=True)
class Audit:
    """Everything that was looked for in a course, and what could not be looked for."""

    course: str
    findings: tuple[Finding, ...]
    skipped: Mapping[str, str]  # checks that could not be made, and why

    def __getitem__(self, kind: str) -> Finding:
        """Return the finding of this kind."""
        return {finding.kind: finding for finding in self.findings}[kind]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that make results on this course untrustworthy."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    def to_json(self) -> dict[str, Any]:
        """Return the audit as a JSON object, findings by kind."""
        return {
            "course": self.course,
            "errors": len(self.errors),
            "findings": {finding.kind: finding.to_json() for finding in self.findings},
            "skipped": dict(self.skipped),
        }


@dataclass(frozen=True)
class LabelledRows:
    """Every row of a course's labelled pairs, repeats included, with the part it stands in."""

    names: tuple[str, ...]  # of the concepts
    pairs: IntArray  # (m, 2)
    labels: IntArray  # (m,)
    parts: npt.NDArray[np.str_]  # (m,): "" where the course names no parts

    @classmethod
    def of(cls, course: Course) -> LabelledRows:
        """Return the rows of a course that has labels."""
        labelled = course.labelled_pairs()
        parts = np.array(course.split_column() or [""] * len(labelled))
        return cls(course.names, labelled.pairs, labelled.labels, parts)

    def __len__(self) -> int:
        return len(self.pairs)

    @cached_property
    def codes(self) -> IntArray:
        """One number per ordered pair, so that pairs are compared as numbers."""
        return pair_codes(self.pairs)

    @cached_property
    def reverse_codes(self) -> IntArray:
        """The code of each row's pair the other way round."""
        return pair_codes(self.pairs[:, ::-1])

    @cached_property
    def first(self) -> npt.NDArray[np.bool_]:
        """Which rows are the first of their ordered pair."""
        return np.isin(np.arange(len(self)), np.unique(self.codes, return_index=True)[1])

    @cached_property
    def positives(self) -> IntArray:
        """The distinct pairs with label 1, shape (p, 2), in order."""
        return distinct_pairs(self.pairs[self.labels == 1])

    def present_parts(self) -> list[str]:
        """Return the parts that hold rows, train first."""
        return [part for part in PARTS if (self.parts == part).any()]

    def show(self, rows: npt.NDArray[np.bool_]) -> list[str]:
        """Return the first few pairs of these rows by the names of their concepts."""
        first = np.sort(np.unique(self.codes[rows], return_index=True)[1])[:SHOWN]
        return [self.arrow(pair) for pair in self.pairs[rows][first]]

    def arrow(self, concepts: Iterable[int]) -> str:
        """Return the names of these concepts, one leading to the next."""
        return " → ".join(self.names[concept] for concept in concepts)
