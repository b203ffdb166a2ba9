"""What labels are worth: how well pairs are judged and ordered when fewer labels are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from proprl.errors import ProprlError
from proprl.experiments.experiment import Do, Outcome, Table, Wanted
from proprl.experiments.figures import PAGE, draw_curve, new_figure
from proprl.experiments.ours import targets
from proprl.experiments.plans import experiment_settings, plan
from proprl.experiments.runner import metric_values
from proprl.experiments.studies import times_run
from proprl.experiments.texts import csv_text, markdown_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METHODS = ("svm", "proprl", "sequitur")
SHARES = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
PROTOCOL = "leak-free"
METRICS = {"auc": "AUC", "ordered_share": "ordered share"}
HEADS = ("course", "labels", "method", *METRICS.values())
# Fewer points than this give no line to go on along.
POINTS = 3
# Below so many labels a curve is still finding its course.
FEW = 100
# A line that is this much longer than what it was drawn through says nothing.
FAR = 10


@dataclass(frozen=True)
class Point:
    """What a method came to on one course with so many labels."""

    course: str
    method: str
    labels: int
    """Known labels, of training and validation together: the mean over folds."""
    auc: float
    ordered_share: float


def label_curve(wanted: Wanted, do: Do) -> Outcome:
    """Take away labels, half of what is left each time, and learn from the rest."""
    if wanted.protocol not in (Wanted().protocol, PROTOCOL):
        raise ProprlError("labels are taken away from leak-free folds: leave out --protocol")
    wanted = replace(wanted, protocol=PROTOCOL)
    whole = plan(wanted.methods or METHODS, wanted)
    runs = [replace(run, label_share=share) for run in whole for share in SHARES]
    results = do(runs)
    points = gather(results)
    title = "What labels are worth"
    often = times_run(wanted.repeats, PROTOCOL)
    page = [f"# {title}\n", _how(often, runs[0].encoder), *_tables(points), _outlook(points)]
    rows = [(p.course, p.labels, _title(p.method), p.auc, p.ordered_share) for p in points]
    texts = {
        "labels.md": "\n".join(
            [*page, "![AUC and ordered share by number of labels](labels.png)\n"]
        ),
        "labels.csv": csv_text([head.replace(" ", "_").lower() for head in HEADS], rows),
    }
    return Outcome(results, [Table(title, HEADS, rows)], texts, {"labels": lambda: draw(points)})


def gather(results: Sequence[Mapping[str, Any]]) -> list[Point]:
    """Give the means over folds, by course, then method, then number of labels."""
    together: dict[tuple[str, str, float], list[dict[str, Any]]] = {}
    for result in results:
        run = result["run"]
        key = (run["course"], run["method"], run["label_share"])
        together.setdefault(key, []).append(dict(result))
    points = []
    for (course, method, _), of_key in together.items():
        labels = round(np.mean([result["known_labels"] for result in of_key]))
        means = [float(np.mean(metric_values(of_key, metric))) for metric in METRICS]
        points.append(Point(course, method, labels, *means))
    return points


def labels_needed(goal: float, labels: Sequence[int], reached: Sequence[float]) -> int | None:
    """Say with how many labels the goal is reached, if what is missing keeps falling as it fell.

    The logarithm of what is missing to 1 is taken to fall in a straight line with the logarithm of
    the number of labels. None if it does not fall, or the goal is too far off to say.

    >>> labels_needed(0.95, [100, 200, 400], [0.6, 0.8, 0.9])
    800
    """
    n, missing = np.log(labels), np.log(1 - np.asarray(reached).clip(max=1 - 1e-6))
    if len(n) < POINTS:
        return None
    slope, intercept = np.polyfit(n, missing, 1)
    if slope >= 0:
        return None
    needed = (np.log(1 - goal) - intercept) / slope  # its logarithm
    return round(np.exp(needed)) if needed <= np.log(FAR * max(labels)) else None


def draw(points: Sequence[Point]) -> Figure:
    """Draw a row of panels for each metric, a panel for each course, a curve for each method."""
    courses = list(dict.fromkeys(p.course for p in points))
    figure = new_figure(PAGE, 0.4 + 1.9 * len(METRICS), columns=len(courses), rows=len(METRICS))
    panels = iter(figure.axes)
    for metric, label in METRICS.items():
        lowest = min(getattr(p, metric) for p in points)  # one scale along a row
        for course in courses:
            axis = next(panels)
            _draw_panel(axis, [p for p in points if p.course == course], metric)
            axis.set(ylim=(lowest - 0.02, 1.0), title=course, xlabel="labels")
            axis.set_ylabel(label if course == courses[0] else "")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def _draw_panel(axis: Axes, points: Sequence[Point], metric: str) -> None:
    for index, (method, curve) in enumerate(groupby(points, lambda p: p.method)):
        along = list(curve)
        reached = [getattr(p, metric) for p in along]
        draw_curve(axis, index, _title(method), [p.labels for p in along], reached)
    labels = sorted({p.labels for p in points})
    axis.set_xscale("log", base=2)
    axis.set_xticks(labels, [str(n) for n in labels])
    axis.minorticks_off()


def _tables(points: Sequence[Point]) -> list[str]:
    """Give a table for each course: a row for each number of labels, a column for each method."""
    found = []
    for course, of_course in groupby(points, lambda p: p.course):
        here = list(of_course)
        methods = list(dict.fromkeys(p.method for p in here))
        cells = {(p.labels, p.method): f"{p.auc:.3f} / {p.ordered_share:.3f}" for p in here}
        rows = [
            [str(labels), *(cells[labels, method] for method in methods)]
            for labels in dict.fromkeys(p.labels for p in here)
        ]
        found.append(f"## {course}\n\n{markdown_table(['labels', *map(_title, methods)], rows)}")
    return found


def _outlook(points: Sequence[Point]) -> str:
    """Say how many labels the aim for the ordered share would take."""
    lines = []
    for (course, method), of_both in groupby(points, lambda p: (p.course, p.method)):
        goal = targets().leak_free.get(course, {}).get("ordered_share")
        along = [p for p in of_both if p.labels >= FEW]
        if goal is None:
            continue
        needed = labels_needed(goal, [p.labels for p in along], [p.ordered_share for p in along])
        shown = "cannot be told" if needed is None else f"about {needed:,}"
        lines.append([course, _title(method), f"{goal:.2f}", shown])
    if not lines:
        return ""
    return (
        "## If it went on like this\n\n"
        f"A straight line through the points with {FEW} labels or more, both axes logarithmic, "
        "says how many labels an ordered share would take. It is a guess: labels that are still "
        "to be made may be easier or harder than those that there are.\n\n"
        + markdown_table(["course", "method", "ordered share", "labels"], lines)
    )


def _title(method: str) -> str:
    return experiment_settings().title(method)


def _how(often: str, encoder: str) -> str:
    return (
        f"Mean over {often} without leaks, index faults repaired, texts encoded by `{encoder}`. Of "
        "the training and of the validation pairs a part is kept, drawn by chance, both orders of "
        "a pair together; smaller parts are parts of larger ones, and test pairs stay the same. "
        "Labels are those of training and validation together. Each cell: AUC / share of "
        "positives scored above their reverse.\n"
    )
