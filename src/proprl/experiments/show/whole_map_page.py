"""What `whole-map` found, as tables, a page and pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

from proprl.data.public.catalogue import WHOLE_MAPS
from proprl.data.splits.whole_map import Known
from proprl.experiments.running.plan import SEQUITUR
from proprl.experiments.running.run import WHOLE_MAP
from proprl.experiments.running.whole_map import DIRECT_STEPS, RECALLS
from proprl.experiments.settings.load import packaged
from proprl.experiments.settings.methods import title_of
from proprl.experiments.show.figures import COLUMN, PAGE, draw_curve, draw_legend, new_figure
from proprl.experiments.show.lines import MAP_LINE_HEADS, map_lines
from proprl.experiments.show.pages import Outcome, said
from proprl.experiments.show.tables import Table, csv_text, markdown_table
from proprl.experiments.show.whole_map_findings import Findings, MapCell

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Points = list[tuple[float, float]]

BASE_RATE_TITLE = "Sequitur, if another base rate is expected"
WITH_INTERVALS = ("average_precision", "f1_lead")

LEAST = 1e-4
"""The least value drawn: a logarithmic axis has no 0."""
ENOUGH = 30
"""Bins of fewer pairs are left out: what came true of them is chance."""
MOST_CURVES = 5
"""The best methods are drawn; more curves than this cannot be told apart."""


def map_outcome(findings: Findings) -> Outcome:
    """Give these findings as tables, files and pictures."""
    stem = WHOLE_MAP if findings.part == "development" else f"{WHOLE_MAP}-{findings.part}"
    tables = [
        replace(table, title=f"{table.title}, {findings.part} half") for table in _tables(findings)
    ]
    return Outcome(
        [findings.model_dump(mode="json")],
        [*tables, lines_table(findings)],
        {f"{stem}.md": _page(findings, stem), f"{stem}.csv": _csv(findings)},
        {
            f"{stem}-reliability": lambda: _reliability_figure(findings),
            f"{stem}-curves": lambda: _curves_figure(findings),
        },
    )


def _page(findings: Findings, stem: str) -> str:
    """Give the page; its pictures' file names begin with `stem`."""
    draws = f"{findings.draws} draw{'s' if findings.draws > 1 else ''} of labels"
    parts = [_facts_table(findings)]
    for table in _tables(findings):
        about = said("whole-map", "campus") if table.title.startswith(DIRECT_STEPS) else ""
        about = said("whole-map", "base-rates") if table.title == BASE_RATE_TITLE else about
        parts.append(table.section(about))
    lines = lines_table(findings)
    if lines.rows:
        about = "" if findings.part == "test" else said("whole-map", "on-development")
        parts.append(replace(lines, title="Lines").section(about))
    return said(
        "whole-map",
        "page",
        part=findings.part,
        when=f"Run at commit {findings.commit} on {findings.date}. {findings.note}".rstrip(),
        how=said("whole-map", draws=draws, encoder=findings.encoder),
        tables="\n\n".join(parts),
        stem=stem,
    )


def _tables(findings: Findings) -> Iterator[Table]:
    """Give each table; a row without any number is left out."""
    columns = packaged("map_tables.toml")
    for course in findings.courses:
        direct = course in DIRECT_STEPS
        whole = {"the map": columns["map"] + columns["way" if direct else "asked"]}
        kinds = whole if direct else {"pairs": columns["pairs"], **whole}
        shares: tuple[Known, ...] = ("half", "fifth")
        for known in shares:
            cells = findings.of(course, known)
            about = course if direct else f"{course}, a {known} known"
            for kind, of_kind in kinds.items() if cells else ():
                rows = [[title_of(cell.method), *_written(cell, of_kind)] for cell in cells]
                shown = [row for row in rows if any(row[1:])]
                yield Table(f"{about}: {kind}", ["method", *_heads(of_kind)], shown)
    rates = columns["base_rates"]
    # What Sequitur promises, and would promise if it had expected another base rate.
    cells = [c for c in findings.cells if c.method == SEQUITUR and c.course not in DIRECT_STEPS]
    if cells:
        rows = [
            [cell.course, columns["known"][cell.known], *_written(cell, rates)]
            for cell in sorted(cells, key=lambda cell: cell.course)
        ]
        yield Table(BASE_RATE_TITLE, ["set", "known", *_heads(rates)], rows)


def lines_table(findings: Findings) -> Table:
    """Give the lines that Sequitur's map is to reach."""
    title = f"Lines, {findings.part} half"
    if findings.part == "test":
        title += f" (run at {findings.commit} on {findings.date})"
    return Table(title, MAP_LINE_HEADS, list(map_lines(findings)))


def _csv(findings: Findings) -> str:
    """Give every metric with its interval, one in a row."""
    rows = [
        [cell.course, cell.known, cell.method, metric, value, *cell.interval(metric)]
        for cell in findings.cells
        for metric, value in cell.metrics.items()
    ]
    return csv_text(("set", "known", "method", "metric", "mean", "low", "high"), rows)


def _reliability_figure(findings: Findings) -> Figure:
    """Draw the promised share of prerequisites against the true one, a panel for each set."""

    def curve(cell: MapCell) -> Points:
        bins = [one for one in cell.reliability if one["pairs"] >= ENOUGH]
        return [(max(one["said"], LEAST), max(one["came_true"], LEAST)) for one in bins]

    figure = _drawn(findings, curve)
    for axis in figure.axes:
        axis.plot([LEAST, 1], [LEAST, 1], color="0.7", linewidth=0.8, zorder=0)
        axis.set(xscale="log", yscale="log", xlim=(LEAST, 1), ylim=(LEAST, 1), xlabel="said")
    figure.axes[0].set_ylabel("came true")
    return figure


def _curves_figure(findings: Findings) -> Figure:
    """Draw precision by the share of prerequisites found, a panel for each set."""

    def curve(cell: MapCell) -> Points:
        points = zip(RECALLS.tolist(), cell.curve, strict=True)
        return [(recall, precision) for recall, precision in points if precision is not None]

    figure = _drawn(findings, curve)
    for axis in figure.axes:
        for line in axis.lines:
            line.set_markevery(5)  # fifty would hide the line
        axis.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="prerequisites found")
    figure.axes[0].set_ylabel("precision")
    return figure


def _facts_table(findings: Findings) -> str:
    """Count what the sets hold, and the annotations that were merged or contradict each other."""
    rows = []
    for course in findings.courses:
        if course in WHOLE_MAPS:
            of = WHOLE_MAPS[course].counts
            counts = [f"{of[what]:,}" for what in ("concepts", "pairs", "positives")]
            merged = [f"{of[what]:,}" for what in ("repeats", "contradictions")]
            share = f"{of['positives'] / of['pairs']:.2%}"
            rows.append([course, *counts, share, *merged])
    heads = ["set", "topics", "annotated pairs", "positive", "share", "repeats", "contradictions"]
    return markdown_table(heads, rows).rstrip() if rows else ""


def _heads(columns: list[list[str]]) -> list[str]:
    return [head for _, head, _ in columns]


def _written(cell: MapCell, columns: list[list[str]]) -> list[str]:
    found = []
    for metric, _, form in columns:
        value = cell.metrics.get(metric)
        text = "" if value is None else format(value, form)
        low, high = cell.interval(metric)
        if text and metric in WITH_INTERVALS and low is not None and high is not None:
            text += f" ({low:{form}} to {high:{form}})"
        found.append(text)
    return found


def _drawn(findings: Findings, curve: Callable[[MapCell], Points]) -> Figure:
    """Draw the best methods' curves, a panel for each set; a method looks alike in all panels."""
    judged = [course for course in findings.courses if course not in DIRECT_STEPS]
    courses = judged or findings.courses  # where no pairs are judged one by one, all sets
    figure = new_figure(PAGE if len(courses) > 1 else COLUMN, 3.0, columns=len(courses))
    drawn = _best(findings, courses, curve)
    for axis, course in zip(figure.axes, courses, strict=True):
        axis.set(title=course)
        for index, name in enumerate(drawn):
            cell = findings.cell(course, "half", name)
            if cell is not None and (points := curve(cell)):
                draw_curve(axis, index, title_of(name), points)
    draw_legend(figure, columns=3)
    return figure


def _best(
    findings: Findings, courses: Sequence[str], curve: Callable[[MapCell], Points]
) -> list[str]:
    """Give the methods to draw, the best by mean average precision first."""
    reached: dict[str, list[float]] = {}
    for course in courses:
        for cell in filter(curve, findings.of(course, "half")):
            reached.setdefault(cell.method, []).append(cell.metrics["average_precision"] or 0)
    return sorted(reached, key=lambda name: -fmean(reached[name]))[:MOST_CURVES]
