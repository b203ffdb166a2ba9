"""Rows of the race that were measured before, and need not be run again.

`recorded.csv` holds what the paper's methods came to under each protocol, with the settings that
were tuned for them. They have not changed since the commit that stands beside each number.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict, TypeAdapter

from proprl.experiments.show.comparison import Cell, Key
from proprl.features.encoders import MINILM

ENCODER = f"sentence-transformers:{MINILM}"
"""What the recorded runs read texts with."""


class RecordedRow(BaseModel):
    """One number of one method, as it was measured."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    protocol: str
    method: str
    course: str
    metric: str
    mean: float
    deviation: float
    low: float
    high: float
    runs: int
    commit: str


@dataclass(frozen=True, kw_only=True)
class RecordedCell(Cell):
    """A cell of which the single runs are not kept, so that nothing can be tested against it."""

    row: RecordedRow

    @property
    def mean(self) -> float:
        """The mean over seeds or folds."""
        return self.row.mean

    @property
    def deviation(self) -> float:
        """The sample standard deviation."""
        return self.row.deviation

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % bootstrap interval of the mean."""
        return self.row.low, self.row.high

    @property
    def runs(self) -> int:
        """How many runs the mean is of."""
        return self.row.runs

    @property
    def commit(self) -> str:
        """The commit at which it was measured."""
        return self.row.commit


@lru_cache(maxsize=1)
def recorded_rows() -> Mapping[tuple[str, str, str, str], RecordedRow]:
    """Give every recorded number by protocol, method, course and metric, checked."""
    text = files("proprl.experiments.settings").joinpath("recorded.csv").read_text(encoding="utf-8")
    rows = TypeAdapter(list[RecordedRow]).validate_python(list(csv.DictReader(text.splitlines())))
    return {(row.protocol, row.method, row.course, row.metric): row for row in rows}


def recorded_cells(
    protocol: str, courses: Sequence[str], metrics: Sequence[str], encoder: str
) -> dict[Key, Cell]:
    """Give the cells of the methods that were measured on all of these courses, so encoded."""
    if encoder != ENCODER:
        return {}
    rows = recorded_rows()
    cells: dict[Key, Cell] = {}
    for method in dict.fromkeys(key[1] for key in rows):
        keys = [(method, course, metric) for course in courses for metric in metrics]
        if all((protocol, *key) in rows for key in keys):
            cells |= {key: RecordedCell({}, row=rows[protocol, *key]) for key in keys}
    return cells
