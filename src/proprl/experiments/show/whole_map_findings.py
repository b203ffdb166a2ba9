"""What `whole-map` found: means over draws with intervals, in a form that can be kept in a file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal

import numpy as np
import polars as pl

from proprl.arrays import FloatArray
from proprl.data.splits.whole_map import Known
from proprl.evaluation.whole_map import interval, mean_of
from proprl.experiments.running.plan import SEQUITUR
from proprl.experiments.running.run import Result
from proprl.experiments.running.whole_map import SHARES
from proprl.experiments.settings.load import Checked, packaged_text
from proprl.experiments.show.pages import commit
from proprl.experiments.show.tables import grouped

TEST_FILE = "whole_map_test.json"
"""Holds the findings of the one run on the test half, in `settings`."""

Interval = tuple[float | None, float | None]
Judged = dict[tuple[str, Known, str], Sequence[Result]]
"""Draws by course, share known, and method or rule."""


class MapCell(Checked):
    """The results of one method, or rule, on one set: means over draws of the labels."""

    course: str
    known: Known
    method: str
    metrics: dict[str, float | None]
    intervals: dict[str, Interval]
    """Of the mean over draws: the middle 95 % when unordered pairs are drawn anew."""
    curve: list[float | None]
    """Precision at each of `RECALLS`."""
    reliability: list[dict[str, float]]
    """Bins of all draws together: low, high, pairs, said, came_true."""

    def interval(self, metric: str) -> Interval:
        """Give the interval of a metric; (None, None) where it has none."""
        return self.intervals.get(metric, (None, None))


class MapLead(Checked):
    """How far Sequitur's average precision is above another method's, on the same pairs."""

    course: str
    known: Known
    method: str
    over: str
    lead: float
    interval: Interval


class Findings(Checked):
    """What tables, figures and lines of `whole-map` are made of."""

    part: Literal["development", "test"]
    encoder: str
    draws: int
    commit: str
    date: str
    cells: list[MapCell]
    leads: list[MapLead]
    note: str = ""
    """What a reader must know about this run."""

    @property
    def courses(self) -> list[str]:
        """The sets, in the order in which they were run."""
        return list(dict.fromkeys(cell.course for cell in self.cells))

    def of(self, course: str, known: Known) -> list[MapCell]:
        """Give the cells of one set, with this share of it known."""
        return [cell for cell in self.cells if (cell.course, cell.known) == (course, known)]

    def cell(self, course: str, known: Known, method: str) -> MapCell | None:
        """Give the cell of one method; None where it was not run."""
        return next((cell for cell in self.of(course, known) if cell.method == method), None)


def gather(results: Sequence[Result]) -> Findings:
    """Give the findings of these runs, all of one part of the maps."""
    groups = grouped(results, "course", "label_share", "method")
    judged: Judged = {
        (course, SHARES[share], method): draws for (course, share, method), draws in groups.items()
    }
    for (course, share, _), draws in groups.items():
        # A rule knows the same labels beside every method, so the first method's will do.
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
        leads=_leads(judged),
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
    return MapCell(
        course=course,
        known=known,
        method=method,
        metrics={
            name: _mean([draw["metrics"][name] for draw in draws]) for name in draws[0]["metrics"]
        },
        intervals={name: _bounds(mean_of(resampled, name)) for name in resampled[0]},
        curve=[_mean(at) for at in zip(*(draw["curve"] for draw in draws), strict=True)],
        reliability=_pooled([bin_ for draw in draws for bin_ in draw.get("reliability", [])]),
    )


def _leads(judged: Judged) -> list[MapLead]:
    metric = "average_precision"
    found = []
    for (course, known, over), theirs in judged.items():
        mine = judged.get((course, known, SEQUITUR), theirs)
        if mine is theirs:
            continue
        my_mean, their_mean = (
            float(np.mean([draw["metrics"][metric] for draw in draws])) for draws in (mine, theirs)
        )
        my_values, their_values = (
            mean_of([_arrays(draw) for draw in draws], metric) for draws in (mine, theirs)
        )
        lead = MapLead(
            course=course,
            known=known,
            method=SEQUITUR,
            over=over,
            lead=my_mean - their_mean,
            interval=_bounds(my_values - their_values),
        )
        found.append(lead)
    return found


def _arrays(draw: Result) -> dict[str, FloatArray]:
    return {name: np.array(values, dtype=np.float64) for name, values in draw["resampled"].items()}


def _bounds(values: FloatArray) -> Interval:
    low, high = interval(values)
    return (None, None) if np.isnan(low) else (low, high)


def _mean(values: Sequence[float | None]) -> float | None:
    """Give the mean; None where a draw has no value: a mean of the others cannot be compared."""
    known = [value for value in values if value is not None and not np.isnan(value)]
    return float(np.mean(known)) if len(known) == len(values) else None


def _pooled(bins: Sequence[Result]) -> list[dict[str, float]]:
    """Merge the bins of several draws; a pair counts once for each draw."""
    pairs = pl.col("pairs")
    means = [
        ((pl.col(one) * pairs).sum() / pairs.sum()).alias(one) for one in ("said", "came_true")
    ]
    whole = pl.DataFrame(bins, ["low", "high", "pairs", "said", "came_true"]).sort("low")
    return (
        whole.group_by("low", maintain_order=True)
        .agg(pl.col("high").first(), pairs.sum().cast(pl.Float64), *means)
        .to_dicts()
    )
