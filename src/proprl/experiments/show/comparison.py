"""Results of many runs as one table: method by set and metric, beside the published numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from proprl.evaluation.significance import ScoredPairs, bootstrap_interval, holm, paired_bootstrap
from proprl.experiments.running.run import method_of, row_of
from proprl.experiments.settings.published import NAMES
from proprl.experiments.show.grouping import Result
from proprl.experiments.show.tables import csv_text, latex_table, markdown_table

Key = tuple[str, str, str]
"""Method, course, metric."""
Repeat = tuple[int, int]
"""Fold, seed."""
Lookup = Callable[[str, str, str], float | None]
"""Gives the published number of a method, course and metric; None where there is none."""


CELL_HEADS = ("mean", "deviation", "low", "high", "runs", "paper", "commit")


@dataclass(frozen=True)
class Cell:
    """One metric of one method on one course, over seeds or folds."""

    mean: float
    deviation: float
    """The sample standard deviation; 0 for a single value."""
    interval: tuple[float, float]
    """The 95 % bootstrap interval of the mean."""
    runs: int
    paper: float | None = None
    commit: str = ""
    """The commit at which it was measured; empty where it was run for this table."""
    values: Mapping[Repeat, float] = field(default_factory=dict)
    """By fold and seed, so that two methods can be compared on the same ones."""
    results: Mapping[Repeat, Result] = field(default_factory=dict, repr=False)
    """What the values were computed from."""

    @classmethod
    def of(cls, results: Mapping[Repeat, Result], metric: str, paper: float | None) -> Cell:
        """Give the cell of these runs."""
        by_repeat = {repeat: result["metrics"][metric] for repeat, result in results.items()}
        values = np.array(list(by_repeat.values()))
        deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        return cls(
            float(values.mean()),
            deviation,
            bootstrap_interval(values),
            len(values),
            paper,
            values=by_repeat,
            results=results,
        )

    def row(self) -> list[object]:
        """Give everything that is known of the cell, in the order of CELL_HEADS."""
        return [self.mean, self.deviation, *self.interval, self.runs, self.paper, self.commit]

    def scored(self, repeats: Sequence[Repeat]) -> list[ScoredPairs]:
        """Give the test set of each fold with its scores in these runs; seeds share a fold's."""
        folds: dict[int, list[Result]] = {}
        for fold, seed in repeats:
            folds.setdefault(fold, []).append(self.results[fold, seed])
        return [_scored(runs) for runs in folds.values()]


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
    courses: Sequence[str]
    metrics: Sequence[str]
    cells: Mapping[Key, Cell]
    ours: str | None = None
    titles: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def leads(self) -> Mapping[tuple[str, str], Lead]:
        """Our lead in each column, by course and metric; none without another method."""
        ours = self.ours
        others = [name for name in self.methods if ours and method_of(name) != method_of(ours)]
        if ours is None or not others:
            return {}
        rivals = {
            (course, metric): max(others, key=lambda name: self.cells[name, course, metric].mean)
            for course in self.courses
            for metric in self.metrics
        }
        tested = {c: rival for c, rival in rivals.items() if not self.cells[rival, *c].commit}
        p_values = holm({c: self.p_value(ours, rival, *c) for c, rival in tested.items()})
        return {
            c: Lead(rival, self.difference(ours, rival, *c), p_values.get(c))
            for c, rival in rivals.items()
        }

    def title(self, method: str) -> str:
        """Give the method's name for readers."""
        return self.titles.get(method, method)

    def best(self, course: str, metric: str) -> str:
        """Give the method with the highest mean."""
        return max(self.methods, key=lambda name: self.cells[name, course, metric].mean)

    def has_paper(self, course: str, metric: str) -> bool:
        """Whether the paper has a number in this column."""
        return any(self.cells[name, course, metric].paper is not None for name in self.methods)

    def shared(self, mine: str, other: str, course: str, metric: str) -> list[Repeat]:
        """Give the folds and seeds on which both methods were run."""
        ours, theirs = (self.cells[name, course, metric].values for name in (mine, other))
        return [repeat for repeat in ours if repeat in theirs]

    def difference(self, mine: str, other: str, course: str, metric: str) -> float:
        """Give how far the mean of one method is above another's.

        The means are over the folds and seeds that both were run on. Where single runs are not
        kept, they are over all runs of each.
        """
        shared = self.shared(mine, other, course, metric)
        both = [self.cells[name, course, metric] for name in (mine, other)]
        if not shared:
            return both[0].mean - both[1].mean
        ours, theirs = (cell.values for cell in both)
        return float(np.mean([ours[repeat] - theirs[repeat] for repeat in shared]))

    def p_value(self, mine: str, other: str, course: str, metric: str) -> float:
        """Give the one-sided p-value of "mine is not above the other".

        Test pairs are resampled, of the folds and seeds that both were run on. It is 1 for a
        single run of each, which says too little of the methods.
        """
        shared = self.shared(mine, other, course, metric)
        if len(shared) < 2:
            return 1.0
        ours, theirs = (self.cells[name, course, metric].scored(shared) for name in (mine, other))
        return paired_bootstrap(ours, theirs, metric)

    def markdown(self) -> str:
        """Give a table for each course, with our lead below it."""
        return "\n".join(self._course_markdown(course) for course in self.courses)

    def latex(self) -> str:
        """Give a tabular (booktabs) with the best mean of each column in bold."""
        columns = [(course, metric) for course in self.courses for metric in self.metrics]
        heads = [f"{course} {NAMES.get(metric, metric)}" for course, metric in columns]
        rows = []
        for name in self.methods:
            shown = []
            for column in columns:
                cell = self.cells[name, *column]
                text = f"{cell.mean:.4f}\\,$\\pm$\\,{cell.deviation:.3f}"
                shown.append(f"\\textbf{{{text}}}" if self.best(*column) == name else text)
            rows.append([self.title(name), *shown])
        return latex_table(["Method", *heads], {"": rows}, "c")

    def csv(self) -> str:
        """Give one row for each cell, with everything that is known of it."""
        rows = [[*key, *cell.row()] for key, cell in self.cells.items()]
        return csv_text(("method", "course", "metric", *CELL_HEADS), rows)

    def _course_markdown(self, course: str) -> str:
        heads = ["method"]
        for metric in self.metrics:
            heads += [NAMES.get(metric, metric)]
            heads += ["paper"] if self.has_paper(course, metric) else []
        first = {name: self.cells[name, course, self.metrics[0]] for name in self.methods}
        most = max(cell.runs for cell in first.values())
        marks = {
            name: (" †" if cell.runs < most else "") + (" ‡" if cell.commit else "")
            for name, cell in first.items()
        }
        rows = [
            [
                self.title(name) + marks[name],
                *(text for metric in self.metrics for text in self._shown(name, course, metric)),
            ]
            for name in self.methods
        ]
        page = f"## {course}\n\n{markdown_table(heads, rows)}"
        if fewer := [f"{self.title(n)} {c.runs}" for n, c in first.items() if c.runs < most]:
            page += f"\n† fewer than {most} runs: {', '.join(fewer)}.\n"
        if commits := dict.fromkeys(cell.commit for cell in first.values() if cell.commit):
            page += f"\n‡ as measured at commit {', '.join(commits)}, not run again.\n"
        return page + self._lead_lines(course)

    def _shown(self, name: str, course: str, metric: str) -> Iterator[str]:
        cell = self.cells[name, course, metric]
        text = f"{cell.mean:.3f} ± {cell.deviation:.3f}"
        low, high = cell.interval
        best = self.best(course, metric) == name
        yield (f"**{text}**" if best else text) + f" [{low:.3f}, {high:.3f}]"
        if self.has_paper(course, metric):
            yield "" if cell.paper is None else f"{cell.paper:.3f}"

    def _lead_lines(self, course: str) -> str:
        if not self.leads:
            return ""
        lines = ["", f"{self.title(self.ours or '')} against the best other method:", ""]
        for metric in self.metrics:
            lead = self.leads[course, metric]
            sure = "" if lead.p is None else f" (p {lead.p:.3f})"
            lines.append(
                f"- {NAMES.get(metric, metric)}: {lead.difference:+.3f} against "
                f"{self.title(lead.rival)}, {lead.verdict}{sure}"
            )
        return "\n".join(lines) + "\n"


def compare(
    results: Iterable[Result],
    *,
    methods: Sequence[str],
    courses: Sequence[str],
    metrics: Sequence[str] = ("accuracy", "f1", "auc"),
    ours: str | None = None,
    paper: Lookup | None = None,
    titles: Mapping[str, str] | None = None,
    recorded: Mapping[Key, Cell] | None = None,
) -> Comparison:
    """Gather results into a table; `ours` is tested against the best other of each column.

    Each way of running a method is a row: see `row_of`. Rows that were not run are `recorded`.
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
        cells[key] = Cell.of(found, key[-1], paper(*key) if paper else None)
    return Comparison(methods, courses, metrics, cells, ours, titles or {})


def _scored(runs: Sequence[Result]) -> ScoredPairs:
    forward, reverse = (
        np.array([run["scores"][order] for run in runs]) for order in ("forward", "reverse")
    )
    thresholds = np.array([run["threshold"] for run in runs])
    return ScoredPairs(np.array(runs[0]["labels"]), forward, reverse, thresholds)
