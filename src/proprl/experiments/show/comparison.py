"""Results of many runs as one table: method by set and metric, beside the published numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from proprl.evaluation.significance import (
    RESAMPLES,
    ScoredPairs,
    bootstrap_interval,
    holm,
    paired_bootstrap,
)
from proprl.experiments.running.plan import PROPRL, Wanted
from proprl.experiments.running.run import Result, method_of, row_of
from proprl.experiments.settings.methods import title_of
from proprl.experiments.settings.published import NAMES, published
from proprl.experiments.show.pages import said
from proprl.experiments.show.tables import Table, csv_text, grouped, latex_table, markdown_table

Key = tuple[str, str, str]
"""Row, course, metric."""
Repeat = tuple[int, int]
"""Fold, seed."""

CELL_HEADS = ("mean", "deviation", "low", "high", "runs", "paper", "commit")


@dataclass(frozen=True)
class Cell:
    """One metric of one method on one course, over seeds or folds."""

    mean: float
    deviation: float
    """The sample standard deviation; 0 for a single value."""
    low: float
    """The 95 % bootstrap interval of the mean lies between this and `high`."""
    high: float
    runs: int
    paper: float | None = None
    commit: str = ""
    """The commit at which it was measured; empty where it was run for this table."""
    results: Mapping[Repeat, Result] = field(default_factory=dict, repr=False)
    """By fold and seed, so that two methods can be compared on the same ones."""


@dataclass(frozen=True)
class Lead:
    """How far our method is ahead of the best other one in a column."""

    rival: str
    difference: float
    p: float | None
    """Holm-corrected over the table's columns; None where the other one's runs are not kept."""

    @property
    def verdict(self) -> str:
        """Whether the lead counts."""
        if self.p is None:
            return "not tested, its single runs are not kept"
        if self.difference <= 0:
            return "no lead"
        return "significant" if self.p < 0.05 else "not significant"


@dataclass(frozen=True)
class Comparison:
    """A table of cells, and our lead in each column."""

    methods: Sequence[str]
    """The rows; see `row_of`."""
    courses: Sequence[str]
    metrics: Sequence[str]
    cells: Mapping[Key, Cell]
    ours: str | None = None

    @cached_property
    def leads(self) -> Mapping[tuple[str, str], Lead]:
        """Our lead in each column, by course and metric; none without another method."""
        ours = self.ours
        others = [name for name in self.methods if ours and method_of(name) != method_of(ours)]
        if ours is None or not others:
            return {}
        rivals = {column: self.best(*column, among=others) for column in self._columns}
        tested = {c: rival for c, rival in rivals.items() if not self.cells[rival, *c].commit}
        p_values = holm({c: self.p_value(ours, rival, *c) for c, rival in tested.items()})
        return {
            c: Lead(rival, self.difference(ours, rival, *c), p_values.get(c))
            for c, rival in rivals.items()
        }

    def best(self, course: str, metric: str, among: Sequence[str] | None = None) -> str:
        """Give the method with the highest mean."""
        return max(among or self.methods, key=lambda name: self.cells[name, course, metric].mean)

    def has_paper(self, course: str, metric: str) -> bool:
        """Whether the paper has a number in this column."""
        return any(self.cells[name, course, metric].paper is not None for name in self.methods)

    def difference(self, mine: str, other: str, course: str, metric: str) -> float:
        """Give how far the mean of one method is above another's.

        The means are over the folds and seeds that both were run on. Where single runs are not
        kept, they are over all runs of each.
        """
        ours, theirs = self._shared(mine, other, course, metric)
        if not ours:
            return self.cells[mine, course, metric].mean - self.cells[other, course, metric].mean
        runs = zip(ours, theirs, strict=True)
        return float(np.mean([a["metrics"][metric] - b["metrics"][metric] for a, b in runs]))

    def p_value(self, mine: str, other: str, course: str, metric: str) -> float:
        """Give the one-sided p-value of "mine is not above the other".

        The test pairs of the folds and seeds that both were run on are resampled. It is 1 where
        there is a single run of each: that says too little about the methods.
        """
        ours, theirs = self._shared(mine, other, course, metric)
        return paired_bootstrap(_folds(ours), _folds(theirs), metric) if len(ours) > 1 else 1.0

    def tables(self, title: str) -> list[Table]:
        """Give a table for each set; side by side they would be too wide for a terminal."""
        tables = []
        for course in self.courses:
            papers = [metric for metric in self.metrics if self.has_paper(course, metric)]
            heads = ["method", *(NAMES[m] for m in self.metrics)]
            heads += [f"paper {NAMES[m]}" for m in papers]
            rows = []
            for name in self.methods:
                means = [self.cells[name, course, m].mean for m in self.metrics]
                beside = [self.cells[name, course, m].paper for m in papers]
                rows.append([title_of(name), *means, *beside])
            tables.append(Table(f"{title}: {course}", heads, rows))
        return tables

    def markdown(self) -> str:
        """Give a table for each course, with our lead below it."""
        return "\n".join(self._course_markdown(course) for course in self.courses)

    def latex(self) -> str:
        """Give a tabular (booktabs) with the best mean of each column in bold."""
        heads = [f"{course} {NAMES[metric]}" for course, metric in self._columns]
        rows = []
        for name in self.methods:
            shown = []
            for column in self._columns:
                cell = self.cells[name, *column]
                text = f"{cell.mean:.4f}\\,$\\pm$\\,{cell.deviation:.3f}"
                shown.append(f"\\textbf{{{text}}}" if self.best(*column) == name else text)
            rows.append([title_of(name), *shown])
        return latex_table(["Method", *heads], {"": rows}, "c")

    def csv(self) -> str:
        """Give one row for each cell, with everything that is known of it."""
        rows = [
            [*key, *(getattr(cell, head) for head in CELL_HEADS)]
            for key, cell in self.cells.items()
        ]
        return csv_text(("method", "course", "metric", *CELL_HEADS), rows)

    @property
    def _columns(self) -> list[tuple[str, str]]:
        return [(course, metric) for course in self.courses for metric in self.metrics]

    def _shared(
        self, mine: str, other: str, course: str, metric: str
    ) -> tuple[list[Result], list[Result]]:
        """Give the results of both methods, on the folds and seeds that both were run on."""
        ours, theirs = (self.cells[name, course, metric].results for name in (mine, other))
        both = [repeat for repeat in ours if repeat in theirs]
        return [ours[repeat] for repeat in both], [theirs[repeat] for repeat in both]

    def _course_markdown(self, course: str) -> str:
        heads = ["method"]
        for metric in self.metrics:
            heads += [NAMES[metric], *(["paper"] if self.has_paper(course, metric) else [])]
        first = {name: self.cells[name, course, self.metrics[0]] for name in self.methods}
        most = max(cell.runs for cell in first.values())
        rows = []
        for name, cell in first.items():
            mark = (" †" if cell.runs < most else "") + (" ‡" if cell.commit else "")
            shown = (text for metric in self.metrics for text in self._shown(name, course, metric))
            rows.append([title_of(name) + mark, *shown])
        page = f"## {course}\n\n{markdown_table(heads, rows)}"
        if fewer := [f"{title_of(n)} {c.runs}" for n, c in first.items() if c.runs < most]:
            page += f"\n† fewer than {most} runs: {', '.join(fewer)}.\n"
        if commits := dict.fromkeys(cell.commit for cell in first.values() if cell.commit):
            page += f"\n‡ as measured at commit {', '.join(commits)}, not run again.\n"
        return page + self._lead_lines(course)

    def _shown(self, name: str, course: str, metric: str) -> Iterator[str]:
        cell = self.cells[name, course, metric]
        text = f"{cell.mean:.3f} ± {cell.deviation:.3f}"
        best = self.best(course, metric) == name
        yield (f"**{text}**" if best else text) + f" [{cell.low:.3f}, {cell.high:.3f}]"
        if self.has_paper(course, metric):
            yield "" if cell.paper is None else f"{cell.paper:.3f}"

    def _lead_lines(self, course: str) -> str:
        if not self.leads:
            return ""
        lines = ["", f"{title_of(self.ours or '')} against the best other method:", ""]
        for metric in self.metrics:
            lead = self.leads[course, metric]
            sure = "" if lead.p is None else f" (p {lead.p:.3f})"
            lines.append(
                f"- {NAMES[metric]}: {lead.difference:+.3f} against "
                f"{title_of(lead.rival)}, {lead.verdict}{sure}"
            )
        return "\n".join(lines) + "\n"


def compare(
    results: Iterable[Result],
    methods: Sequence[str],
    metrics: Sequence[str],
    wanted: Wanted,
    *,
    ours: str = PROPRL,
    paper: str | None = None,
    recorded: Mapping[Key, Cell] | None = None,
) -> Comparison:
    """Gather results into a table; `ours` is tested against the best other of each column.

    Each way of running a method is a row: see `row_of`. Rows that were not run are `recorded`.
    Under the paper's own protocol, the numbers of its table `paper` stand beside ours.
    """
    kept: dict[Key, dict[Repeat, Result]] = {}
    for result in results:
        run = result["run"]
        for metric in metrics:
            if result["metrics"][metric] is not None:
                column = kept.setdefault((row_of(run), run["course"], metric), {})
                column[run["fold"], run["seed"]] = result
    cells = dict(recorded or {})
    for key, found in kept.items():
        values = np.array([result["metrics"][key[-1]] for result in found.values()])
        deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        interval = bootstrap_interval(values)
        number = published(paper, *key) if paper and wanted.protocol == "published" else None
        mean = float(values.mean())
        cells[key] = Cell(mean, deviation, *interval, len(values), number, results=found)
    return Comparison(methods, wanted.courses, metrics, cells, ours if ours in methods else None)


def how_compared(wanted: Wanted, encoder: str) -> str:
    """Say in words what a table's numbers are."""
    repeats = said("comparison", wanted.protocol, repeats=wanted.repeats)
    return said("comparison", repeats=repeats, encoder=encoder, tested=how_tested())


def how_tested() -> str:
    """Say in words what p-values are of."""
    return said("comparison", "tested", resamples=RESAMPLES)


def _folds(results: Iterable[Result]) -> list[ScoredPairs]:
    """Give the test set of each fold with its scores, one row for each seed."""
    found = []
    for runs in grouped(results, "fold").values():
        forward, reverse = (
            np.array([one["scores"][order] for one in runs]) for order in ("forward", "reverse")
        )
        thresholds = np.array([one["threshold"] for one in runs])
        found.append(ScoredPairs(np.array(runs[0]["labels"]), forward, reverse, thresholds))
    return found
