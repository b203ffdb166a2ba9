"""Results of many runs as one table: method by set and metric, beside the published numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from proprl.evaluation.significance import bootstrap_interval, holm, paired_bootstrap
from proprl.experiments.published import published

NAMES = {"accuracy": "ACC", "f1": "F1", "auc": "AUC"}


@dataclass(frozen=True)
class Cell:
    """One metric of one method on one course, over seeds or folds."""

    values: tuple[float, ...]
    published: float | None = None
    lead_p: float | None = None
    """For the method in question: Holm-corrected p of its lead over the best other one."""

    @property
    def mean(self) -> float:
        """The mean over seeds or folds."""
        return float(np.mean(self.values))

    @property
    def deviation(self) -> float:
        """The sample standard deviation; 0 for a single value."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % bootstrap interval of the mean."""
        return bootstrap_interval(np.array(self.values))


@dataclass(frozen=True)
class Comparison:
    """A table of cells by (method, course, metric)."""

    methods: tuple[str, ...]
    courses: tuple[str, ...]
    metrics: tuple[str, ...]
    cells: Mapping[tuple[str, str, str], Cell]

    def best(self, course: str, metric: str) -> str:
        """Give the method with the highest mean."""
        return max(self.methods, key=lambda name: self.cells[name, course, metric].mean)

    def markdown(self) -> str:
        """Give the table for a page: mean ± deviation, the published number below it."""
        heads = [f"{course} {NAMES.get(m, m)}" for course in self.courses for m in self.metrics]
        lines = ["| method | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
        for name in self.methods:
            shown = [self._shown(name, c, m) for c in self.courses for m in self.metrics]
            lines.append(f"| {name} | " + " | ".join(shown) + " |")
        return "\n".join(lines) + "\n"

    def latex(self) -> str:
        """Give the table's body for a paper: the best mean of each column in bold."""
        lines = []
        for name in self.methods:
            shown = []
            for course in self.courses:
                for metric in self.metrics:
                    cell = self.cells[name, course, metric]
                    text = f"{cell.mean:.4f}\\,$\\pm$\\,{cell.deviation:.3f}"
                    best = self.best(course, metric) == name
                    shown.append(f"\\textbf{{{text}}}" if best else text)
            lines.append(f"{name} & " + " & ".join(shown) + r" \\")
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """Give one row for each cell, with everything that is known of it."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        heads = "method course metric mean deviation low high runs published lead_p"
        writer.writerow(heads.split())
        for (name, course, metric), cell in self.cells.items():
            low, high = cell.interval
            numbers = [f"{v:.6f}" for v in (cell.mean, cell.deviation, low, high)]
            known = ["" if v is None else f"{v:.6f}" for v in (cell.published, cell.lead_p)]
            writer.writerow([name, course, metric, *numbers, len(cell.values), *known])
        return buffer.getvalue()

    def _shown(self, name: str, course: str, metric: str) -> str:
        cell = self.cells[name, course, metric]
        text = f"{cell.mean:.3f} ± {cell.deviation:.3f}"
        if self.best(course, metric) == name:
            text = f"**{text}**"
        if cell.lead_p is not None:
            text += f" (p {cell.lead_p:.3f})"
        return text if cell.published is None else f"{text}<br>paper {cell.published:.3f}"


def compare(
    results: Iterable[Mapping[str, Any]],
    *,
    methods: Sequence[str],
    courses: Sequence[str],
    metrics: Sequence[str] = ("accuracy", "f1", "auc"),
    ours: str | None = None,
    with_published: bool = True,
) -> Comparison:
    """Gather results into a table; `ours` is tested against the best other of each column."""
    values: dict[tuple[str, str, str], list[float]] = {}
    for result in results:
        run = result["run"]
        for metric in metrics:
            value = result["metrics"][metric]
            if value is not None:
                values.setdefault((run["method"], run["course"], metric), []).append(value)
    leads = _leads(values, methods, courses, metrics, ours) if ours else {}
    cells = {
        key: Cell(
            tuple(found),
            published().cell(*key) if with_published else None,
            leads.get(f"{key[1]}/{key[2]}") if key[0] == ours else None,
        )
        for key, found in values.items()
    }
    return Comparison(tuple(methods), tuple(courses), tuple(metrics), cells)


def _leads(
    values: Mapping[tuple[str, str, str], list[float]],
    methods: Sequence[str],
    courses: Sequence[str],
    metrics: Sequence[str],
    ours: str,
) -> dict[str, float]:
    """Give the corrected p-value of our lead in each column, paired by seed or fold."""
    others = [name for name in methods if name != ours]
    p_values = {}
    for course in courses:
        for metric in metrics:
            if not others:
                continue
            best = max(others, key=lambda name: np.mean(values[name, course, metric]))
            mine, theirs = values[ours, course, metric], values[best, course, metric]
            if len(mine) == len(theirs) > 1:
                p_values[f"{course}/{metric}"] = paired_bootstrap(np.array(mine), np.array(theirs))
    return holm(p_values)
