"""What a run of `whole-map` found: means over draws with intervals, in a file that can be kept."""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from proprl.data.splits.whole_map import Known
from proprl.evaluation.whole_map import interval, mean_of
from proprl.experiments.running.whole_map import SHARES
from proprl.version import __version__

TEST_FILE = "whole_map_test.json"
"""The one run on the test half, beside this module."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Cell(_Frozen):
    """What one method, or rule, came to on one set: means over draws of the labels."""

    course: str
    known: Known
    method: str
    metrics: dict[str, float | None]
    intervals: dict[str, tuple[float | None, float | None]] = {}
    """The middle 95 % over unordered pairs drawn anew, of the mean over draws."""
    curve: list[float | None] = []
    """Precision where so many are found; see `RECALLS`."""
    reliability: list[dict[str, float]] = []
    """Bins of the draws together: low, high, pairs, said, came_true."""

    def value(self, metric: str) -> float | None:
        """Give the mean of a metric; None where it has no value."""
        return self.metrics.get(metric)


class Lead(_Frozen):
    """How far one method's average precision is above another's, on the same pairs."""

    course: str
    known: Known
    method: str
    over: str
    lead: float
    interval: tuple[float | None, float | None]


class Findings(_Frozen):
    """Everything that tables, figures and lines of `whole-map` are made of."""

    part: Literal["development", "test"]
    encoder: str
    draws: int
    commit: str
    date: str
    cells: list[Cell]
    leads: list[Lead]
    note: str = ""
    """What a reader must know of this run."""

    @property
    def courses(self) -> list[str]:
        """The sets, in the order in which they were run."""
        return list(dict.fromkeys(cell.course for cell in self.cells))

    def of(self, course: str, known: Known) -> list[Cell]:
        """Give what every method came to on one set, knowing so much."""
        return [cell for cell in self.cells if (cell.course, cell.known) == (course, known)]

    def cell(self, course: str, known: Known, method: str) -> Cell | None:
        """Give what one method came to; None where it was not run."""
        return next((cell for cell in self.of(course, known) if cell.method == method), None)

    def text(self) -> str:
        """Give the file that holds these findings."""
        return json.dumps(self.model_dump(mode="json"), indent=1) + "\n"


def gather(results: Sequence[Mapping[str, Any]], ours: str) -> Findings:
    """Give the findings of these runs, all of one part of the maps."""
    groups: dict[tuple[str, Known, str], list[Mapping[str, Any]]] = defaultdict(list)
    for result in results:
        run = result["run"]
        known = SHARES[run["label_share"]]
        groups[run["course"], known, run["method"]].append(result)
    judged: dict[tuple[str, Known, str], list[Mapping[str, Any]]] = dict(groups)
    for (course, known, _), draws in groups.items():
        # Rules know the same labels whichever method ran beside them.
        for rule in draws[0]["rules"]:
            judged.setdefault((course, known, rule), [draw["rules"][rule] for draw in draws])
    first = results[0]
    return Findings(
        part=first["run"]["part"],
        encoder=first["encoder"],
        draws=max(len(draws) for draws in groups.values()),
        commit=commit(),
        date=datetime.now(UTC).date().isoformat(),
        cells=[_cell(*key, draws) for key, draws in judged.items()],
        leads=_leads(judged, ours),
    )


@lru_cache(maxsize=1)
def stored_test() -> Findings | None:
    """Give the findings on the test half; None as long as it has not been run."""
    file = files("proprl.experiments.settings").joinpath(TEST_FILE)
    if not file.is_file():
        return None
    return Findings.model_validate_json(file.read_text(encoding="utf-8"))


def commit() -> str:
    """Give the commit that this code is at, and whether it was changed since; else the version."""
    folder = Path(__file__).parents[2]
    try:
        said = [
            subprocess.run(
                ["git", "-C", str(folder), *words], capture_output=True, text=True, check=True
            ).stdout.strip()
            for words in (("rev-parse", "--short=10", "HEAD"), ("status", "--porcelain", "--", "."))
        ]
    except (OSError, subprocess.CalledProcessError):
        return f"version {__version__}"
    return said[0] + (" with changes" if said[1] else "")


def _cell(course: str, known: Known, method: str, draws: list[Mapping[str, Any]]) -> Cell:
    names = draws[0]["metrics"]
    resampled = [_arrays(draw) for draw in draws]
    curves = [draw["curve"] for draw in draws if "curve" in draw]
    return Cell(
        course=course,
        known=known,
        method=method,
        metrics={name: _mean([draw["metrics"][name] for draw in draws]) for name in names},
        intervals={name: _bounds(mean_of(resampled, name)) for name in resampled[0]},
        curve=[_mean(list(at)) for at in zip(*curves, strict=True)],
        reliability=_pooled([bin_ for draw in draws for bin_ in draw.get("reliability", [])]),
    )


def _leads(
    judged: Mapping[tuple[str, Known, str], list[Mapping[str, Any]]], ours: str
) -> list[Lead]:
    found = []
    for (course, known, over), theirs in judged.items():
        mine = judged.get((course, known, ours))
        if mine is None or over == ours or len(mine) != len(theirs):
            continue
        metric = "average_precision"
        a, b = (_mean([draw["metrics"][metric] for draw in draws]) for draws in (mine, theirs))
        if a is None or b is None:
            continue
        gaps = mean_of(list(map(_arrays, mine)), metric) - mean_of(
            list(map(_arrays, theirs)), metric
        )
        found.append(
            Lead(
                course=course,
                known=known,
                method=ours,
                over=over,
                lead=a - b,
                interval=_bounds(gaps),
            )
        )
    return found


def _arrays(draw: Mapping[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
    return {name: np.array(values, dtype=np.float64) for name, values in draw["resampled"].items()}


def _bounds(values: np.ndarray[Any, Any]) -> tuple[float | None, float | None]:
    low, high = interval(values)
    return (None, None) if np.isnan(low) else (low, high)


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
                "said": float(np.average([one["said"] for one in here], weights=pairs)),
                "came_true": float(np.average([one["came_true"] for one in here], weights=pairs)),
            }
        )
    return found
