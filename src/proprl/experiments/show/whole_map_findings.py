"""What a run of `whole-map` found: means over draws with intervals, in a file that can be kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal

import numpy as np
from pydantic import Field

from proprl.arrays import FloatArray
from proprl.data.splits.whole_map import Known
from proprl.evaluation.whole_map import interval, mean_of
from proprl.experiments.running.whole_map import SHARES
from proprl.experiments.settings.load import Checked, packaged_text
from proprl.experiments.show.commit import commit
from proprl.experiments.show.grouping import Result, grouped

TEST_FILE = "whole_map_test.json"
"""The one run on the test half, as `settings` keeps it."""

Interval = tuple[float | None, float | None]
Judged = dict[tuple[str, Known, str], Sequence[Result]]
"""Draws by course, share known, and method or rule."""


class MapCell(Checked):
    """What one method, or rule, came to on one set: means over draws of the labels."""

    course: str
    known: Known
    method: str
    metrics: dict[str, float | None]
    intervals: dict[str, Interval] = Field(default_factory=dict)
    """The middle 95 % over unordered pairs drawn anew, of the mean over draws."""
    curve: list[float | None] = Field(default_factory=list)
    """Precision where so many are found; see `RECALLS`."""
    reliability: list[dict[str, float]] = Field(default_factory=list)
    """Bins of the draws together: low, high, pairs, said, came_true."""

    def value(self, metric: str) -> float | None:
        """Give the mean of a metric; None where it has no value."""
        return self.metrics.get(metric)

    def interval(self, metric: str) -> Interval:
        """Give the interval of a metric; two times None where it has none."""
        return self.intervals.get(metric, (None, None))


class MapLead(Checked):
    """How far one method's average precision is above another's, on the same pairs."""

    course: str
    known: Known
    method: str
    over: str
    lead: float
    interval: Interval


class Findings(Checked):
    """Everything that tables, figures and lines of `whole-map` are made of."""

    part: Literal["development", "test"]
    encoder: str
    draws: int
    commit: str
    date: str
    cells: list[MapCell]
    leads: list[MapLead]
    note: str = ""
    """What a reader must know of this run."""

    @property
    def courses(self) -> list[str]:
        """The sets, in the order in which they were run."""
        return list(dict.fromkeys(cell.course for cell in self.cells))

    def of(self, course: str, known: Known) -> list[MapCell]:
        """Give what every method came to on one set, knowing so much."""
        return [cell for cell in self.cells if (cell.course, cell.known) == (course, known)]

    def cell(self, course: str, known: Known, method: str) -> MapCell | None:
        """Give what one method came to; None where it was not run."""
        return next((cell for cell in self.of(course, known) if cell.method == method), None)

    def text(self) -> str:
        """Give the file that holds these findings."""
        return json.dumps(self.model_dump(mode="json"), indent=1) + "\n"


def gather(results: Sequence[Result], ours: str) -> Findings:
    """Give the findings of these runs, all of one part of the maps."""
    groups = grouped(results, "course", "label_share", "method")
    judged: Judged = {
        (course, SHARES[share], method): draws for (course, share, method), draws in groups.items()
    }
    for (course, share, _), draws in groups.items():
        # Rules know the same labels whichever method ran beside them.
        for rule in draws[0]["rules"]:
            ruled = [draw["rules"][rule] for draw in draws]
            judged.setdefault((course, SHARES[share], rule), ruled)
    return Findings(
        part=results[0]["run"]["part"],
        encoder=results[0]["encoder"],
        draws=max(len(draws) for draws in groups.values()),
        commit=commit(),
        date=datetime.now(UTC).date().isoformat(),
        cells=[_cell(*key, draws) for key, draws in judged.items()],
        leads=_leads(judged, ours),
    )


@lru_cache(maxsize=1)
def stored_test() -> Findings | None:
    """Give the findings on the test half; None as long as it has not been run."""
    try:
        return Findings.model_validate_json(packaged_text(TEST_FILE))
    except FileNotFoundError:
        return None


def _cell(course: str, known: Known, method: str, draws: Sequence[Result]) -> MapCell:
    resampled = [_arrays(draw) for draw in draws]
    curves = [draw["curve"] for draw in draws if "curve" in draw]
    return MapCell(
        course=course,
        known=known,
        method=method,
        metrics={name: _mean_of_draws(draws, name) for name in draws[0]["metrics"]},
        intervals={name: _bounds(mean_of(resampled, name)) for name in resampled[0]},
        curve=[_mean(at) for at in zip(*curves, strict=True)],
        reliability=_pooled([bin_ for draw in draws for bin_ in draw.get("reliability", [])]),
    )


def _leads(judged: Judged, ours: str) -> list[MapLead]:
    metric = "average_precision"
    found = []
    for (course, known, over), theirs in judged.items():
        mine = judged.get((course, known, ours))
        if mine is None or over == ours or len(mine) != len(theirs):
            continue
        my_mean, their_mean = (_mean_of_draws(draws, metric) for draws in (mine, theirs))
        if my_mean is None or their_mean is None:
            continue
        my_values, their_values = (
            mean_of([_arrays(draw) for draw in draws], metric) for draws in (mine, theirs)
        )
        lead, bounds = my_mean - their_mean, _bounds(my_values - their_values)
        found.append(
            MapLead(course=course, known=known, method=ours, over=over, lead=lead, interval=bounds)
        )
    return found


def _arrays(draw: Result) -> dict[str, FloatArray]:
    return {name: np.array(values, dtype=np.float64) for name, values in draw["resampled"].items()}


def _bounds(values: FloatArray) -> Interval:
    low, high = interval(values)
    return (None, None) if np.isnan(low) else (low, high)


def _mean_of_draws(draws: Sequence[Result], metric: str) -> float | None:
    return _mean([draw["metrics"][metric] for draw in draws])


def _mean(values: Sequence[float | None]) -> float | None:
    """Give the mean; None where any of the values is none: it would be of other draws."""
    known = [value for value in values if value is not None and not np.isnan(value)]
    return float(np.mean(known)) if len(known) == len(values) else None


def _pooled(bins: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """Put the bins of several draws together, each pair counting once for each draw."""
    found = []
    for low in sorted({one["low"] for one in bins}):
        here = [one for one in bins if one["low"] == low]
        pairs = [one["pairs"] for one in here]
        found.append(
            {
                "low": low,
                "high": here[0]["high"],
                "pairs": float(sum(pairs)),
                **{
                    what: float(np.average([one[what] for one in here], weights=pairs))
                    for what in ("said", "came_true")
                },
            }
        )
    return found
