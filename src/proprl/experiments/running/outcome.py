"""What an experiment is given and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proprl.experiments.running.run import Run
from proprl.experiments.settings.published import SETS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Wanted:
    """What was asked for; None leaves the choice to the experiment."""

    asked_courses: Sequence[str] | None = None
    methods: Sequence[str] | None = None
    protocol: str = "published"
    repeats: int = 5
    """Seeds, or folds under leak-free."""
    encoder: str = "auto"
    part: str = "development"
    """The half of a map that is scored, under `whole-map`."""

    @property
    def courses(self) -> Sequence[str]:
        """The courses asked for; else the public sets."""
        return self.asked_courses or SETS


Do = Callable[[Sequence[Run]], list[dict[str, Any]]]
"""Gives the result of every run, in order; runs that were kept are not done again."""


@dataclass(frozen=True)
class Table:
    """Rows for people to read."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[object]]


@dataclass(frozen=True)
class Outcome:
    """What an experiment found: rows to print, files to write, pictures to draw."""

    results: Sequence[Mapping[str, Any]]
    tables: Sequence[Table]
    texts: Mapping[str, str] = field(default_factory=dict)
    """Contents by file name."""
    figures: Mapping[str, Callable[[], Figure]] = field(default_factory=dict)
    """How to draw each picture, by file name without ending."""


Experiment = Callable[[Wanted, Do], Outcome]
