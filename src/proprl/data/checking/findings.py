"""Collecting everything that is wrong with a course before anything is raised."""

from __future__ import annotations

from dataclasses import dataclass, field

from proprl.errors import Problem

_LONGEST = 60
"""Characters of a value that a problem shows: enough to find it, not a whole lecture."""


def shorten(value: str) -> str:
    """Return the value, or its beginning where it is long.

    >>> shorten("Limits")
    'Limits'
    >>> len(shorten("x" * 1000))
    60
    """
    return value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…"


@dataclass
class Findings:
    """The problems found so far: errors forbid the course, warnings do not."""

    source: str  # what is being checked, as the heading of an error names it
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def error(
        self,
        file: str,
        expected: str,
        *,
        row: int | None = None,
        column: str | None = None,
        value: str | None = None,
    ) -> None:
        """Add something that must be mended."""
        self.errors.append(_problem(file, row, column, value, expected))

    def warn(
        self,
        file: str,
        expected: str,
        *,
        row: int | None = None,
        column: str | None = None,
        value: str | None = None,
    ) -> None:
        """Add something that a person should look at."""
        self.warnings.append(_problem(file, row, column, value, expected))

    def in_order(self) -> tuple[list[Problem], list[Problem]]:
        """Return errors and warnings, each file's together and by row."""
        return _by_file_and_row(self.errors), _by_file_and_row(self.warnings)


def _problem(
    file: str, row: int | None, column: str | None, value: str | None, expected: str
) -> Problem:
    return Problem(file, row, column, None if value is None else shorten(value), expected)


def _by_file_and_row(problems: list[Problem]) -> list[Problem]:
    order = {
        file: position for position, file in enumerate(dict.fromkeys(p.file for p in problems))
    }
    return sorted(problems, key=lambda p: (order[p.file], p.row or 0))
