"""Pictures of a map: what was said and what came true, and precision by share found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from proprl.experiments.running.whole_map import DIRECT_STEPS, RECALLS
from proprl.experiments.show.figures import COLUMN, PAGE, draw_curve, draw_legend, new_figure
from proprl.experiments.show.whole_map_findings import Findings, MapCell
from proprl.experiments.show.whole_map_page import map_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Points = list[tuple[float, float]]

LEAST = 1e-4
"""A bin in which nothing came true lies here: a logarithm has no 0."""
ENOUGH = 30
"""Bins of fewer pairs are left out: what came true of them is chance."""
MOST_CURVES = 5
"""More than that cannot be told apart; the best by average precision are drawn."""


def reliability_figure(findings: Findings) -> Figure:
    """Draw what was said against what came true at the natural rate, a panel for each set."""

    def curve(cell: MapCell) -> Points:
        bins = [one for one in cell.reliability if one["pairs"] >= ENOUGH]
        return [(max(one["said"], LEAST), max(one["came_true"], LEAST)) for one in bins]

    figure = _drawn(findings, lambda cell: bool(cell.reliability), curve)
    for axis in figure.axes:
        axis.plot([LEAST, 1], [LEAST, 1], color="0.7", linewidth=0.8, zorder=0)
        axis.set(xscale="log", yscale="log", xlim=(LEAST, 1), ylim=(LEAST, 1), xlabel="said")
    figure.axes[0].set_ylabel("came true")
    return figure


def curves_figure(findings: Findings) -> Figure:
    """Draw precision where so many prerequisites are found, a panel for each set."""

    def curve(cell: MapCell) -> Points:
        points = zip(RECALLS.tolist(), cell.curve, strict=True)
        return [(recall, precision) for recall, precision in points if precision is not None]

    figure = _drawn(findings, lambda cell: bool(cell.curve), curve)
    for axis in figure.axes:
        for line in axis.lines:
            line.set_markevery(5)  # fifty would hide the line
        axis.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="prerequisites found")
    figure.axes[0].set_ylabel("precision")
    return figure


def _drawn(
    findings: Findings, has: Callable[[MapCell], bool], curve: Callable[[MapCell], Points]
) -> Figure:
    """Draw the best methods' curves, a panel for each set; a method looks alike in all panels."""
    judged = [course for course in findings.courses if course not in DIRECT_STEPS]
    courses = judged or findings.courses  # where no pairs are judged one by one, all sets
    columns = len(courses)
    figure = new_figure(PAGE if columns > 1 else COLUMN, 3.0, columns=columns)
    drawn = _best(findings, courses, has)
    for axis, course in zip(figure.axes, courses, strict=True):
        axis.set(title=course)
        for index, name in enumerate(drawn):
            cell = findings.cell(course, "half", name)
            if cell is not None:
                points = curve(cell)
                along = [x for x, _ in points], [y for _, y in points]
                draw_curve(axis, index, map_title(name), *along)
    draw_legend(figure, columns=3)
    return figure


def _best(findings: Findings, courses: Sequence[str], has: Callable[[MapCell], bool]) -> list[str]:
    """Give the methods to draw, the best by mean average precision first."""
    reached: dict[str, list[float]] = {}
    for course in courses:
        for cell in filter(has, findings.of(course, "half")):
            reached.setdefault(cell.method, []).append(cell.value("average_precision") or 0)
    return sorted(reached, key=lambda name: -fmean(reached[name]))[:MOST_CURVES]
