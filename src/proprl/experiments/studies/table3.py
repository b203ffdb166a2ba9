"""Table 3: what a method costs in parameters, seconds and memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from proprl.experiments.running.plan import PROPRL, Wanted, plan
from proprl.experiments.running.run import Result
from proprl.experiments.settings.methods import title_of
from proprl.experiments.settings.published import published
from proprl.experiments.show.pages import Do, Outcome, file_stem, page, said, times_run
from proprl.experiments.show.tables import Table, csv_text, grouped, latex_table

MEASURED_METHODS = ("dgcpl", PROPRL)
# Heading, the result's field, its unit, decimals.
COSTS = (
    ("parameters (M)", "parameters", 1e6, 2),
    ("training (s)", "train_seconds", 1, 1),
    ("scoring (s)", "score_seconds", 1, 4),
    ("memory (MB)", "peak_memory_mb", 1, 1),
)
COST_HEADS = ("method", *(head for cost, *_ in COSTS for head in (cost, "paper")))

Costs = Sequence[float | None]
"""Our cost and the paper's, for each of COSTS in turn; None where it was not measured."""


def table3(wanted: Wanted, do: Do) -> Outcome:
    """Measure what each method costs on each set, beside what the paper measured on its GPU."""
    methods = wanted.methods or MEASURED_METHODS
    runs = plan(methods, wanted)
    results = do(runs)
    found = grouped(results, "course", "method")
    title = f"Table 3, {wanted.protocol}"
    sections, csv_rows = {}, []
    for course in wanted.courses:
        costs = {method: _costs(found[course, method], method, course) for method in methods}
        sections[course] = _course_rows(costs)
        csv_rows += [
            [method, course, field, *costs[method][2 * place : 2 * place + 2]]
            for method in methods
            for place, (_, field, *_) in enumerate(COSTS)
        ]
    stem = file_stem("table3", wanted)
    how = said("table3", times=times_run(wanted), encoder=runs[0].encoder)
    parts = [Table(course, COST_HEADS, rows).section() for course, rows in sections.items()]
    texts = {
        f"{stem}.md": page(f"# {title}: costs", how, *parts),
        f"{stem}.csv": csv_text(["method", "course", "cost", "ours", "paper"], csv_rows),
        f"{stem}.tex": latex_table(COST_HEADS, sections, "r"),
    }
    tables = [Table(f"{title}: {course}", COST_HEADS, rows) for course, rows in sections.items()]
    return Outcome(results, tables, texts)


def _costs(results: Iterable[Result], method: str, course: str) -> Costs:
    """Give the mean costs of these runs, each with the paper's after it."""
    costs: list[float | None] = []
    for _, field, unit, _ in COSTS:
        known = [result[field] / unit for result in results if result[field] is not None]
        mean = float(np.mean(known)) if known else None
        costs += [mean, published("table3", method, course, field)]
    return costs


def _course_rows(costs: Mapping[str, Costs]) -> list[list[str]]:
    """Give a row for each method, and one for how the last compares with the first."""
    decimals = [places for *_, places in COSTS for _ in ("ours", "paper")]
    rows = [[title_of(method), *_shown(of_it, decimals)] for method, of_it in costs.items()]
    if len(costs) > 1:
        first, *_, last = costs
        ratios = [
            mine / base if mine is not None and base else None
            for mine, base in zip(costs[last], costs[first], strict=True)
        ]
        title = f"{title_of(last)} / {title_of(first)}"
        rows.append([title, *_shown(ratios, [2] * len(decimals))])
    return rows


def _shown(costs: Costs, decimals: Sequence[int]) -> list[str]:
    return [
        "-" if cost is None else f"{cost:.{places}f}"
        for cost, places in zip(costs, decimals, strict=True)
    ]
