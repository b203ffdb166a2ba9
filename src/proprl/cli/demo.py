"""`proprl demo`: the main job on the bundled course, from data to report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proprl.cli.options import Json, Seed

if TYPE_CHECKING:
    from proprl.curriculum import Edge


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the model and the report.")] = Path(
        "proprl-demo"
    ),
    seed: Seed = 42,
    as_json: Json = False,
) -> None:
    """Train on the bundled course `campus`, show what was learned, and write a report.

    Example: proprl demo --out my-demo
    """
    from proprl.cli.console import ProgressBar, escape, metrics_rows, print_json, print_table, say
    from proprl.cli.train import print_summary
    from proprl.data import load_course
    from proprl.estimator import PrerequisiteModel
    from proprl.files import write_text
    from proprl.report import render_report
    from proprl.showcase import report_data, sure_and_unsure
    from proprl.training.bundle import check_destination

    bundle, page = out / "campus.proprl", out / "report.html"
    check_destination(bundle)
    course = load_course("campus")
    started = time.perf_counter()
    model = PrerequisiteModel(seed=seed).fit(course, progress=ProgressBar())
    model.save(bundle)
    metrics = model.evaluate(course)
    graph = model.graph()
    sure, ask = sure_and_unsure(model, graph)
    write_text(page, render_report(report_data(model, graph, metrics, sure, ask)))
    seconds = time.perf_counter() - started
    if as_json:
        print_json(
            {
                "bundle": str(bundle),
                "report": str(page),
                "metrics": metrics,
                "sure": [vars(edge) for edge in sure],
                "ask": [vars(edge) for edge in ask],
                "seconds": round(seconds, 2),
            }
        )
        return
    print_summary(model.fitted_, bundle, seconds)
    print_table(
        "On test pairs it has not learned from", ("metric", "value", ""), metrics_rows(metrics)
    )
    _print_edges("Five pairs it is sure of", sure)
    _print_edges("Five pairs it would ask an expert about", ask)
    say(f"Open [bold]{escape(str(page))}[/] in a browser. Then try:")
    say(f'  proprl predict {escape(str(bundle))} "Limits" "Derivatives"')


def _print_edges(title: str, edges: list[Edge]) -> None:
    from proprl.cli.console import print_table

    rows = [(edge.source, "→", edge.target, edge.probability) for edge in edges]
    print_table(title, ("learn first", "", "then", "probability"), rows)
