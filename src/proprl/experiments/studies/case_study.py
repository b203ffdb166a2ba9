"""The case study: how sure a model is of a prerequisite, and of the same pair turned round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from proprl.arrays import FloatArray
from proprl.experiments.running.plan import PROPRL, Wanted, plan
from proprl.experiments.running.run import Result
from proprl.experiments.settings.methods import title_of
from proprl.experiments.settings.published import NAMES
from proprl.experiments.show.comparison import compare, how_tested
from proprl.experiments.show.figures import COLOURS, COLUMN, new_figure
from proprl.experiments.show.pages import Do, Outcome, file_stem, page, said, times_run
from proprl.experiments.show.tables import Table, csv_text, grouped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN_METHODS = ("dgcpl", PROPRL)
ORDER_METRICS = ("ordered_share", "mean_margin")
SCORE_HEADS = ("method", "course", "fold", "seed", "pair", "forward", "reverse")


def case_study(wanted: Wanted, do: Do) -> Outcome:
    """Compare scores of the test positives in both orders; the paper does so on MOOC."""
    wanted = replace(wanted, asked_courses=wanted.asked_courses or ("mooc",))
    methods = wanted.methods or SHOWN_METHODS
    runs = plan(methods, wanted)
    results = do(runs)
    found = compare(results, methods, ORDER_METRICS, wanted, paper="case_study")
    stem, heading = file_stem("case-study", wanted), f"Case study, {wanted.protocol}"
    times, encoder = times_run(wanted), runs[0].encoder
    how = said("case-study", times=times, encoder=encoder, tested=how_tested())
    picture = f"![Confidence in both orders]({stem}.png)"
    texts = {
        f"{stem}.md": page(f"# {heading}", how, found.markdown(), picture),
        f"{stem}.tex": found.latex(),
        f"{stem}.csv": csv_text(SCORE_HEADS, [row for one in results for row in _points(one)]),
    }
    heads = ["course", "method", *(h for m in ORDER_METRICS for h in (NAMES[m], "±", "paper"))]
    rows = []
    for course in wanted.courses:
        for method in methods:
            cells = [found.cells[method, course, metric] for metric in ORDER_METRICS]
            numbers = [n for cell in cells for n in (cell.mean, cell.deviation, cell.paper)]
            rows.append([course, title_of(method), *numbers])
    of_both = grouped(results, "course", "method")
    panels = [[of_both[course, method][0] for method in methods] for course in wanted.courses]
    return Outcome(results, [Table(heading, heads, rows)], texts, {stem: lambda: draw(panels)})


def both_orders(result: Result) -> tuple[FloatArray, FloatArray]:
    """Give S_ij and S_ji of the positives of a result."""
    positive = np.array(result["labels"]) == 1
    forward, reverse = (np.array(result["scores"][order]) for order in ("forward", "reverse"))
    return forward[positive], reverse[positive]


def draw(panels: Sequence[Sequence[Result]]) -> Figure:
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


def _draw_panel(axis: Axes, result: Result) -> None:
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
        title=f"{title_of(result['run']['method'])}\n"
        f"{100 * metrics['ordered_share']:.1f} % ordered\nmean margin {metrics['mean_margin']:.3f}",
    )


def _points(result: Result) -> list[list[object]]:
    whose = [result["run"][field] for field in ("method", "course", "fold", "seed")]
    scores = np.stack(both_orders(result), axis=1).tolist()
    return [[*whose, pair, *both] for pair, both in enumerate(scores)]
