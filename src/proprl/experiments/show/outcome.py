"""What an experiment gives back: tables to print, files to write, pictures to draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from proprl.experiments.running.plan import Wanted
from proprl.experiments.running.run import Result, Run
from proprl.experiments.show.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Do = Callable[[Sequence[Run]], list[Result]]
"""Gives the result of every run, in order; runs that were kept are not done again."""


@dataclass(frozen=True)
class Outcome:
    """What an experiment found."""

    results: Sequence[Result]
    tables: Sequence[Table]
    texts: Mapping[str, str]
    """Contents by file name."""
    figures: Mapping[str, Callable[[], Figure]] = field(default_factory=dict)
    """How to draw each picture, by file name without ending."""


Experiment = Callable[[Wanted, Do], Outcome]
