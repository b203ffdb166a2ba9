"""What is wrong with a course, collected so that one error can list all of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from proprl.errors import CourseError, Problem

_LONGEST = 60
"""Characters of a value that a problem shows: enough to find it, not a whole lecture."""


@dataclass
class Findings:
    """The problems found so far: errors forbid the course, warnings do not."""

    source: str  # what is being checked, as the heading of an error names it
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def report(
        self,
        file: str,
        expected: str,
        *,
        row: int | None = None,
        column: str | None = None,
        value: str | None = None,
        warning: bool = False,
    ) -> None:
        """Add a problem: an error, unless it is called a warning. A long value is cut."""
        if value is not None and len(value) > _LONGEST:
            value = value[: _LONGEST - 1] + "…"
        problems = self.warnings if warning else self.errors
        problems.append(Problem(file, row, column, value, expected))

    def in_order(self) -> tuple[list[Problem], list[Problem]]:
        """Return errors and warnings, each file's together and by row."""
        return _by_file_and_row(self.errors), _by_file_and_row(self.warnings)

    def raise_errors(self) -> None:
        """Raise one `CourseError` with every error, if there are any."""
        if self.errors:
            raise CourseError(self.source, self.in_order()[0])


def _by_file_and_row(problems: list[Problem]) -> list[Problem]:
    files = list(dict.fromkeys(problem.file for problem in problems))
    return sorted(problems, key=lambda problem: (files.index(problem.file), problem.row or 0))
