"""What labels are worth: how well pairs are judged and ordered when fewer labels are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from proprl.data.public import BENCHMARKS
from proprl.errors import ProprlError
from proprl.experiments.running.execute import FEWEST_OF_A_LABEL
from proprl.experiments.running.plan import PROPRL, SEQUITUR, Wanted, plan
from proprl.experiments.running.protocols import PROTOCOLS
from proprl.experiments.running.run import Result
from proprl.experiments.settings.methods import title_of
from proprl.experiments.settings.published import SETS
from proprl.experiments.show.figures import COLUMN, PAGE, draw_curve, draw_legend, new_figure
from proprl.experiments.show.pages import Do, Outcome, page, said, times_run
from proprl.experiments.show.tables import Table, csv_text, markdown_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEARNERS = ("svm", PROPRL, SEQUITUR)
LABEL_SHARES = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
PROTOCOL = "leak-free"
CURVES = {"auc": "AUC", "ordered_share": "ordered share"}
LABEL_HEADS = ("course", "method", "labels", *CURVES.values())
LEAST_POINTS = 3
"""With fewer points no line is fitted."""
ENOUGH_LABELS = 100
"""Points with fewer labels are left out of the outlook: the curve has not settled there."""
GOAL = 0.93
"""The page says how many labels this ordered share would take, on public sets."""
FAR = 10
"""No number is named that is more than so many times the present labels."""


def label_curve(wanted: Wanted, do: Do) -> Outcome:
    """Take away labels, half of what is left each time, and learn from the rest."""
    if wanted.protocol not in (Wanted().protocol, PROTOCOL) and wanted.protocol in PROTOCOLS:
        raise ProprlError("labels are taken away from leak-free folds: leave out --protocol")
    if wanted.protocol == Wanted().protocol:
        wanted = replace(wanted, protocol=PROTOCOL)
    whole = plan(wanted.methods or LEARNERS, wanted)
    runs = [replace(run, label_share=share) for run in whole for share in LABEL_SHARES]
    results = do(runs)
    points = _points(results)
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
    picture = "![AUC and ordered share by number of labels](labels.png)"
    texts = {
        "labels.md": page(f"# {title}", how, picture, *_tables(points), _outlook(points)),
        "labels.csv": csv_text(points.columns, points.iter_rows()),
    }
    shown = points.select("course", "method", "labels", *CURVES).rows()
    return Outcome(
        results, [Table(title, LABEL_HEADS, shown)], texts, {"labels": lambda: draw(points)}
    )


def _points(results: Sequence[Result]) -> pl.DataFrame:
    """Give means over folds: a row for each course, method and share of its labels.

    `labels` are those of training and validation together. A fold with too few labels of either
    kind has no metrics and is left out, and so is a row without a fold.
    """
    rows = []
    for one in results:
        run, metrics = one["run"], [one["metrics"][metric] for metric in CURVES]
        whose = run["course"], title_of(run["method"]), run["label_share"]
        rows.append([*whose, one["known_labels"], *metrics])
    frame = pl.DataFrame(rows, ["course", "method", "share", "labels", *CURVES], orient="row")
    if frame.drop_nulls().is_empty():
        raise ProprlError(
            "no fold has enough labels to learn from and to test on: label more pairs of both kinds"
        )
    folds = frame.drop_nulls().group_by("course", "method", "share", maintain_order=True)
    return folds.agg(
        pl.col("labels").mean().round().cast(pl.Int64),
        pl.col(*CURVES).mean(),
        pl.col(*CURVES).std().fill_null(0).name.suffix("_deviation"),
    )


def labels_needed(
    goal: float, labels: Sequence[int], reached: Sequence[float]
) -> tuple[int, int] | None:
    """Estimate how many labels reach the goal: the lower and the higher of two estimates.

    On logarithmic axes, what is missing to 1 is assumed to fall in a straight line with the number
    of labels. One line goes through all points, one through the last three. None if a line does
    not fall, or if the goal is too far off.

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


def draw(points: pl.DataFrame) -> Figure:
    """Draw a row of panels for each metric, a panel for each course, a curve for each method."""
    courses = points.partition_by("course", maintain_order=True)
    width = PAGE if len(courses) > 1 else COLUMN
    figure = new_figure(width, 0.4 + 1.9 * len(CURVES), columns=len(courses), rows=len(CURVES))
    panels = iter(figure.axes)
    for metric, label in CURVES.items():
        lowest = min(points[metric])  # one scale along a row
        for place, here in enumerate(courses):
            axis = next(panels)
            _draw_panel(axis, here, metric)
            axis.set(ylim=(lowest - 0.02, 1.01), title=here["course"][0], xlabel="labels")
            axis.set_ylabel("" if place else label)
    draw_legend(figure)
    return figure


def _draw_panel(axis: Axes, points: pl.DataFrame, metric: str) -> None:
    for index, curve in enumerate(points.partition_by("method", maintain_order=True)):
        draw_curve(axis, index, curve["method"][0], curve.select("labels", metric).iter_rows())
    labels = sorted(set(points["labels"]))
    axis.set_xscale("log", base=2)
    axis.set_xticks(labels, [str(n) for n in labels])
    axis.minorticks_off()


def _tables(points: pl.DataFrame) -> list[str]:
    """Give a table for each course: a row for each share of labels, a column for each method."""
    cell = pl.format(
        "{} / {}", *(pl.col(metric).map_elements("{:.3f}".format) for metric in CURVES)
    )
    found = []
    for here in points.partition_by("course", maintain_order=True):
        labels = dict(here.select("share", "labels").iter_rows())
        table = here.with_columns(cell=cell).pivot("method", index="share", values="cell")
        rows = [
            [labels[share], *cells]
            for share, *cells in table.sort("share").fill_null("-").iter_rows()
        ]
        heads = ["labels", *table.columns[1:]]
        found.append(Table(here["course"][0], heads, rows).section())
    return found


def _outlook(points: pl.DataFrame) -> str:
    """Say how many labels an ordered share of `GOAL` would take."""
    lines = []
    for (course, method), curve in points.group_by("course", "method", maintain_order=True):
        if course in SETS:
            enough = curve.filter(pl.col("labels") >= ENOUGH_LABELS)
            needed = _needed(GOAL, enough["labels"].to_list(), enough["ordered_share"].to_list())
            lines.append([course, method, f"{GOAL:.2f}", needed])
    if not lines:
        return ""
    table = markdown_table(["course", "method", "ordered share", "labels"], lines)
    return said("labels", "outlook", enough=ENOUGH_LABELS, points=LEAST_POINTS, table=table)


def _needed(goal: float, labels: Sequence[int], reached: Sequence[float]) -> str:
    enough = [n for n, share in zip(labels, reached, strict=True) if share >= goal]
    if enough:
        return f"reached with {min(enough):,}"
    needed = labels_needed(goal, labels, reached)
    if needed is None:
        return "cannot be told"
    least, most = needed
    return f"about {least:,}" if least == most else f"{least:,} to {most:,}"
