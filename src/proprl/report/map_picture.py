"""A map as a picture: layered from left to right by Graphviz, topics by colour.

Graphviz comes with the package pygraphviz. The zoomable page holds the same drawing and a script of
its own; it asks nothing of any other file or server.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from proprl.curriculum.graph import PrerequisiteGraph
from proprl.curriculum.structure import Structure
from proprl.curriculum.summary import names_apart
from proprl.errors import ProprlError
from proprl.files import write_bytes

FORMATS = ("svg", "png", "html")
# Tints that people tell apart who see colours differently, after Paul Tol's light scheme.
TINTS = (
    ("#cfe3f5", "#2f6da8"),
    ("#fde2c4", "#b5651d"),
    ("#d3edc9", "#3e8632"),
    ("#f6d0d8", "#a83250"),
    ("#e3d6f0", "#6b4499"),
    ("#fbf0b5", "#8a7500"),
    ("#c9eeee", "#1c7c80"),
    ("#ead9c8", "#7a5230"),
    ("#dfe0e4", "#54606e"),
    ("#e8f0bf", "#66791a"),
)
OTHERS = ("#ffffff", "#8a8f98")
LEARNED, CONFIRMED = "#1f4fa8", "#a3a9b2"
LINE = 22  # so many letters of a name stand on a line
# From so many edges on, curves would take minutes; straight lines take seconds.
MANY_EDGES = 3_000


def write_map(graph: PrerequisiteGraph, topics: Sequence[str], title: str, path: Path) -> None:
    """Write the picture of a map; the end of the path says which: .svg, .png or .html."""
    kind = check_picture(path)
    if kind == "html":
        data = map_page(graph, topics, title).encode()
    else:
        data = _layout(graph, topics).draw(format=kind)
    write_bytes(path, data)


def check_picture(path: Path) -> str:
    """Give the kind of picture that a path asks for; another than these is refused."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise ProprlError(f"{path} has to end in .svg, .png or .html: these pictures there are")
    return kind


def map_svg(graph: PrerequisiteGraph, topics: Sequence[str]) -> str:
    """Give the drawing of a map as an SVG element."""
    drawn: str = _layout(graph, topics).draw(format="svg").decode()
    return drawn[drawn.index("<svg") :]


def map_page(graph: PrerequisiteGraph, topics: Sequence[str], title: str) -> str:
    """Give a page to zoom and search in, and to see one concept's neighbours."""
    names, structure = names_apart(graph.ids, graph.names), Structure(graph)
    concepts = [
        {
            "name": names[i],
            "topic": topics[i],
            "needs": int(structure.needs[i]),
            "neededFor": int(structure.needed_for[i]),
        }
        for i in range(len(names))
    ]
    environment = Environment(
        loader=PackageLoader("proprl.report"), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("map.html.j2").render(
        title=title,
        svg=map_svg(graph, topics),
        concepts=_for_script(concepts),
        implied=_for_script(graph.implied.tolist()),
        alone=[names[i] for i in structure.alone],
    )


def _for_script(value: Any) -> str:
    """Give a value as JSON that can stand within a script element."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def tints(topics: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Give the ten largest topics a colour each, and the others the same one."""
    largest = [topic for topic, _ in Counter(filter(None, topics)).most_common(len(TINTS))]
    return dict(zip(largest, TINTS, strict=False))


def _layout(graph: PrerequisiteGraph, topics: Sequence[str]) -> Any:
    """Have Graphviz lay out the concepts that have an edge."""
    from pygraphviz import AGraph

    colours, names = tints(topics), names_apart(graph.ids, graph.names)
    drawing = AGraph(
        directed=True,
        rankdir="LR",
        ranksep="0.55",
        nodesep="0.14",
        splines="true" if len(graph) <= MANY_EDGES else "line",
        bgcolor="white",
        fontname="Helvetica",
        label=_legend(colours),
        labelloc="b",
        tooltip=" ",
    )
    drawing.node_attr.update(
        shape="box",
        style="rounded,filled",
        fontname="Helvetica",
        fontsize="12",
        margin="0.09,0.04",
        height="0.3",
        penwidth="1.2",
    )
    drawing.edge_attr.update(arrowsize="0.6", tooltip=" ")
    for i in sorted({concept for pair in graph.pairs.tolist() for concept in pair}):
        fill, line = colours.get(topics[i], OTHERS)
        drawing.add_node(
            i,
            id=f"c{i}",
            label="\n".join(wrap(names[i], LINE)),
            fillcolor=fill,
            color=line,
            tooltip=names[i],
        )
    # Confirmed edges first: learned ones lie on top.
    for edge in sorted(
        zip(graph.confirmed, graph.pairs.tolist(), graph.probabilities, strict=True),
        key=lambda edge: not edge[0],
    ):
        confirmed, (i, j), p = edge
        said = "confirmed" if confirmed else f"learned, {p:.2f}"
        drawing.add_edge(
            i,
            j,
            id=f"e{i}-{j}",
            color=CONFIRMED if confirmed else LEARNED,
            penwidth="1.1" if confirmed else f"{1 + 2 * p:.2f}",
            tooltip=f"{names[i]} → {names[j]} ({said})",
        )
    drawing.layout("dot")
    return drawing


def _legend(colours: dict[str, tuple[str, str]]) -> str:
    """Give the legend as Graphviz's table: topics, and what the strokes mean."""
    cells = [
        f'<td bgcolor="{fill}" border="1" color="{line}">{escape(topic)}</td>'
        for topic, (fill, line) in colours.items()
    ]
    rows = [cells[k : k + 5] for k in range(0, len(cells), 5)]
    strokes = (
        f'<td colspan="5" border="0"><font color="{CONFIRMED}">━▶</font> confirmed by a label   '
        f'<font color="{LEARNED}">━▶</font> learned; the thicker, the surer</td>'
    )
    table = "".join(f"<tr>{''.join(row)}</tr>" for row in [*rows, [strokes]])
    return f'<<table border="0" cellborder="1" cellspacing="6" cellpadding="4">{table}</table>>'
