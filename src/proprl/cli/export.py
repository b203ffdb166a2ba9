"""`proprl export`: the map for other tools."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from proprl.cli.console import escape, print_json, say
from proprl.cli.graph import Threshold
from proprl.cli.options import BundleOrCourse, Json

MERMAID_DRAWS = 500
"""So many arrows Mermaid draws, unless its own setting says otherwise."""


class Format(StrEnum):
    """What `--format` takes."""

    CSV = "csv"
    GRAPHML = "graphml"
    CYTOSCAPE = "cytoscape"
    MERMAID = "mermaid"
    DOT = "dot"
    JSON = "json"


def export(
    data: BundleOrCourse,
    form: Annotated[Format, typer.Option("--format", help="The format of the other tool.")],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    threshold: Threshold = None,
    as_json: Json = False,
) -> None:
    """Write the map for another tool: who is learned before whom, how surely, and why.

    csv for spreadsheets, graphml for Gephi, yEd and igraph, cytoscape for Cytoscape, mermaid for
    Markdown pages, dot for Graphviz, json for scripts. Each holds ids, names, topics,
    probabilities, a reason in a sentence, and whether a prerequisite is confirmed by a label,
    learned, or implied by others.

    Example: proprl export campus --format graphml --out campus.graphml
    """
    from proprl.cli.model_of import model_of
    from proprl.cli.progress_bar import ProgressBar
    from proprl.curriculum.graph import map_of
    from proprl.curriculum.structure import topics_of
    from proprl.exchange.content import content_of
    from proprl.exchange.formats import write_content

    fitted = model_of(data).fitted_
    graph = map_of(fitted, threshold=threshold, progress=ProgressBar())
    content = content_of(fitted, graph, topics_of(graph, fitted.topics))
    write_content(content, form.value, out)
    counts = dict.fromkeys(("confirmed", "learned", "implied"), 0)
    for one in content.prerequisites:
        counts[one.status] += 1
    if as_json:
        said = {"file": str(out), "format": form.value, "concepts": len(content.concepts)}
        print_json({**said, **counts})
        return
    told = ", ".join(f"{count} {status}" for status, count in counts.items())
    say(f"Wrote {escape(str(out))}: {len(content.concepts)} concepts, and prerequisites: {told}.")
    if form is Format.MERMAID and len(content.prerequisites) > MERMAID_DRAWS:
        say(
            f"[yellow]Mermaid draws {MERMAID_DRAWS} arrows at most: raise its setting maxEdges.[/]",
            aside=True,
        )
