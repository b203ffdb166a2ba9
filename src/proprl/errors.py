"""Every exception that proprl raises on purpose.

::

    ProprlError
    ├── CourseError            a course folder or table is wrong; carries every problem found
    ├── UnknownConceptError    a name or id that is not in the course; suggests the nearest
    ├── UnknownMethodError     a method that is not in the registry; lists the known ones
    ├── MissingInputError      a course lacks what a method needs; names the file to add
    ├── PublicDataError        a public set is missing, changed or cannot be fetched
    ├── SplitError             the labels cannot be split or are not enough to learn from
    ├── FeatureError           texts cannot be turned into vectors
    │   └── MissingExtraError  ... because an optional package is not installed; names the extra
    ├── TrainingError          learning went wrong, and why
    │   ├── DivergedError      ... because numbers grew beyond all bounds
    │   └── CheckpointError    ... because an unfinished run cannot be continued
    ├── BundleError            a saved model is damaged, foreign or too new
    └── OutputError            a result could not be written; nothing was left half-done

All of them are meant for people: the message says what is wrong, where, and what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class ProprlError(Exception):
    """Base of every error that proprl raises on purpose."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a course: where it stands and what was expected.

    `row` counts as an editor does: the header of a CSV file is row 1. It is None where the
    problem concerns the whole file.
    """

    file: str
    row: int | None
    column: str | None
    value: str | None
    expected: str

    def __str__(self) -> str:
        where = self.file
        if self.row is not None:
            where += f", row {self.row}"
        if self.column is not None:
            where += f", column {self.column}"
        found = "" if self.value is None else f" found {self.value!r};"
        return f"{where}:{found} {self.expected}"


class CourseError(ProprlError):
    """A course folder or table is wrong; `problems` holds everything that was found."""

    SHOWN = 20

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        lines = [f"{source} has {count} problem{'s' if count != 1 else ''}:"]
        lines += [f"  {problem}" for problem in self.problems[: self.SHOWN]]
        if count > self.SHOWN:
            lines.append(f"  ... and {count - self.SHOWN} more")
        super().__init__("\n".join(lines))


class UnknownConceptError(ProprlError):
    """A name or id that is not in the course."""


class UnknownMethodError(ProprlError):
    """A method that is not in the registry."""


class MissingInputError(ProprlError):
    """A course lacks an input that a method needs; the message names the file to add."""


class PublicDataError(ProprlError):
    """A public benchmark set is missing, changed or cannot be fetched; says how to get it."""


class SplitError(ProprlError):
    """The labels cannot be split, or are not enough to learn from."""


class FeatureError(ProprlError):
    """Texts cannot be turned into vectors."""


class MissingExtraError(FeatureError):
    """An optional package is not installed; the message names the extra to install."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra `{extra}`: pip install 'proprl[{extra}]'")


class TrainingError(ProprlError):
    """Learning went wrong; the message says why and what to change."""


class DivergedError(TrainingError):
    """The loss or the scores grew beyond all bounds: these settings do not learn."""


class CheckpointError(TrainingError):
    """An unfinished run cannot be continued."""


class BundleError(ProprlError):
    """A saved model is damaged, foreign or too new."""


class OutputError(ProprlError):
    """A result could not be written; what was there before is untouched."""
