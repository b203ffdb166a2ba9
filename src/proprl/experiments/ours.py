"""Sequitur against every other method under every protocol, and the lines to reach."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from proprl.errors import ProprlError
from proprl.evaluation.calibration import calibration_error
from proprl.evaluation.significance import holm
from proprl.experiments.comparison import Comparison, compare
from proprl.experiments.experiment import Do, Outcome, Table, Wanted
from proprl.experiments.packaged import packaged
from proprl.experiments.plans import OWN, experiment_settings, plan, table1_methods
from proprl.experiments.published import METRICS, NAMES
from proprl.experiments.runner import mean_metric, metric_values
from proprl.experiments.runs import FOLDS
from proprl.experiments.tables import how_run, printed_table
from proprl.experiments.texts import csv_text, markdown_table
from proprl.experiments.whole_map_lines import MapTargets

OURS, THEIRS = "sequitur", "proprl"
SEEDS, OTHERS_SEEDS = 10, 3
"""Under published: of ours, and of the others, whose fits take minutes."""
DRAWS = 5
"""Under new-concepts."""
SURE = 0.05
LEAST = 5e-5
"""The least difference that four digits show."""
LABELS = (
    "Sequitur learns from training and validation pairs, the others from training pairs; all of "
    "them choose on validation pairs. The paper's methods have the settings that were tuned for "
    "them on published validation rows, plain trees their defaults: see docs/reproducing.md."
)
PAPERS = " `table1` shows {} with the settings of the papers instead."
HEADS = ("protocol", "set", "line", "wanted", "found", "reached")
COLUMNS = {
    "published": METRICS,
    "leak-free": (*METRICS, "ordered_share"),
    "new-concepts": METRICS,
}


class Targets(BaseModel):
    """The lines to reach, by protocol, set and metric."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    lead: float = Field(gt=0)
    calibration_error: float = Field(gt=0, lt=1)
    bundle_mb: float = Field(gt=0)
    seconds: dict[str, float]
    published: dict[str, dict[str, float]]
    leak_free: dict[str, dict[str, float]] = Field(alias="leak-free")
    whole_map: dict[str, MapTargets] = Field(alias="whole-map")


@lru_cache(maxsize=1)
def targets() -> Targets:
    """Give the lines to reach, checked."""
    return Targets.model_validate(packaged("targets.toml"))


@dataclass(frozen=True)
class Goal:
    """Something to reach, and what came of it."""

    protocol: str
    course: str
    what: str
    wanted: str
    found: str
    reached: bool

    def row(self) -> list[str]:
        """Give the goal as a row of a table."""
        verdict = "reached" if self.reached else "not reached"
        return [self.protocol, self.course, self.what, self.wanted, self.found, verdict]


def ours(wanted: Wanted, do: Do) -> Outcome:
    """Compare Sequitur with every method under each protocol; say which lines it reaches."""
    others = tuple(name for name in wanted.methods or rivals() if name != OURS)
    if not others:
        raise ProprlError("ours compares sequitur with other methods: name one, or none for all")
    if wanted.protocol != Wanted().protocol or wanted.repeats not in (1, Wanted().repeats):
        raise ProprlError(
            "ours runs every protocol, and each as often as it needs: leave out --protocol and "
            "--seeds, or take --quick"
        )
    texts: dict[str, str] = {}
    tables, lines, results = [], [], []
    for protocol in COLUMNS:
        here = replace(wanted, protocol=protocol)
        mine, theirs = _repeats(here)
        runs = [
            *plan(others, replace(here, repeats=theirs), tuned=True),
            *plan([OURS], replace(here, repeats=mine)),
        ]
        found = do(runs)
        results += found
        comparison = compare(
            found,
            methods=[*others, OURS],
            courses=here.courses,
            metrics=COLUMNS[protocol],
            ours=OURS,
            titles=experiment_settings().titles,
        )
        title = f"Sequitur, {protocol}"
        how = f"{how_run(replace(here, repeats=mine), runs[0].encoder)} {LABELS}"
        how += "" if mine == theirs else f" The other methods have {theirs} seeds."
        if protocol == "published":
            how += f"{_papers_own(others)}"
        texts |= {
            f"ours-{protocol}.md": f"# {title}\n\n{how}\n\n{comparison.markdown()}",
            f"ours-{protocol}.csv": comparison.csv(),
            f"ours-{protocol}.tex": comparison.latex(),
        }
        tables += [printed_table(comparison, c, f"{title}: {c}") for c in here.courses]
        if protocol == "published":
            lines += list(own_lines(protocol, found, here.courses))
        else:
            lines += list(_lines(protocol, comparison, found))
    rows = [line.row() for line in lines]
    texts["ours-lines.md"] = f"# What Sequitur reaches\n\n{lines_table(lines)}"
    texts["ours-lines.csv"] = csv_text(HEADS, rows)
    tables += [
        Table(f"Lines, {protocol}", HEADS[1:], [row[1:] for row in rows if row[0] == protocol])
        for protocol in COLUMNS
    ]
    return Outcome(results, tables, texts)


def rivals() -> tuple[str, ...]:
    """Give the methods that Sequitur is compared with: the paper's, and plain trees."""
    return (*table1_methods(), *(name for name in OWN if name != OURS))


def _papers_own(others: Sequence[str]) -> str:
    """Say which of the others another table shows as published, if any."""
    settings = experiment_settings()
    shown = [settings.title(name) for name in others if name in settings.as_published]
    return PAPERS.format(" and ".join(shown)) if shown else ""


def _repeats(wanted: Wanted) -> tuple[int, int]:
    """How often ours and the others are run; once each where one run was asked for."""
    if wanted.repeats == 1:
        return 1, 1
    return {
        "published": (SEEDS, OTHERS_SEEDS),
        "leak-free": (FOLDS, FOLDS),
        "new-concepts": (DRAWS, DRAWS),
    }[wanted.protocol]


def _lines(
    protocol: str, found: Comparison, results: Sequence[Mapping[str, Any]]
) -> Iterator[Goal]:
    yield from own_lines(protocol, results, found.courses)
    if protocol == "leak-free":
        yield from _leads(protocol, found)
    if protocol == "new-concepts":
        for course in found.courses:
            rival, lead = min(_differences(found, course).items(), key=lambda item: item[1])
            what = f"AUC above {found.title(rival)}, the next best"
            yield Goal(protocol, course, what, "> 0", f"{lead:+.4f}", lead > 0)


def own_lines(
    protocol: str, results: Sequence[Mapping[str, Any]], courses: Sequence[str]
) -> Iterator[Goal]:
    """The lines that need no other method to compare with."""
    goals = {"published": targets().published, "leak-free": targets().leak_free}.get(protocol, {})
    for course in courses:
        for metric, goal in goals.get(course, {}).items():
            yield _least(protocol, course, NAMES[metric], goal, _mean(results, course, metric))
    if protocol == "leak-free":
        yield from _one_way_lines(results, courses)
        for course in courses:
            error, limit = _pooled_error(results, course), targets().calibration_error
            what, shown = "calibration error", f"{error:.3f}"
            yield Goal(protocol, course, what, f"< {limit:.2f}", shown, error < limit)
    if protocol == "published":
        for course, limit in targets().seconds.items():
            if course in courses:
                seconds = _mean_seconds(results, course)
                what, shown = "seconds to train", f"{seconds:.1f}"
                yield Goal(protocol, course, what, f"≤ {limit:.0f}", shown, seconds <= limit)
        for course in courses:
            largest = max(one["bundle_mb"] for one in _of_ours(results, course))
            what, wanted = "MB of the largest bundle", f"< {targets().bundle_mb:.0f}"
            reached = largest < targets().bundle_mb
            yield Goal(protocol, course, what, wanted, f"{largest:.2f}", reached)


def lines_table(goals: Iterable[Goal]) -> str:
    """Give lines and what came of them as a Markdown table."""
    return markdown_table(HEADS, [goal.row() for goal in goals])


def _one_way_lines(results: Sequence[Mapping[str, Any]], courses: Sequence[str]) -> Iterator[Goal]:
    """The line of the ordered share again, where experts called pairs mutual.

    Whatever is said of such a pair, one of its two orders counts as wrong.
    """
    for course in courses:
        goal = targets().leak_free.get(course, {}).get("ordered_share")
        mine = _of_ours(results, course)
        if goal and metric_values(mine, "one_way_ordered"):
            one_way = _mean(results, course, "one_way_ordered")
            if abs(one_way - _mean(results, course, "ordered_share")) >= LEAST:
                what = "ordered share of positives that hold in one order"
                yield _least("leak-free", course, what, goal, one_way)


def _least(protocol: str, course: str, what: str, goal: float, found: float) -> Goal:
    return Goal(protocol, course, what, f"≥ {goal:.3f}", f"{found:.4f}", found >= goal)


def _leads(protocol: str, found: Comparison) -> Iterator[Goal]:
    """The lead over ProPRL, over the next best, and the least sure one, Holm-corrected."""
    p_values = holm(
        {
            (course, other): found.p_value(OURS, other, course, "auc")
            for course in found.courses
            for other in _others(found)
        }
    )
    goal = targets().lead
    for course in found.courses:
        differences = _differences(found, course)
        next_best = min(differences, key=differences.__getitem__)
        for other in dict.fromkeys([*({THEIRS} & set(differences)), next_best]):
            lead = differences[other]
            what = f"AUC above {found.title(other)}"
            what += ", the next best" if other == next_best else ""
            yield Goal(protocol, course, what, f"≥ {goal:.3f}", f"{lead:+.4f}", lead >= goal)
        worst = max(differences, key=lambda other: (p_values[course, other], -differences[other]))
        p, lead = p_values[course, worst], differences[worst]
        what = f"AUC above every method (least sure: {found.title(worst)})"
        wanted, shown = f"p < {SURE:.2f}", f"{lead:+.4f}, p {p:.4f}"
        yield Goal(protocol, course, what, wanted, shown, lead > 0 and p < SURE)


def _others(found: Comparison) -> list[str]:
    return [name for name in found.methods if name != OURS]


def _differences(found: Comparison, course: str) -> dict[str, float]:
    """How far our AUC is above each other method's, over what both ran on."""
    return {other: found.difference(OURS, other, course, "auc") for other in _others(found)}


def _mean(results: Iterable[Mapping[str, Any]], course: str, metric: str) -> float:
    return mean_metric(_of_ours(results, course), course, metric)


def _mean_seconds(results: Iterable[Mapping[str, Any]], course: str) -> float:
    return float(np.mean([one["train_seconds"] for one in _of_ours(results, course)]))


def _pooled_error(results: Iterable[Mapping[str, Any]], course: str) -> float:
    """The calibration error of all folds together: one fold has too few pairs for ten bins."""
    mine = _of_ours(results, course)
    labels = np.concatenate([result["labels"] for result in mine])
    said = np.concatenate([result["scores"]["forward"] for result in mine])
    return calibration_error(labels, said)


def _of_ours(results: Iterable[Mapping[str, Any]], course: str) -> list[Mapping[str, Any]]:
    wanted = (OURS, course)
    return [one for one in results if (one["run"]["method"], one["run"]["course"]) == wanted]
