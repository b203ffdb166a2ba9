"""Pictures of a map: what was said and what came true, and precision by share found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import fmean
from typing import TYPE_CHECKING

from proprl.experiments.running.whole_map import DIRECT_STEPS, RECALLS
from proprl.experiments.show.figures import COLUMN, PAGE, draw_curve, draw_legend, new_figure
from proprl.experiments.show.whole_map_findings import Findings, MapCell
from proprl.experiments.show.whole_map_page import map_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEAST = 1e-4
"""A bin in which nothing came true lies here: a logarithm has no 0."""
ENOUGH = 30
"""Bins of fewer pairs are left out: what came true of them is chance."""
MOST_CURVES = 5
"""More than that cannot be told apart; the best by average precision are drawn."""


def reliability_figure(findings: Findings) -> Figure:
    """Draw what was said against what came true at the natural rate, a panel for each set."""
    figure, drawn = _panels(findings), _best(findings, lambda cell: bool(cell.reliability))
    for axis, course in zip(figure.axes, _courses(findings), strict=True):
        axis.plot([LEAST, 1], [LEAST, 1], color="0.7", linewidth=0.8, zorder=0)
        for index, cell in _cells(findings, course, drawn):
            bins = [one for one in cell.reliability if one["pairs"] >= ENOUGH]
            said = [max(one["said"], LEAST) for one in bins]
            came_true = [max(one["came_true"], LEAST) for one in bins]
            draw_curve(axis, index, map_title(cell.method), said, came_true)
        axis.set(xscale="log", yscale="log", xlim=(LEAST, 1), ylim=(LEAST, 1))
        axis.set(title=course, xlabel="said")
    figure.axes[0].set_ylabel("came true")
    draw_legend(figure, columns=3)
    return figure


def curves_figure(findings: Findings) -> Figure:
    """Draw precision where so many prerequisites are found, a panel for each set."""
    figure, drawn = _panels(findings), _best(findings, lambda cell: bool(cell.curve))
    for axis, course in zip(figure.axes, _courses(findings), strict=True):
        for index, cell in _cells(findings, course, drawn):
            _draw_precision(axis, index, map_title(cell.method), cell)
        axis.set(xlim=(0, 1), ylim=(0, 1.02), title=course, xlabel="prerequisites found")
    figure.axes[0].set_ylabel("precision")
    draw_legend(figure, columns=3)
    return figure


def _draw_precision(axis: Axes, index: int, label: str, cell: MapCell) -> None:
    points = [(r, p) for r, p in zip(RECALLS.tolist(), cell.curve, strict=True) if p is not None]
    draw_curve(axis, index, label, [r for r, _ in points], [p for _, p in points])
    axis.lines[-1].set_markevery(5)  # fifty would hide the line


def _courses(findings: Findings) -> list[str]:
    """Give the sets whose pairs are judged one by one; where there is none, all."""
    judged = [course for course in findings.courses if course not in DIRECT_STEPS]
    return judged or findings.courses


def _best(findings: Findings, has: Callable[[MapCell], bool]) -> list[str]:
    """Give the methods to draw, the best by mean average precision first."""
    reached: dict[str, list[float]] = {}
    for course in _courses(findings):
        for cell in filter(has, findings.of(course, "half")):
            reached.setdefault(cell.method, []).append(cell.value("average_precision") or 0)
    return sorted(reached, key=lambda name: -fmean(reached[name]))[:MOST_CURVES]


def _cells(findings: Findings, course: str, drawn: list[str]) -> Iterator[tuple[int, MapCell]]:
    """Give a set's cells to draw, each with its method's place: one look in all panels."""
    for index, name in enumerate(drawn):
        cell = findings.cell(course, "half", name)
        if cell is not None:
            yield index, cell


def _panels(findings: Findings) -> Figure:
    columns = len(_courses(findings))
    return new_figure(PAGE if columns > 1 else COLUMN, 3.0, columns=columns)
