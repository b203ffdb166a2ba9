"""Table 3: what a method costs in parameters, seconds and memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from proprl.experiments.running.outcome import Do, Outcome, Table, Wanted
from proprl.experiments.running.plan import experiment_settings, plan
from proprl.experiments.settings.published import published
from proprl.experiments.show.markdown import csv_text, markdown_table
from proprl.experiments.show.naming import file_stem, times_run

METHODS = ("dgcpl", "proprl")
# In the order of the published numbers: heading, the result's field, its unit, decimals.
COSTS = (
    ("parameters (M)", "parameters", 1e6, 2),
    ("training (s)", "train_seconds", 1, 1),
    ("scoring (s)", "score_seconds", 1, 4),
    ("memory (MB)", "peak_memory_mb", 1, 1),
)

Costs = Sequence[float | None]
"""One number for each of COSTS; None where it was not measured."""


def table3(wanted: Wanted, do: Do) -> Outcome:
    """Measure what each method costs on each set, beside what the paper measured on its GPU."""
    methods = wanted.methods or METHODS
    runs = plan(methods, wanted)
    results = do(runs)
    costs = mean_costs(results)
    how = _how(times_run(wanted.repeats, wanted.protocol), runs[0].encoder)
    lines = [f"# Table 3, {wanted.protocol}: costs\n", how]
    tables, rows = [], []
    for course in wanted.courses:
        ours = {method: costs[method, course] for method in methods}
        paper = {method: _published(method, course) for method in methods}
        shown = _course_rows(ours, paper)
        lines += [f"## {course}\n", markdown_table(_heads(), shown)]
        tables.append(Table(f"Table 3, {wanted.protocol}: {course}", _heads(), shown))
        rows += [
            [method, course, field, *pair]
            for method in methods
            for (_, field, *_), *pair in zip(COSTS, ours[method], paper[method], strict=True)
        ]
    stem = file_stem("table3", wanted)
    texts = {
        f"{stem}.md": "\n".join(lines),
        f"{stem}.csv": csv_text(["method", "course", "cost", "ours", "paper"], rows),
        f"{stem}.tex": _latex(tables, wanted.courses),
    }
    return Outcome(results, tables, texts)


def mean_costs(results: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], Costs]:
    """Give the mean costs of each method and course; None where no run measured one."""
    found: dict[tuple[str, str], list[Costs]] = {}
    for result in results:
        run = result["run"]
        costs = [
            None if result[field] is None else result[field] / unit for _, field, unit, _ in COSTS
        ]
        found.setdefault((run["method"], run["course"]), []).append(costs)
    return {
        key: [_mean(column) for column in zip(*rows, strict=True)] for key, rows in found.items()
    }


def ratio(costs: Costs, base: Costs) -> Costs:
    """Give how many times as much each cost is, where both are known."""
    return [
        mine / theirs if mine is not None and theirs else None
        for mine, theirs in zip(costs, base, strict=True)
    ]


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _published(method: str, course: str) -> Costs:
    row = published().table3.get(method)
    found: Costs = getattr(row, course, [None] * len(COSTS))
    return found


def _course_rows(ours: Mapping[str, Costs], paper: Mapping[str, Costs]) -> list[list[str]]:
    """Give a row for each method, and one for how the last compares with the first."""
    title = experiment_settings().title
    decimals = [places for *_, places in COSTS]
    rows = [[title(m), *_beside(ours[m], paper[m], decimals)] for m in ours]
    if len(ours) > 1:
        first, *_, last = ours
        mine, theirs = (ratio(side[last], side[first]) for side in (ours, paper))
        rows.append([f"{title(last)} / {title(first)}", *_beside(mine, theirs, [2] * len(COSTS))])
    return rows


def _beside(ours: Costs, paper: Costs, decimals: Sequence[int]) -> list[str]:
    """Give each of our numbers, the paper's after it."""
    return [
        "-" if value is None else f"{value:.{places}f}"
        for mine, theirs, places in zip(ours, paper, decimals, strict=True)
        for value in (mine, theirs)
    ]


def _heads() -> list[str]:
    return ["method", *(head for cost, *_ in COSTS for head in (cost, "paper"))]


def _how(times: str, encoder: str) -> str:
    return (
        f"Means over {times}, data faults repaired, texts encoded by `{encoder}`. Ours: one "
        "thread of a CPU; scoring is of all test pairs in one call; memory is by how much the "
        "process' resident memory grew at its peak while it fitted and scored (- where the system "
        "does not tell it). The columns *paper* hold what the paper measured on its GPU. Seconds "
        "differ from machine to machine, and with what else the machine does: compare methods "
        "within a column, or the ratios of the last row, not ours with the paper's. Parameters "
        "depend on the features: the paper's have 768 numbers a concept, and an encoder with fewer "
        "makes every network smaller.\n"
    )


def _latex(tables: Sequence[Table], courses: Sequence[str]) -> str:
    """Give a tabular (booktabs) with the sets below each other."""
    heads = _heads()
    lines = [rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}", r"\toprule"]
    lines.append(" & ".join(heads) + r" \\")
    for course, table in zip(courses, tables, strict=True):
        lines += [r"\midrule", rf"\multicolumn{{{len(heads)}}}{{l}}{{{course}}} \\"]
        for row in table.rows:
            lines.append(" & ".join(map(str, row)) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"
