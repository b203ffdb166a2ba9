"""`proprl graph`: the map of a course."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proprl.cli.console import escape, print_json, print_table, say
from proprl.cli.options import BundleOrCourse, Json

if TYPE_CHECKING:
    from proprl.curriculum.graph import PrerequisiteGraph
    from proprl.curriculum.structure import Structure

NAMED = 8
"""So many concepts are named in a sentence."""
LISTED = 10
"""So many concepts and steps stand in a table."""

Picture = Annotated[
    Path | None,
    typer.Option(help="Draw the map: .svg, .png, or .html to zoom and search in."),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        help="Add learned steps from this probability on.", show_default="0.35", min=0, max=1
    ),
]
Edges = Annotated[int | None, typer.Option(help="Add so many learned steps at most.")]
PerConcept = Annotated[
    int | None, typer.Option(help="Add so many learned steps before each concept at most.")
]


def graph(
    data: BundleOrCourse,
    out: Picture = None,
    threshold: Threshold = None,
    edges: Edges = None,
    per_concept: PerConcept = None,
    as_json: Json = False,
) -> None:
    """Make the map of a course: what to learn before what, without contradictions.

    Example: proprl graph campus --out campus.svg

    Example: proprl graph campus.proprl --edges 20 --out campus.html
    """
    from proprl.cli.model_of import model_of
    from proprl.cli.progress_bar import ProgressBar
    from proprl.curriculum.candidates import Budget
    from proprl.curriculum.graph import map_of
    from proprl.curriculum.structure import Structure, topics_of
    from proprl.curriculum.summary import contradictions, label_words, learned_words, map_counts
    from proprl.report.map_picture import check_picture, write_map

    budget = Budget(edges, per_concept)
    if out is not None:
        check_picture(out)
    fitted = model_of(data).fitted_
    drawn = map_of(fitted, threshold=threshold, budget=budget, progress=ProgressBar())
    structure, topics = Structure(drawn), topics_of(drawn, fitted.topics)
    if out is not None:
        write_map(drawn, topics, fitted.course_name, out)
    if as_json:
        print_json(_as_json(drawn, structure, topics))
        return
    say(f"[bold]{escape(fitted.course_name)}[/]: {len(drawn.ids)} concepts")
    print_table(None, ("in the map", ""), [(what, n) for what, n in map_counts(drawn).items()])
    for sentence in (*learned_words(fitted, drawn), *label_words(fitted, drawn)):
        say(escape(sentence))
    for sentence in contradictions(fitted):
        say(f"[yellow]{escape(sentence)}[/]")
    _tell_structure(drawn, structure)
    _tell_learned(drawn)
    if out is not None:
        say(f"\nThe map is drawn in [bold]{escape(str(out))}[/].")


def _tell_structure(graph: PrerequisiteGraph, structure: Structure) -> None:
    """Say where to begin, and what much depends on."""
    from proprl.curriculum.summary import names_apart

    names = names_apart(graph.ids, graph.names)
    if starts := structure.starts.tolist():
        shown = ", ".join(names[i] for i in starts[:NAMED])
        more = f", and {len(starts) - NAMED} more" if len(starts) > NAMED else ""
        say("\n[bold]Where to begin[/]: nothing has to be learned before these.")
        say(escape(f"{shown}{more}."))
    if bottlenecks := structure.bottlenecks[:LISTED].tolist():
        say("\n[bold]What much depends on[/]")
        rows = [
            (names[i], int(structure.needed_for[i]), int(structure.needs[i])) for i in bottlenecks
        ]
        print_table(None, ("concept", "needed for", "needs"), rows)


def _tell_learned(graph: PrerequisiteGraph) -> None:
    from proprl.curriculum.summary import told_apart

    learned = [edge for edge in told_apart(graph) if not edge.confirmed]
    if learned:
        say("\n[bold]Learned steps, the surest first[/]")
        rows = [(edge.source, "→", edge.target, edge.probability) for edge in learned[:LISTED]]
        print_table(None, ("learn first", "", "then", "probability"), rows)
        if len(learned) > LISTED:
            say(f"... and {len(learned) - LISTED} more; --json lists all.")


def _as_json(graph: PrerequisiteGraph, structure: Structure, topics: list[str]) -> dict[str, Any]:
    def pairs(rows: Any) -> list[list[str]]:
        return [[graph.ids[i], graph.ids[j]] for i, j in rows.tolist()]

    return {
        "concepts": [
            {
                "id": concept,
                "name": name,
                "topic": topics[i] or None,
                "level": int(structure.level[i]),
                "needs": int(structure.needs[i]),
                "needed_for": int(structure.needed_for[i]),
            }
            for i, (concept, name) in enumerate(zip(graph.ids, graph.names, strict=True))
        ],
        "steps": [
            {
                "before": edge.source_id,
                "after": edge.target_id,
                "probability": edge.probability,
                "status": "confirmed" if edge.confirmed else "learned",
            }
            for edge in graph
        ],
        "implied": pairs(graph.implied),
        "set_aside": pairs(graph.conflicts),
        "rejected_yet_implied": pairs(graph.implied_rejected),
        "left_out": vars(graph.left_out),
        "threshold": graph.threshold,
        "at_most_from_optimum": graph.gap,
    }
