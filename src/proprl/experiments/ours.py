"""Sequitur against every other method under every protocol, its parts, the lines to reach."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from proprl.evaluation.calibration import calibration_error
from proprl.evaluation.significance import holm, paired_bootstrap
from proprl.experiments.comparison import Comparison, compare
from proprl.experiments.experiment import Do, Outcome, Table, Wanted
from proprl.experiments.packaged import packaged
from proprl.experiments.parts import OURS, parts
from proprl.experiments.plans import experiment_settings, plan, table1_methods
from proprl.experiments.published import METRICS, NAMES
from proprl.experiments.runs import FOLDS
from proprl.experiments.tables import how_run, printed_table
from proprl.experiments.texts import csv_text, markdown_table

THEIRS = "proprl"
SEEDS, OTHERS_SEEDS = 10, 5
"""Under published: of ours, and of the others, whose fits take minutes."""
DRAWS = 5
"""Under new-concepts."""
SURE = 0.05
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
    published: dict[str, dict[str, float]]
    leak_free: dict[str, dict[str, float]] = Field(alias="leak-free")


@lru_cache(maxsize=1)
def targets() -> Targets:
    """Give the lines to reach, checked."""
    return Targets.model_validate(packaged("targets.toml"))


@dataclass(frozen=True)
class Line:
    """Something to reach, and what came of it."""

    protocol: str
    course: str
    what: str
    wanted: str
    found: str
    reached: bool

    def row(self) -> list[str]:
        """Give the line as a row of a table."""
        verdict = "reached" if self.reached else "not reached"
        return [self.protocol, self.course, self.what, self.wanted, self.found, verdict]


def ours(wanted: Wanted, do: Do) -> Outcome:
    """Compare Sequitur with every method under each protocol; say which lines it reaches."""
    others = tuple(name for name in wanted.methods or table1_methods() if name != OURS)
    texts: dict[str, str] = {}
    tables, lines, results = [], [], []
    for protocol in COLUMNS:
        here = replace(wanted, protocol=protocol)
        mine, theirs = _repeats(here)
        runs = [
            *plan(others, replace(here, repeats=theirs)),
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
        how = how_run(replace(here, repeats=mine), runs[0].encoder)
        texts |= {
            f"ours-{protocol}.md": f"# {title}\n\n{how}\n\n{comparison.markdown()}",
            f"ours-{protocol}.csv": comparison.csv(),
            f"ours-{protocol}.tex": comparison.latex(),
        }
        tables += [printed_table(comparison, c, f"{title}: {c}") for c in here.courses]
        lines += list(_lines(protocol, comparison, found))
    found_parts, parts_table, parts_texts = parts(wanted, do)
    results += found_parts
    texts |= parts_texts
    rows = [line.row() for line in lines]
    texts["ours-lines.md"] = f"# What Sequitur reaches\n\n{markdown_table(HEADS, rows)}"
    texts["ours-lines.csv"] = csv_text(HEADS, rows)
    return Outcome(results, [*tables, parts_table, Table("Lines", HEADS, rows)], texts)


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
) -> Iterator[Line]:
    goals = {"published": targets().published, "leak-free": targets().leak_free}.get(protocol, {})
    for course in found.courses:
        for metric, goal in goals.get(course, {}).items():
            mean = found.cells[OURS, course, metric].mean
            yield Line(
                protocol, course, NAMES[metric], f"≥ {goal:.3f}", f"{mean:.4f}", mean >= goal
            )
    if protocol == "leak-free":
        yield from _leads(protocol, found)
        for course in found.courses:
            error, limit = _pooled_error(results, course), targets().calibration_error
            reached = error < limit
            yield Line(
                protocol, course, "calibration error", f"< {limit:.2f}", f"{error:.3f}", reached
            )
    if protocol == "new-concepts":
        for course in found.courses:
            rival, lead = min(_differences(found, course).items(), key=lambda item: item[1])
            what = f"AUC above {found.title(rival)}"
            yield Line(protocol, course, what, "> 0", f"{lead:+.4f}", lead > 0)


def _leads(protocol: str, found: Comparison) -> Iterator[Line]:
    """The lead over ProPRL, and the least sure lead over any method, Holm-corrected."""
    p_values = holm(
        {
            (course, other): _p(found, course, other)
            for course in found.courses
            for other in _others(found)
        }
    )
    goal = targets().lead
    for course in found.courses:
        differences = _differences(found, course)
        if THEIRS in differences:
            lead = differences[THEIRS]
            what = f"AUC above {found.title(THEIRS)}"
            yield Line(protocol, course, what, f"≥ {goal:.3f}", f"{lead:+.4f}", lead >= goal)
        if not differences:
            continue
        worst = max(differences, key=lambda other: p_values[course, other])
        p, lead = p_values[course, worst], differences[worst]
        what = f"AUC above every method (least sure: {found.title(worst)})"
        wanted, shown = f"p < {SURE:.2f}", f"{lead:+.4f}, p {p:.4f}"
        yield Line(protocol, course, what, wanted, shown, lead > 0 and p < SURE)


def _others(found: Comparison) -> list[str]:
    return [name for name in found.methods if name != OURS]


def _differences(found: Comparison, course: str) -> dict[str, float]:
    """How far our AUC is above each other method's, over what both ran on."""
    return {
        other: float(np.mean(np.subtract(*_shared(found, course, other))))
        for other in _others(found)
    }


def _p(found: Comparison, course: str, other: str) -> float:
    mine, theirs = _shared(found, course, other)
    return paired_bootstrap(mine, theirs) if len(mine) > 1 else 1.0


def _shared(found: Comparison, course: str, other: str) -> tuple[Any, Any]:
    mine, theirs = (found.cells[name, course, "auc"].values for name in (OURS, other))
    keys = [key for key in mine if key in theirs]
    return np.array([mine[key] for key in keys]), np.array([theirs[key] for key in keys])


def _pooled_error(results: Iterable[Mapping[str, Any]], course: str) -> float:
    """The calibration error of all folds together: one fold has too few pairs for ten bins."""
    mine = [
        result
        for result in results
        if result["run"]["method"] == OURS and result["run"]["course"] == course
    ]
    labels = np.concatenate([result["labels"] for result in mine])
    said = np.concatenate([result["scores"]["forward"] for result in mine])
    return calibration_error(labels, said)
