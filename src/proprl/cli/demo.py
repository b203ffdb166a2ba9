"""`proprl demo`: the main job on the bundled course, from data to report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proprl.cli.console import escape, print_json, print_table, say
from proprl.cli.options import Json, Seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proprl.curriculum.graph import Edge, PrerequisiteGraph
    from proprl.curriculum.questions import Question
    from proprl.estimator import PrerequisiteModel
    from proprl.judging import Judged

IN_TERMINAL = 5
TOLD = {"auc": " (AUC)", "ordered_share": "", "f1": " (F1)"}
"""The metrics that a person is told, with their names in the field."""


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the model and the report.")] = Path(
        "proprl-demo"
    ),
    seed: Seed = 42,
    as_json: Json = False,
) -> None:
    """Train on the course `campus`, and write a report of it.

    Example: proprl demo --out my-demo
    """
    from proprl.cli.progress_bar import ProgressBar
    from proprl.curriculum.questions import worth_asking
    from proprl.curriculum.structure import topics_of
    from proprl.curriculum.summary import map_counts, sure_of
    from proprl.data import load_course
    from proprl.estimator import PrerequisiteModel
    from proprl.files import write_text
    from proprl.report.map_picture import write_map
    from proprl.report.page import render_report, report_data
    from proprl.training.bundle import check_destination

    bundle, page = out / "campus.proprl", out / "report.html"
    check_destination(bundle)
    course = load_course("campus")
    started = time.perf_counter()
    model = PrerequisiteModel(seed=seed).fit(course, progress=ProgressBar())
    seconds = time.perf_counter() - started
    model.save(bundle)
    judged, graph = model.judged(course), model.graph()
    write_text(page, render_report(report_data(model.fitted_, graph, judged)))
    write_map(graph, topics_of(graph, model.fitted_.topics), course.name, out / "map.html")
    sure, ask = sure_of(model.fitted_, graph), worth_asking(model.fitted_, IN_TERMINAL)
    if as_json:
        expected = model.fitted_.expected
        print_json(
            {
                "bundle": str(bundle),
                "report": str(page),
                "metrics": judged.metrics(),
                "sure": [vars(edge) for edge in sure],
                "ask": [vars(edge) for edge in ask],
                "seconds": round(seconds, 2),
                "expected": expected and vars(expected),
                "labels_alone": map_counts(model.labels_alone()),
                "map": map_counts(graph),
            }
        )
        return
    _tell_what_was_learned_from(model, seconds)
    _tell_of_the_map(model, graph)
    _tell_how_well(judged)
    _tell_pairs(sure, ask)
    say(f"\nThe map is drawn in [bold]{escape(str(page))}[/]: open it in a browser. Then try:")
    say(f'  proprl explain {escape(str(bundle))} "Limits" "Derivatives"')
    say(f'  proprl path {escape(str(bundle))} "Gradient descent" --known "Fractions"')


def _tell_what_was_learned_from(model: PrerequisiteModel, seconds: float) -> None:
    from proprl.curriculum.summary import kinds_missing, kinds_used

    fitted = model.fitted_
    labels, yes = len(fitted.known), len(fitted.known.positives)
    say(f"[bold]{escape(fitted.course_name)}[/]: {len(fitted.concept_ids)} concepts")
    say(
        f"  learned from  {labels:,} labels ({yes:,} say yes) and {fitted.background:,} pairs "
        f"without a label, in {seconds:.1f} s"
    )
    say(f"  evidence      {escape(', '.join(kinds_used(fitted)))}")
    for view in kinds_missing(fitted):
        say(f"  [yellow]missing       {view}[/]")
    if test := len(fitted.split.test):
        say(f"  kept apart    {test:,} labels, as a test")


def _tell_of_the_map(model: PrerequisiteModel, graph: PrerequisiteGraph) -> None:
    from proprl.curriculum.summary import expected_words, learned_words, map_counts

    say("\n[bold]How many prerequisites are there besides the labelled ones?[/]")
    say(expected_words(model.fitted_)[0])
    say("\n[bold]What does the map add to your labels?[/]")
    say(" ".join(learned_words(model.fitted_, graph)))
    alone, counts = map_counts(model.labels_alone()), map_counts(graph)
    rows = [
        (f"  {what}" if what.startswith("of ") else what, f"{alone[what]:,}", f"{count:,}")
        for what, count in counts.items()
    ]
    print_table(None, ("", "your labels alone", "the map"), rows)


def _tell_how_well(judged: Judged) -> None:
    from proprl.evaluation.metrics import MEANING

    metrics = judged.metrics()
    say(f"\n[bold]How well does it judge the {metrics['pairs']} labels kept apart?[/]")
    for key, name in TOLD.items():
        if metrics.get(key) is not None:
            say(f"  {metrics[key]:.2f}  {MEANING[key]}{name}")
    say(" ".join(judged.sentences()[1:]))


def _tell_pairs(sure: list[Edge], ask: list[Question]) -> None:
    from proprl.curriculum.summary import SURE

    listed: tuple[tuple[str, Sequence[Edge | Question]], ...] = (
        (f"What is it sure of that no label says ({SURE} or more)?", sure[:IN_TERMINAL]),
        ("What would it ask you?", ask),
    )
    for title, edges in listed:
        say(f"\n[bold]{title}[/]")
        if edges:
            rows = [(edge.source, "→", edge.target, edge.probability) for edge in edges]
            print_table(None, ("learn first", "", "then", "probability"), rows)
        else:
            say("Nothing comes to that.")
