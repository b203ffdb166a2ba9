"""What `whole-map` found, as tables and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from proprl.data.public.catalogue import WHOLE_MAPS
from proprl.data.splits.whole_map import Known
from proprl.experiments.running.outcome import Table
from proprl.experiments.running.plan import SEQUITUR, title_of
from proprl.experiments.running.whole_map import DIRECT_STEPS
from proprl.experiments.settings.load import packaged
from proprl.experiments.show.lines import MAP_LINE_HEADS, map_lines
from proprl.experiments.show.pages import said
from proprl.experiments.show.tables import csv_text, markdown_table
from proprl.experiments.show.whole_map_findings import Findings, MapCell

BASE_RATE_TITLE = "Sequitur, if another base rate is expected"
KNOWN_WORDS: Mapping[Known, str] = {
    "half": "half of the pairs",
    "fifth": "a fifth of the pairs",
    "quarter": "pairs of a quarter of the concepts",
}
RULE_TITLES = {"degrees": "rule: degrees", "reachability": "labels alone: reachability"}
WITH_INTERVALS = ("average_precision", "f1_lead")


def map_title(name: str) -> str:
    """Give the title of a method or a rule.

    >>> map_title("svm"), map_title("degrees")
    ('SVM', 'rule: degrees')
    """
    return RULE_TITLES.get(name) or title_of(name)


def map_page(findings: Findings, stem: str) -> str:
    """Give the page; its pictures' file names begin with `stem`."""
    draws = f"{findings.draws} draw{'s' if findings.draws > 1 else ''} of labels"
    parts = [_facts_table(findings)]
    for table in map_tables(findings):
        note = said("whole-map", "campus") if table.title.startswith(DIRECT_STEPS) else ""
        note = said("whole-map", "base-rates") if table.title == BASE_RATE_TITLE else note
        parts.append(f"## {table.title}\n\n{note}{_markdown(table)}")
    lines = lines_table(findings)
    if lines.rows:
        note = "" if findings.part == "test" else said("whole-map", "on-development")
        parts.append(f"## Lines\n\n{note}{_markdown(lines)}")
    return said(
        "whole-map",
        "page",
        part=findings.part,
        when=f"Run at commit {findings.commit} on {findings.date}. {findings.note}".rstrip(),
        how=said("whole-map", draws=draws, encoder=findings.encoder),
        tables="\n\n".join(parts),
        stem=stem,
    )


def map_tables(findings: Findings) -> Iterator[Table]:
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
                rows = [[map_title(cell.method), *_written(cell, of_kind)] for cell in cells]
                shown = [row for row in rows if any(row[1:])]
                yield Table(f"{about}: {kind}", ["method", *_heads(of_kind)], shown)
    rates = columns["base_rates"]
    # What Sequitur promises, and would promise if it had expected another base rate.
    cells = [c for c in findings.cells if c.method == SEQUITUR and c.course not in DIRECT_STEPS]
    if cells:
        rows = [
            [cell.course, KNOWN_WORDS[cell.known], *_written(cell, rates)]
            for cell in sorted(cells, key=lambda cell: cell.course)
        ]
        yield Table(BASE_RATE_TITLE, ["set", "known", *_heads(rates)], rows)


def lines_table(findings: Findings) -> Table:
    """Give the lines that Sequitur's map is to reach."""
    title = f"Lines, {findings.part} half"
    if findings.part == "test":
        title += f" (run at {findings.commit} on {findings.date})"
    return Table(title, MAP_LINE_HEADS, [line.row() for line in map_lines(findings, SEQUITUR)])


def map_csv(findings: Findings) -> str:
    """Give every metric with its interval, one in a row."""
    rows = [
        [cell.course, cell.known, cell.method, metric, value, *cell.interval(metric)]
        for cell in findings.cells
        for metric, value in cell.metrics.items()
    ]
    return csv_text(("set", "known", "method", "metric", "mean", "low", "high"), rows)


def _facts_table(findings: Findings) -> str:
    """Give what the sets hold, and what became of the rows of their annotations."""
    rows = []
    for course in findings.courses:
        if course in WHOLE_MAPS:
            of = WHOLE_MAPS[course].counts
            whole = (of["repeats"], of["contradictions"])
            counts = [f"{of[what]:,}" for what in ("concepts", "pairs", "positives")]
            share = f"{of['positives'] / of['pairs']:.2%}"
            rows.append([course, *counts, share, *(f"{n:,}" for n in whole)])
    heads = ["set", "topics", "annotated pairs", "positive", "share", "repeats", "contradictions"]
    return markdown_table(heads, rows).rstrip() if rows else ""


def _heads(columns: list[list[str]]) -> list[str]:
    return [head for _, head, _ in columns]


def _written(cell: MapCell, columns: list[list[str]]) -> list[str]:
    found = []
    for metric, _, form in columns:
        value = cell.value(metric)
        text = "" if value is None else format(value, form)
        low, high = cell.interval(metric)
        if text and metric in WITH_INTERVALS and low is not None and high is not None:
            text += f" ({low:{form}} to {high:{form}})"
        found.append(text)
    return found


def _markdown(table: Table) -> str:
    return markdown_table(table.heads, table.rows).rstrip()
