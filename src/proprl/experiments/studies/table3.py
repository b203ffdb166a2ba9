"""Table 3: what a method costs in parameters, seconds and memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from proprl.experiments.running.outcome import Do, Outcome, Table, Wanted
from proprl.experiments.running.plan import PROPRL, plan, title_of
from proprl.experiments.settings.published import published
from proprl.experiments.show.grouping import Result, grouped
from proprl.experiments.show.pages import file_stem, said, times_run
from proprl.experiments.show.tables import csv_text, latex_table, markdown_table

MEASURED_METHODS = ("dgcpl", PROPRL)
# In the order of the published numbers: heading, the result's field, its unit, decimals.
COSTS = (
    ("parameters (M)", "parameters", 1e6, 2),
    ("training (s)", "train_seconds", 1, 1),
    ("scoring (s)", "score_seconds", 1, 4),
    ("memory (MB)", "peak_memory_mb", 1, 1),
)
COST_HEADS = ("method", *(head for cost, *_ in COSTS for head in (cost, "paper")))

Costs = Sequence[float | None]
"""One number for each of COSTS; None where it was not measured."""


def table3(wanted: Wanted, do: Do) -> Outcome:
    """Measure what each method costs on each set, beside what the paper measured on its GPU."""
    methods = wanted.methods or MEASURED_METHODS
    runs = plan(methods, wanted)
    results = do(runs)
    of_both = grouped(results, "method", "course")
    title = f"Table 3, {wanted.protocol}"
    how = said("table3", times=times_run(wanted), encoder=runs[0].encoder)
    lines = [f"# {title}: costs\n", how]
    tables, rows = {}, []
    for course in wanted.courses:
        ours = {method: _mean_costs(of_both[method, course]) for method in methods}
        nothing = [None] * len(COSTS)
        paper = {method: published().costs(method, course) or nothing for method in methods}
        shown = _course_rows(ours, paper)
        lines += [f"## {course}\n", markdown_table(COST_HEADS, shown)]
        tables[course] = Table(f"{title}: {course}", COST_HEADS, shown)
        rows += [
            [method, course, field, *pair]
            for method in methods
            for (_, field, *_), *pair in zip(COSTS, ours[method], paper[method], strict=True)
        ]
    stem = file_stem("table3", wanted)
    sections = {course: table.rows for course, table in tables.items()}
    texts = {
        f"{stem}.md": "\n".join(lines),
        f"{stem}.csv": csv_text(["method", "course", "cost", "ours", "paper"], rows),
        f"{stem}.tex": latex_table(COST_HEADS, sections, "r"),
    }
    return Outcome(results, list(tables.values()), texts)


def _mean_costs(results: Iterable[Result]) -> Costs:
    """Give the mean costs; None where no run measured one."""
    means: list[float | None] = []
    for _, field, unit, _ in COSTS:
        known = [result[field] / unit for result in results if result[field] is not None]
        means.append(float(np.mean(known)) if known else None)
    return means


def _course_rows(ours: Mapping[str, Costs], paper: Mapping[str, Costs]) -> list[list[str]]:
    """Give a row for each method, and one for how the last compares with the first."""
    decimals = [places for *_, places in COSTS]
    rows = [[title_of(m), *_beside(ours[m], paper[m], decimals)] for m in ours]
    if len(ours) > 1:
        first, *_, last = ours
        mine, theirs = (_ratio(side[last], side[first]) for side in (ours, paper))
        title = f"{title_of(last)} / {title_of(first)}"
        rows.append([title, *_beside(mine, theirs, [2] * len(COSTS))])
    return rows


def _ratio(costs: Costs, base: Costs) -> Costs:
    """Give how many times as much each cost is, where both are known."""
    return [
        mine / theirs if mine is not None and theirs else None
        for mine, theirs in zip(costs, base, strict=True)
    ]


def _beside(ours: Costs, paper: Costs, decimals: Sequence[int]) -> list[str]:
    """Give each of our numbers, the paper's after it."""
    return [
        "-" if value is None else f"{value:.{places}f}"
        for mine, theirs, places in zip(ours, paper, decimals, strict=True)
        for value in (mine, theirs)
    ]
