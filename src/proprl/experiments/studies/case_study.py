"""The case study: how sure a model is of a prerequisite, and of the same pair turned round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from proprl.arrays import FloatArray
from proprl.experiments.running.outcome import Do, Outcome, Table, Wanted
from proprl.experiments.running.plan import experiment_settings, plan
from proprl.experiments.settings.published import NAMES, published
from proprl.experiments.show.comparison import compare
from proprl.experiments.show.figures import COLOURS, COLUMN, new_figure
from proprl.experiments.show.markdown import csv_text
from proprl.experiments.show.naming import file_stem, times_run
from proprl.experiments.studies.table1 import HOW_TESTED, OURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METHODS = ("dgcpl", "proprl")
COURSES = ("mooc",)
METRICS = ("ordered_share", "mean_margin")


def case_study(wanted: Wanted, do: Do) -> Outcome:
    """Compare scores of the test positives in both orders; the paper does so on MOOC."""
    wanted = replace(wanted, asked_courses=wanted.asked_courses or COURSES)
    methods = wanted.methods or METHODS
    runs = plan(methods, wanted)
    results = do(runs)
    found = compare(
        results,
        methods=methods,
        courses=wanted.courses,
        metrics=METRICS,
        ours=OURS if OURS in methods else None,
        paper=_published if wanted.protocol == "published" else None,
        titles=experiment_settings().titles,
    )
    stem = file_stem("case-study", wanted)
    heading = f"Case study, {wanted.protocol}"
    how = _how(times_run(wanted.repeats, wanted.protocol), runs[0].encoder)
    picture = f"\n![Confidence in both orders]({stem}.png)\n"
    texts = {
        f"{stem}.md": "\n".join([f"# {heading}\n", how, found.markdown(), picture]),
        f"{stem}.tex": found.latex(),
        f"{stem}.csv": csv_text(
            ["method", "course", "fold", "seed", "pair", "forward", "reverse"],
            [row for result in results for row in _points(result)],
        ),
    }
    heads = ["course", "method", *(h for m in METRICS for h in (NAMES[m], "±", "paper"))]
    rows = []
    for course in wanted.courses:
        for method in methods:
            cells = [found.cells[method, course, metric] for metric in METRICS]
            numbers = [n for cell in cells for n in (cell.mean, cell.deviation, cell.paper)]
            rows.append([course, found.title(method), *numbers])
    first = {(r["run"]["course"], r["run"]["method"]): r for r in reversed(results)}
    panels = [[first[course, method] for method in methods] for course in wanted.courses]
    return Outcome(results, [Table(heading, heads, rows)], texts, {stem: lambda: draw(panels)})


def both_orders(result: Mapping[str, Any]) -> tuple[FloatArray, FloatArray]:
    """Give S_ij and S_ji of the positives of a result."""
    positive = np.array(result["labels"]) == 1
    forward, reverse = (np.array(result["scores"][order]) for order in ("forward", "reverse"))
    return forward[positive], reverse[positive]


def draw(panels: Sequence[Sequence[Mapping[str, Any]]]) -> Figure:
    """Draw S_ij against S_ji of one result in each panel."""
    rows, columns = len(panels), len(panels[0])
    size = max(COLUMN / 2, 1.7)
    figure = new_figure(size * columns, (size + 0.45) * rows, columns=columns, rows=rows)
    for axis, result in zip(figure.axes, [r for row in panels for r in row], strict=True):
        _draw_panel(axis, result)
        axis.label_outer()
        if rows > 1 and axis.get_subplotspec().is_first_col():  # type: ignore[union-attr]
            axis.set_ylabel(f"{result['run']['course']}\n{axis.get_ylabel()}")
    return figure


def _draw_panel(axis: Axes, result: Mapping[str, Any]) -> None:
    forward, reverse = both_orders(result)
    right = forward > reverse
    axis.plot([0, 1], [0, 1], color="black", linewidth=0.7, linestyle="--")
    edge: dict[str, Any] = {"s": 14, "linewidths": 0.6, "clip_on": False, "zorder": 3}
    axis.scatter(
        forward[right], reverse[right], marker="o", facecolors="none", edgecolors=COLOURS[0], **edge
    )
    axis.scatter(forward[~right], reverse[~right], marker="x", color=COLOURS[1], **edge)
    metrics = result["metrics"]
    axis.set(
        xlim=(0, 1),
        ylim=(0, 1),
        xticks=(0, 0.5, 1),
        yticks=(0, 0.5, 1),
        aspect="equal",
        xlabel="$S_{ij}$ (annotated order)",
        ylabel="$S_{ji}$ (turned round)",
        title=f"{experiment_settings().title(result['run']['method'])}\n"
        f"{100 * metrics['ordered_share']:.1f} % ordered\nmean margin {metrics['mean_margin']:.3f}",
    )


def _points(result: Mapping[str, Any]) -> list[list[object]]:
    run = result["run"]
    whose = [run["method"], run["course"], run["fold"], run["seed"]]
    scores = zip(*(side.tolist() for side in both_orders(result)), strict=True)
    return [[*whose, pair, *both] for pair, both in enumerate(scores)]


def _published(method: str, course: str, metric: str) -> float | None:
    row = published().case_study.get(method)
    return None if row is None or course not in COURSES else float(getattr(row, metric))


def _how(times: str, encoder: str) -> str:
    return (
        "Every positive test pair is scored in the annotated order (S_ij) and turned round (S_ji). "
        "*Ordered share* is the share with S_ij > S_ji, *mean margin* the mean of S_ij - S_ji: "
        f"mean ± standard deviation over {times}, with 95 % bootstrap interval, data faults "
        f"repaired, texts encoded by `{encoder}`; *paper* is what the paper reports. The picture "
        "shows the first of these runs: a circle below the diagonal is a pair in the right order, "
        "a cross on or above it one in the wrong order. "
        f"{HOW_TESTED}\n"
    )
