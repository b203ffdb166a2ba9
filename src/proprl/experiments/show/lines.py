"""The lines that Sequitur is to reach, on labelled pairs and on whole maps, and which it reaches.

`targets.toml` holds them. A line is given as a row of a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from proprl.experiments.running.plan import SEQUITUR
from proprl.experiments.running.run import BACKGROUND, Result, row_of
from proprl.experiments.settings.load import packaged
from proprl.experiments.settings.published import NAMES
from proprl.experiments.show.whole_map_findings import Findings, Interval, MapCell

PAIR_LINE_HEADS = ("protocol", "set", "line", "wanted", "found", "reached")
MAP_LINE_HEADS = ("set", "known", *PAIR_LINE_HEADS[2:])

Line = list[str]
"""Two cells for where, then what, what is wanted, what was found, and whether it is reached."""


def pair_lines(protocol: str, results: Sequence[Result], courses: Sequence[str]) -> Iterator[Line]:
    """Give every line that the protocol has on these sets."""
    targets = packaged("targets.toml")
    rows = {SEQUITUR: "without_background", f"{SEQUITUR}+{BACKGROUND}": "with_background"}
    for course in courses:
        for row, kind in rows.items():
            words = kind.replace("_", " ")
            mine = [r for r in results if (r["run"]["course"], row_of(r["run"])) == (course, row)]
            for metric, loss in targets["losses"].get(protocol, {}).items():
                if course in loss["before"]:
                    goal = loss["before"][course] - loss[kind]
                    values = [one["metrics"][metric] for one in mine]
                    found = float(np.nanmean(np.array(values, dtype=np.float64)))
                    what, wanted = f"{NAMES[metric]} {words}", f"≥ {goal:.3f}"
                    yield _line((protocol, course), what, wanted, f"{found:.4f}", found >= goal)
            if protocol == "published" and course in targets["costs"]:
                limits = targets["costs"][course]
                seconds = float(np.mean([one["train_seconds"] for one in mine]))
                largest = max(one["bundle_mb"] for one in mine)
                for what, limit, cost in (
                    ("seconds to fit", limits["seconds"], seconds),
                    ("MB of the largest bundle", limits["bundle_mb"], largest),
                ):
                    what, wanted = f"{what} {words}", f"≤ {limit:.1f}"
                    yield _line((protocol, course), what, wanted, f"{cost:.2f}", cost <= limit)


def map_lines(findings: Findings) -> Iterator[Line]:
    """Give every line of the sets that Sequitur was run on."""
    for course, goals in packaged("targets.toml")["maps"].items():
        half, fifth = (findings.cell(course, known, SEQUITUR) for known in ("half", "fifth"))
        if half is not None:
            yield from _at_least(half, goals["half"], goals.get("aims", {}))
            if within := goals.get("promised_within"):
                ratio = half.metrics.get("promised_ratio")
                reached = ratio is not None and 1 / within <= ratio <= within
                what, wanted = "promised against true number", f"within {within:.1f} times"
                between = _between(half.interval("promised_ratio"), ".2f")
                found = "none" if ratio is None else f"{ratio:.2f} times{between}"
                yield _line((course, "half"), what, wanted, found, reached)
            length, most = half.metrics.get("way_length"), goals.get("way_at_most")
            if length is not None and most is not None:
                what, wanted = "concepts on the map's way in all", f"≤ {most:.0f}"
                yield _line((course, "half"), what, wanted, f"{length:.1f}", length <= most)
        if fifth is not None:
            yield from _at_least(fifth, goals["fifth"], {})
        if "average_precision" in goals["half"]:  # elsewhere only the graph is judged
            yield from _above_all(findings, course)


def _at_least(
    cell: MapCell, goals: Mapping[str, float], aims: Mapping[str, float]
) -> Iterator[Line]:
    for metric, goal in goals.items():
        value = cell.metrics.get(metric)
        digits = 0 if metric == "way_found" else 2
        aim = f" (aim {aims[metric]:.2f})" if metric in aims else ""
        between = _between(cell.interval(metric), ".2f")
        found = "none" if value is None else f"{value:.{digits + 1}f}{between}"
        what, wanted = packaged("map_tables.toml")["words"][metric], f"≥ {goal:.{digits}f}{aim}"
        reached = value is not None and value >= goal
        yield _line((cell.course, cell.known), what, wanted, found, reached)


def _above_all(findings: Findings, course: str) -> Iterator[Line]:
    """Give the smallest lead in average precision over any other method or rule."""
    for known in ("half", "fifth"):
        leads = [one for one in findings.leads if (one.course, one.known) == (course, known)]
        if leads:
            least = min(leads, key=lambda lead: lead.lead)
            what = f"average precision above every method and rule (next: {least.over})"
            found = f"{least.lead:+.3f}{_between(least.interval, '+.3f')}"
            yield _line((course, known), what, "> 0", found, least.lead > 0)


def _line(where: tuple[str, str], what: str, wanted: str, found: str, reached: bool) -> Line:
    return [*where, what, wanted, found, "reached" if reached else "not reached"]


def _between(interval: Interval, form: str) -> str:
    low, high = interval
    return "" if low is None or high is None else f" ({low:{form}} to {high:{form}})"
