"""The lines that a map is to reach, and which of them it reaches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from proprl.data.splits.whole_map import Known
from proprl.experiments.running.run import WHOLE_MAP
from proprl.experiments.settings.load import packaged
from proprl.experiments.show.whole_map_findings import Cell, Findings

LINES = {
    "average_precision": "average precision",
    "log_loss_gain": "log loss below the base rate's, as a share of it",
    "believed_right": "believed pairs that are right",
    "believed_found": "prerequisites that are believed",
    "f1_lead": "F1 of what follows, above the known labels alone",
    "asked_edges_right": "learned edges among the asked pairs right or implied",
    "edges_right": "all learned edges right or implied",
    "way_found": "concepts of the author's way that are on the map's",
}
"""Metrics that must be at least so high, as people read them."""
HEADS = ("set", "known", "line", "wanted", "found", "reached")


class MapTargets(BaseModel):
    """What a map must be worth on one set; None where nothing is asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    average_precision: float | None = None
    log_loss_gain: float | None = None
    believed_right: float | None = None
    believed_found: float | None = None
    promised_within: float | None = Field(None, ge=1)
    """The promised number may be so many times the true one, or its inverse."""
    f1_lead: float | None = None
    asked_edges_right: float | None = None
    edges_right: float | None = None
    way_found: float | None = None
    way_at_most: float | None = None
    fifth: dict[str, float] = {}
    """The same where a fifth of the map is known."""
    aims: dict[str, float] = {}
    """What one would like to see."""


@dataclass(frozen=True)
class MapLine:
    """Something to reach, and what came of it."""

    course: str
    known: Known
    what: str
    wanted: str
    found: str
    reached: bool

    def row(self) -> list[str]:
        """Give the line as a row of a table."""
        verdict = "reached" if self.reached else "not reached"
        return [self.course, self.known, self.what, self.wanted, self.found, verdict]


@lru_cache(maxsize=1)
def map_targets() -> Mapping[str, MapTargets]:
    """Give what a map must be worth on each set, checked."""
    return TypeAdapter(dict[str, MapTargets]).validate_python(packaged("targets.toml")[WHOLE_MAP])


def map_lines(findings: Findings, method: str) -> Iterator[MapLine]:
    """Give every line of the sets that this method was run on."""
    for course, goals in map_targets().items():
        half, fifth = (findings.cell(course, known, method) for known in ("half", "fifth"))
        if half is not None:
            wanted = {name: getattr(goals, name) for name in LINES}
            yield from _at_least(half, wanted, goals.aims)
            yield from _promised(half, goals.promised_within)
            yield from _way(half, goals.way_at_most)
        if fifth is not None:
            yield from _at_least(fifth, goals.fifth, {})
        if goals.average_precision is not None:  # elsewhere only the graph is judged
            yield from _above_all(findings, course, method)


def _at_least(
    cell: Cell, goals: Mapping[str, float | None], aims: Mapping[str, float]
) -> Iterator[MapLine]:
    for metric, goal in goals.items():
        if goal is None:
            continue
        value = cell.value(metric)
        aim = f" (aim {aims[metric]:.2f})" if metric in aims else ""
        digits = 0 if metric == "way_found" else 2
        yield MapLine(
            cell.course,
            cell.known,
            LINES[metric],
            f"≥ {goal:.{digits}f}{aim}",
            "none" if value is None else f"{value:.{digits + 1}f}{_between(cell, metric)}",
            value is not None and value >= goal,
        )


def _promised(cell: Cell, within: float | None) -> Iterator[MapLine]:
    if within is None:
        return
    ratio = cell.value("promised_ratio")
    found = "none" if ratio is None else f"{ratio:.2f} times{_between(cell, 'promised_ratio')}"
    reached = ratio is not None and 1 / within <= ratio <= within
    wanted = f"within {within:.1f} times"
    yield MapLine(cell.course, cell.known, "promised against true number", wanted, found, reached)


def _way(cell: Cell, at_most: float | None) -> Iterator[MapLine]:
    length = cell.value("way_length")
    if at_most is not None and length is not None:
        what, wanted = "concepts on the map's way in all", f"≤ {at_most:.0f}"
        yield MapLine(cell.course, cell.known, what, wanted, f"{length:.1f}", length <= at_most)


def _above_all(findings: Findings, course: str, method: str) -> Iterator[MapLine]:
    """The least lead in average precision over any other method or rule, for each share known."""
    for known in ("half", "fifth"):
        leads = [
            lead
            for lead in findings.leads
            if (lead.course, lead.known, lead.method) == (course, known, method)
        ]
        if leads:
            least = min(leads, key=lambda lead: lead.lead)
            low, high = least.interval
            sure = "" if low is None or high is None else f" ({low:+.3f} to {high:+.3f})"
            yield MapLine(
                course,
                least.known,
                f"average precision above every method and rule (next: {least.over})",
                "> 0",
                f"{least.lead:+.3f}{sure}",
                least.lead > 0,
            )


def _between(cell: Cell, metric: str) -> str:
    low, high = cell.intervals.get(metric, (None, None))
    return "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
