"""What an audit hands back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

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
    meaning: str  # why it matters and what to do, in one sentence
    examples: tuple[str, ...] = ()  # by the names of concepts
    details: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def to_json(self) -> dict[str, Any]:
        """Give the finding as a JSON object."""
        return vars(self) | {"examples": list(self.examples), "details": dict(self.details)}


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
        """Give the audit as a JSON object, findings by kind."""
        return {
            "course": self.course,
            "errors": len(self.errors),
            "findings": {finding.kind: finding.to_json() for finding in self.findings},
            "skipped": dict(self.skipped),
        }


def counted(
    kind: str,
    title: str,
    severity: Severity,
    count: int,
    total: int,
    meaning: str,
    *,
    examples: list[str] | tuple[str, ...] = (),
    details: Mapping[str, Any] | None = None,
) -> Finding:
    """Return a finding that is of this severity where its count is above 0, and ok elsewhere."""
    return Finding(
        kind,
        title,
        severity if count else "ok",
        int(count),
        int(total),
        meaning,
        tuple(examples[:SHOWN]),
        MappingProxyType(dict(details or {})),
    )
