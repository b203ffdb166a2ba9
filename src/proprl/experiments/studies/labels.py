"""What labels are worth: how well pairs are judged and ordered when fewer labels are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from proprl.data.public import BENCHMARKS
from proprl.errors import ProprlError
from proprl.experiments.running.execute import FEWEST_OF_A_LABEL
from proprl.experiments.running.outcome import Do, Outcome, Table, Wanted
from proprl.experiments.running.plan import PROPRL, SEQUITUR, plan, title_of
from proprl.experiments.running.protocols import PROTOCOLS
from proprl.experiments.settings.published import SETS
from proprl.experiments.show.figures import COLUMN, PAGE, draw_curve, draw_legend, new_figure
from proprl.experiments.show.grouping import Result, grouped
from proprl.experiments.show.pages import said, times_run
from proprl.experiments.show.tables import csv_text, markdown_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEARNERS = ("svm", PROPRL, SEQUITUR)
LABEL_SHARES = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
PROTOCOL = "leak-free"
CURVES = {"auc": "AUC", "ordered_share": "ordered share"}
LABEL_HEADS = ("course", "method", "labels", *CURVES.values())
CSV_HEADS = (
    *("course", "method", "share", "labels", *CURVES),
    *(f"{metric}_deviation" for metric in CURVES),
)
LEAST_POINTS = 3
"""With fewer points no line is fitted."""
ENOUGH_LABELS = 100
"""Points with fewer are left out of the outlook: the curve has not settled there."""
GOAL = 0.93
"""The page says how many labels this ordered share would take, on public sets."""
FAR = 10
"""No number is named beyond so many times the labels that there are."""


@dataclass(frozen=True)
class Point:
    """What a method came to on one course with a share of its labels: means over folds."""

    course: str
    method: str
    share: float
    labels: int
    """Known labels, of training and validation together."""
    auc: float
    ordered_share: float
    auc_deviation: float
    ordered_share_deviation: float


def label_curve(wanted: Wanted, do: Do) -> Outcome:
    """Take away labels, half of what is left each time, and learn from the rest."""
    if wanted.protocol not in (Wanted().protocol, PROTOCOL) and wanted.protocol in PROTOCOLS:
        raise ProprlError("labels are taken away from leak-free folds: leave out --protocol")
    if wanted.protocol == Wanted().protocol:
        wanted = replace(wanted, protocol=PROTOCOL)
    whole = plan(wanted.methods or LEARNERS, wanted)
    runs = [replace(run, label_share=share) for run in whole for share in LABEL_SHARES]
    results = do(runs)
    points = gather(results)
    title = "What labels are worth"
    public = all(course in BENCHMARKS for course in wanted.courses)
    how = said(
        "labels",
        times=times_run(wanted),
        repaired=", data faults repaired" if public else "",
        encoder=runs[0].encoder,
        fewest=FEWEST_OF_A_LABEL,
        learned=said("ours", "learned"),
    )
    picture = "![AUC and ordered share by number of labels](labels.png)\n"
    page = [f"# {title}\n", how, picture, *_tables(points), _outlook(points)]
    rows = [(p.course, title_of(p.method), *astuple(p)[2:]) for p in points]
    texts = {"labels.md": "\n".join(page), "labels.csv": csv_text(CSV_HEADS, rows)}
    shown = [(course, name, *numbers[:3]) for course, name, _, *numbers in rows]
    table = Table(title, LABEL_HEADS, shown)
    return Outcome(results, [table], texts, {"labels": lambda: draw(points)})


def gather(results: Sequence[Result]) -> list[Point]:
    """Give the means over folds, by course, then method, then number of labels.

    A fold with too few labels of either kind has no metrics and is left out, and so is a point
    without a fold.
    """
    judged = [r for r in results if all(r["metrics"][metric] is not None for metric in CURVES)]
    points = []
    for (course, method, share), folds in grouped(
        judged, "course", "method", "label_share"
    ).items():
        labels = round(np.mean([result["known_labels"] for result in folds]))
        values = np.array([[result["metrics"][metric] for metric in CURVES] for result in folds])
        spread = values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(len(CURVES))
        auc, ordered, *deviations = (float(v) for v in (*values.mean(axis=0), *spread))
        points.append(Point(course, method, share, labels, auc, ordered, *deviations))
    if not points:
        raise ProprlError(
            "no fold has enough labels to learn from and to test on: label more pairs of both kinds"
        )
    return points


def labels_needed(
    goal: float, labels: Sequence[int], reached: Sequence[float]
) -> tuple[int, int] | None:
    """Estimate how many labels reach the goal: the lower and the higher of two estimates.

    What is missing to 1 is assumed to fall in a straight line with the number of labels, both
    logarithmic. One line goes through all points, one through the last three. None if a line does
    not fall, or if the goal is too far off to say.

    >>> labels_needed(0.95, [100, 200, 400], [0.6, 0.8, 0.9])
    (800, 800)
    """
    if len(labels) < LEAST_POINTS:
        return None
    found = []
    for start in (0, len(labels) - LEAST_POINTS):
        n = np.log(labels[start:])
        missing = np.log(1 - np.asarray(reached[start:]).clip(max=0.999))
        slope, intercept = np.polyfit(n, missing, 1)
        needed = (np.log(1 - goal) - intercept) / slope if slope < 0 else np.inf  # its logarithm
        if needed > np.log(FAR * max(labels)):
            return None
        # The line may pass above the last point, where the goal is not reached.
        found.append(max(round(np.exp(needed)), max(labels)))
    return min(found), max(found)


def draw(points: Sequence[Point]) -> Figure:
    """Draw a row of panels for each metric, a panel for each course, a curve for each method."""
    courses = list(dict.fromkeys(p.course for p in points))
    width = PAGE if len(courses) > 1 else COLUMN
    figure = new_figure(width, 0.4 + 1.9 * len(CURVES), columns=len(courses), rows=len(CURVES))
    panels = iter(figure.axes)
    for metric, label in CURVES.items():
        lowest = min(getattr(p, metric) for p in points)  # one scale along a row
        for course in courses:
            axis = next(panels)
            _draw_panel(axis, [p for p in points if p.course == course], metric)
            axis.set(ylim=(lowest - 0.02, 1.01), title=course, xlabel="labels")
            axis.set_ylabel(label if course == courses[0] else "")
    draw_legend(figure)
    return figure


def _draw_panel(axis: Axes, points: Sequence[Point], metric: str) -> None:
    for index, (method, curve) in enumerate(groupby(points, lambda p: p.method)):
        along = list(curve)
        reached = [getattr(p, metric) for p in along]
        draw_curve(axis, index, title_of(method), [p.labels for p in along], reached)
    labels = sorted({p.labels for p in points})
    axis.set_xscale("log", base=2)
    axis.set_xticks(labels, [str(n) for n in labels])
    axis.minorticks_off()


def _tables(points: Sequence[Point]) -> list[str]:
    """Give a table for each course: a row for each share of labels, a column for each method."""
    found = []
    for course, of_course in groupby(points, lambda p: p.course):
        here = list(of_course)
        methods = list(dict.fromkeys(p.method for p in here))
        labels = {p.share: str(p.labels) for p in here}
        cells = {(p.share, p.method): f"{p.auc:.3f} / {p.ordered_share:.3f}" for p in here}
        rows = [
            [labels[share], *(cells.get((share, method), "-") for method in methods)]
            for share in sorted(labels)
        ]
        found.append(f"## {course}\n\n{markdown_table(['labels', *map(title_of, methods)], rows)}")
    return found


def _outlook(points: Sequence[Point]) -> str:
    """Say how many labels an ordered share of `GOAL` would take."""
    lines = []
    for (course, method), of_both in groupby(points, lambda p: (p.course, p.method)):
        if course in SETS:
            along = [p for p in of_both if p.labels >= ENOUGH_LABELS]
            lines.append([course, title_of(method), f"{GOAL:.2f}", _needed(GOAL, along)])
    if not lines:
        return ""
    table = markdown_table(["course", "method", "ordered share", "labels"], lines)
    return said("labels", "outlook", enough=ENOUGH_LABELS, points=LEAST_POINTS, table=table)


def _needed(goal: float, along: Sequence[Point]) -> str:
    enough = [p.labels for p in along if p.ordered_share >= goal]
    if enough:
        return f"reached with {min(enough):,}"
    needed = labels_needed(goal, [p.labels for p in along], [p.ordered_share for p in along])
    if needed is None:
        return "cannot be told"
    least, most = needed
    return f"about {least:,}" if least == most else f"{least:,} to {most:,}"
