"""`proprl path` and `proprl ready`: what to learn, and in which order."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proprl.cli.console import escape, print_json, print_table, say
from proprl.cli.graph import Threshold
from proprl.cli.options import BundleOrCourse, Json

if TYPE_CHECKING:
    from proprl.curriculum.shelf import Chosen
    from proprl.curriculum.way import Known, Link, Way
    from proprl.curriculum.ways import Ways
    from proprl.fitted import Fitted

LISTED = 10
"""So many concepts to learn next stand in the table."""

KnownOption = Annotated[
    list[str] | None,
    typer.Option(
        "--known",
        help="A concept that is known, by name or id; several times for several. What it needs "
        "is taken as known too.",
        show_default=False,
    ),
]
UnknownOption = Annotated[
    list[str] | None,
    typer.Option(
        "--unknown",
        help="A concept that is not known, though a known one seems to need it. Where labels "
        "confirm that it does, this is refused as a contradiction.",
        show_default=False,
    ),
]


def path(
    data: BundleOrCourse,
    targets: Annotated[list[str], typer.Argument(help="What to reach, by name or id.")],
    known: KnownOption = None,
    unknown: UnknownOption = None,
    at_least: Annotated[
        float,
        typer.Option(help="Leave out what is needed less surely: 0.8 shows the essential.", max=1),
    ] = 0.0,
    out: Annotated[
        Path | None, typer.Option(help="Draw the way: .svg, .png, or .html to zoom in.")
    ] = None,
    threshold: Threshold = None,
    as_json: Json = False,
) -> None:
    """Say what to learn, in which order, to reach one concept or several.

    Each step comes with what to learn just before it, and with the resource of the course that
    suits best: it holds little that is still unknown then.

    Example: proprl path campus "Gradient descent" --known Functions --known Vectors

    Example: proprl path campus.proprl Gradient --at-least 0.8 --out way.svg
    """
    from proprl.curriculum.summary import names_apart
    from proprl.curriculum.way_words import doubt_words, known_words, map_of_way, some_of
    from proprl.report.map_picture import check_picture, write_map

    if out is not None:
        check_picture(out)
    fitted, ways = _ways(data, threshold)
    way = ways.way_to(targets, known or (), unknown=unknown or (), at_least=at_least)
    names = names_apart(ways.graph.ids, ways.graph.names)
    goals = some_of([names[goal] for goal in way.targets])
    if out is not None:
        drawn, kinds = map_of_way(ways.graph, way)
        write_map(drawn, kinds, f"The way to {goals}", out, alone=True)
    resources = _for_each_step(fitted, ways, way)
    if as_json:
        print_json(_way_as_json(ways, way, resources))
        return
    steps = f"{len(way.steps)} step{'' if len(way.steps) == 1 else 's'}"
    say(f"[bold]{escape(fitted.course_name)}[/]: {steps} to {escape(goals)}")
    _tell_way(names, way, resources)
    for sentence in (*doubt_words(names, way, at_least), *known_words(names, way.known)):
        say(escape(sentence))
    if out is not None:
        say(f"\nThe way is drawn in [bold]{escape(str(out))}[/].")


def ready(
    data: BundleOrCourse,
    known: KnownOption = None,
    unknown: UnknownOption = None,
    threshold: Threshold = None,
    as_json: Json = False,
) -> None:
    """Say what a learner is ready for now, and what was learned last.

    Ready for: nothing that it needs is missing; what most other concepts need comes first.
    Learned last: nothing else that is known needs it.

    Example: proprl ready campus --known Functions --known Vectors
    """
    from proprl.curriculum.shelf import Shelf
    from proprl.curriculum.summary import names_apart
    from proprl.curriculum.way_words import known_words, some_of

    fitted, ways = _ways(data, threshold)
    have = ways.known(known or (), unknown or ())
    found, last = ways.ready(have), ways.learned_last(have).tolist()
    names = names_apart(ways.graph.ids, ways.graph.names)
    shelf = Shelf(fitted, ways.graph, have.rows)
    shown = found if as_json else found[:LISTED]
    resources = [shelf.best_for(one.concept) for one in shown]
    if as_json:
        ids = ways.graph.ids
        print_json(
            {
                "ready": [
                    {
                        **_concept(ways, one.concept),
                        "needed_for": one.needed_for,
                        "opens": [ids[i] for i in one.opens],
                        "resource": _resource(resource),
                    }
                    for one, resource in zip(found, resources, strict=True)
                ],
                "learned_last": [ids[i] for i in last],
                **_known_as_json(ways, have),
            }
        )
        return
    if not found:
        say(f"[bold]{escape(fitted.course_name)}[/]: everything is known.")
    else:
        say(f"[bold]{escape(fitted.course_name)}[/]: ready for these, what most others need first")
        rows = [
            (names[one.concept], one.needed_for, len(one.opens), *_title(resource, resources))
            for one, resource in zip(shown, resources, strict=True)
        ]
        print_table(None, ("learn", "needed for", "opens", *_head(resources)), rows)
        if len(found) > LISTED:
            say(f"... and {len(found) - LISTED} more; --json lists all.")
        say("“opens” counts the concepts that can come next, because nothing else is missing.")
    if last:
        say(escape(f"Learned last: {some_of([names[i] for i in last])}."))
    for sentence in known_words(names, have):
        say(escape(sentence))


def _ways(data: str, threshold: float | None) -> tuple[Fitted, Ways]:
    from proprl.cli.model_of import model_of
    from proprl.cli.progress_bar import ProgressBar
    from proprl.curriculum.graph import map_of
    from proprl.curriculum.ways import Ways

    fitted = model_of(data).fitted_
    return fitted, Ways(map_of(fitted, threshold=threshold, progress=ProgressBar()))


def _for_each_step(fitted: Fitted, ways: Ways, way: Way) -> list[Chosen | None]:
    from proprl.curriculum.shelf import Shelf

    shelf, resources = Shelf(fitted, ways.graph, way.known.rows), []
    for step in way.steps:
        resources.append(shelf.best_for(step.concept))
        shelf.learned(step.concept)
    return resources


def _tell_way(names: list[str], way: Way, resources: list[Chosen | None]) -> None:
    known = way.known.rows
    rows = [
        (
            k,
            names[step.concept],
            ", ".join(names[i] + (" (known)" if i in known else "") for i in step.after) or "-",
            "surely" if step.needed == 1 else f"{step.needed:.2f}",
            *_title(resource, resources),
        )
        for k, (step, resource) in enumerate(zip(way.steps, resources, strict=True), start=1)
    ]
    print_table(None, ("", "learn", "just after", "needed", *_head(resources)), rows)


def _head(resources: list[Chosen | None]) -> tuple[str, ...]:
    return ("with",) if any(resources) else ()


def _title(resource: Chosen | None, resources: list[Chosen | None]) -> tuple[str, ...]:
    """Give the cell of a table, if any row has a resource."""
    return ((resource.title or resource.id) if resource else "-",) if any(resources) else ()


def _way_as_json(ways: Ways, way: Way, resources: list[Chosen | None]) -> dict[str, Any]:
    ids = ways.graph.ids
    return {
        "targets": [ids[i] for i in way.targets],
        "steps": [
            {
                **_concept(ways, step.concept),
                "just_after": [ids[i] for i in step.after],
                "needed": step.needed,
                "skip_unless": _link(ways, step.hangs_on),
                "resource": _resource(resource),
            }
            for step, resource in zip(way.steps, resources, strict=True)
        ],
        "weakest_link": _link(ways, way.weakest),
        **_known_as_json(ways, way.known),
    }


def _known_as_json(ways: Ways, known: Known) -> dict[str, Any]:
    ids = ways.graph.ids
    return {
        "known": [ids[i] for i in known.said],
        "taken_as_known": [
            {"id": ids[one.concept], "because": ids[one.because], "probability": one.sure}
            for one in known.taken
        ],
    }


def _concept(ways: Ways, row: int) -> dict[str, str]:
    return {"id": ways.graph.ids[row], "name": ways.graph.names[row]}


def _link(ways: Ways, link: Link | None) -> dict[str, Any] | None:
    if link is None:
        return None
    ids = ways.graph.ids
    return {"before": ids[link.before], "after": ids[link.after], "probability": link.sure}


def _resource(resource: Chosen | None) -> dict[str, str] | None:
    return None if resource is None else resource._asdict()
