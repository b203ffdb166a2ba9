"""What Sequitur is to reach, and what it reaches: on labelled pairs, and on whole maps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from proprl.experiments.running.plan import SEQUITUR
from proprl.experiments.running.run import BACKGROUND, row_of
from proprl.experiments.settings.load import packaged
from proprl.experiments.settings.published import NAMES
from proprl.experiments.settings.targets import targets
from proprl.experiments.show.grouping import Result, mean_metric, of_course
from proprl.experiments.show.whole_map_findings import Findings, Interval, MapCell

PAIR_LINE_HEADS = ("protocol", "set", "line", "wanted", "found", "reached")
MAP_LINE_HEADS = ("set", "known", *PAIR_LINE_HEADS[2:])


@dataclass(frozen=True)
class Line:
    """Something to reach, and what came of it."""

    where: tuple[str, str]
    """The protocol and the set; of a map, the set and how much of it is known."""
    what: str
    wanted: str
    found: str
    reached: bool

    def row(self) -> list[str]:
        """Give the line as a row of a table."""
        verdict = "reached" if self.reached else "not reached"
        return [*self.where, self.what, self.wanted, self.found, verdict]


def pair_lines(protocol: str, results: Sequence[Result], courses: Sequence[str]) -> Iterator[Line]:
    """Give every line that the protocol has on these sets, and whether these results reach it."""
    rows = {SEQUITUR: "without background", f"{SEQUITUR}+{BACKGROUND}": "with background"}
    for course in courses:
        for row, words in rows.items():
            mine = [one for one in of_course(results, course) if row_of(one["run"]) == row]
            for metric, loss in targets().losses.get(protocol, {}).items():
                if course in loss.before:
                    lost = loss.without_background if row == SEQUITUR else loss.with_background
                    goal, found = loss.before[course] - lost, mean_metric(mine, metric)
                    what = f"{NAMES[metric]} {words}"
                    where = protocol, course
                    yield Line(where, what, f"≥ {goal:.3f}", f"{found:.4f}", found >= goal)
            if protocol == "published" and course in targets().costs:
                yield from _fit_costs(course, words, mine)


def _fit_costs(course: str, words: str, mine: Sequence[Result]) -> Iterator[Line]:
    limits = targets().costs[course]
    seconds = float(np.mean([one["train_seconds"] for one in mine]))
    largest = max(one["bundle_mb"] for one in mine)
    for what, limit, found in (
        ("seconds to fit", limits.seconds, seconds),
        ("MB of the largest bundle", limits.bundle_mb, largest),
    ):
        wanted = f"≤ {limit:.1f}"
        yield Line(("published", course), f"{what} {words}", wanted, f"{found:.2f}", found <= limit)


def map_lines(findings: Findings, method: str) -> Iterator[Line]:
    """Give every line of the sets that this method was run on."""
    for course, goals in targets().maps.items():
        half, fifth = (findings.cell(course, known, method) for known in ("half", "fifth"))
        if half is not None:
            yield from _at_least(half, goals.half, goals.aims)
            if goals.promised_within is not None:
                yield _promised(half, goals.promised_within)
            length = half.value("way_length")
            if goals.way_at_most is not None and length is not None:
                what, wanted = "concepts on the map's way in all", f"≤ {goals.way_at_most:.0f}"
                reached = length <= goals.way_at_most
                yield Line((course, "half"), what, wanted, f"{length:.1f}", reached)
        if fifth is not None:
            yield from _at_least(fifth, goals.fifth, {})
        if "average_precision" in goals.half:  # elsewhere only the graph is judged
            yield from _above_all(findings, course, method)


def _at_least(
    cell: MapCell, goals: Mapping[str, float], aims: Mapping[str, float]
) -> Iterator[Line]:
    for metric, goal in goals.items():
        value = cell.value(metric)
        digits = 0 if metric == "way_found" else 2
        aim = f" (aim {aims[metric]:.2f})" if metric in aims else ""
        wanted = f"≥ {goal:.{digits}f}{aim}"
        between = _between(cell.interval(metric), ".2f")
        found = "none" if value is None else f"{value:.{digits + 1}f}{between}"
        reached = value is not None and value >= goal
        yield Line(
            (cell.course, cell.known),
            packaged("map_tables.toml")["words"][metric],
            wanted,
            found,
            reached,
        )


def _promised(cell: MapCell, within: float) -> Line:
    ratio = cell.value("promised_ratio")
    between = _between(cell.interval("promised_ratio"), ".2f")
    found = "none" if ratio is None else f"{ratio:.2f} times{between}"
    reached = ratio is not None and 1 / within <= ratio <= within
    what, wanted = "promised against true number", f"within {within:.1f} times"
    return Line((cell.course, cell.known), what, wanted, found, reached)


def _above_all(findings: Findings, course: str, method: str) -> Iterator[Line]:
    """Give the smallest lead in average precision over any other method or rule."""
    for known in ("half", "fifth"):
        whose = (course, known, method)
        leads = [lead for lead in findings.leads if (lead.course, lead.known, lead.method) == whose]
        if leads:
            least = min(leads, key=lambda lead: lead.lead)
            what = f"average precision above every method and rule (next: {least.over})"
            found = f"{least.lead:+.3f}{_between(least.interval, '+.3f')}"
            yield Line((course, known), what, "> 0", found, least.lead > 0)


def _between(interval: Interval, form: str) -> str:
    low, high = interval
    return "" if low is None or high is None else f" ({low:{form}} to {high:{form}})"
