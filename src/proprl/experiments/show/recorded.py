"""Rows of the experiment `ours` that were measured before, and need not be run again.

`recorded.csv` holds what the paper's methods came to under each protocol, with the settings that
were tuned for them. They have not changed since the commit that stands beside each number.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from functools import lru_cache

from pydantic import TypeAdapter

from proprl.experiments.settings.load import Checked, packaged_text
from proprl.experiments.show.comparison import Cell, Key
from proprl.features.encoders import MINILM

RECORDED_ENCODER = f"sentence-transformers:{MINILM}"
"""What the recorded runs read texts with."""


class RecordedRow(Checked):
    """One number of one method, as it was measured."""

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

    def cell(self) -> Cell:
        """Give the cell of a table; its single runs are not kept, so nothing is tested by it."""
        return Cell(self.mean, self.deviation, (self.low, self.high), self.runs, commit=self.commit)


@lru_cache(maxsize=1)
def recorded_rows() -> Mapping[tuple[str, str, str, str], RecordedRow]:
    """Give every recorded number by protocol, method, course and metric, checked."""
    lines = list(csv.DictReader(packaged_text("recorded.csv").splitlines()))
    rows = TypeAdapter(list[RecordedRow]).validate_python(lines)
    return {(row.protocol, row.method, row.course, row.metric): row for row in rows}


def recorded_cells(
    protocol: str, courses: Sequence[str], metrics: Sequence[str], encoder: str
) -> dict[Key, Cell]:
    """Give the cells of the methods that were measured on all of these courses, so encoded."""
    if encoder != RECORDED_ENCODER:
        return {}
    rows = recorded_rows()
    cells: dict[Key, Cell] = {}
    for method in dict.fromkeys(key[1] for key in rows):
        keys = [(method, course, metric) for course in courses for metric in metrics]
        if all((protocol, *key) in rows for key in keys):
            cells |= {key: rows[protocol, *key].cell() for key in keys}
    return cells
