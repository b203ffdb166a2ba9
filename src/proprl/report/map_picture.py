"""A map as a picture: layered from left to right by Graphviz, topics by colour.

Graphviz comes with the package pygraphviz. The zoomable page holds the same drawing and a script of
its own; it asks nothing of any other file or server.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Any
from xml.etree import ElementTree

import numpy as np
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
FONT = "Helvetica,Arial,sans-serif"
SVG = "{http://www.w3.org/2000/svg}"
LINE = 22  # so many letters of a name stand on a line
# From so many edges on, curves would take minutes; straight lines take seconds.
MANY_EDGES = 3_000


def write_map(
    graph: PrerequisiteGraph, topics: Sequence[str], title: str, path: Path, *, alone: bool = False
) -> None:
    """Write the picture of a map; the end of the path says which: .svg, .png or .html.

    Concepts without a step are drawn only with `alone`.
    """
    kind = check_picture(path)
    if kind == "html":
        data = map_page(graph, topics, title, alone=alone).encode()
    elif kind == "svg":
        data = map_svg(graph, topics, title, alone=alone).encode()
    else:
        data = _drawn(graph, topics, "png", alone)
    write_bytes(path, data)


def check_picture(path: Path) -> str:
    """Give the kind of picture that a path asks for; another than these is refused."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise ProprlError(f"{path} has to end in .svg, .png or .html: these pictures there are")
    return kind


def map_svg(
    graph: PrerequisiteGraph, topics: Sequence[str], title: str, *, alone: bool = False
) -> str:
    """Give the drawing of a map as SVG; what one points at says its name."""
    root = ElementTree.fromstring(_drawn(graph, topics, "svg", alone))
    for key in ("width", "height"):
        root.set(key, root.get(key, "").replace("pt", "px"))
    root.set("role", "img")
    root.set("aria-label", f"{title}: {len(graph)} steps, what is learned first on the left")
    said = _said(graph)
    for group in root.iter(f"{SVG}g"):
        told = group.find(f"{SVG}title")
        if told is not None:
            told.text = said.get(group.get("id", ""), "")
    ElementTree.register_namespace("", SVG.strip("{}"))
    return ElementTree.tostring(root, encoding="unicode")


def map_page(
    graph: PrerequisiteGraph, topics: Sequence[str], title: str, *, alone: bool = False
) -> str:
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
        svg=map_svg(graph, topics, title, alone=alone),
        concepts=_for_script(concepts),
        implied=_for_script(graph.implied.tolist()),
        alone=[] if alone else [names[i] for i in structure.alone],
    )


def _for_script(value: Any) -> str:
    """Give a value as JSON that can stand within a script element."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def tints(topics: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Give the ten largest topics a colour each, and the others the same one."""
    largest = [topic for topic, _ in Counter(filter(None, topics)).most_common(len(TINTS))]
    return dict(zip(largest, TINTS, strict=False))


def _drawn(graph: PrerequisiteGraph, topics: Sequence[str], kind: str, alone: bool) -> bytes:
    """Have Graphviz lay out and draw the concepts that have an edge; with `alone`, all."""
    from pygraphviz import AGraph

    colours, names = tints(topics), names_apart(graph.ids, graph.names)
    concepts = list(range(len(names))) if alone else np.unique(graph.pairs).tolist()
    others = {} if all(topics[i] in colours for i in concepts) else {"other": OTHERS}
    drawing = AGraph(
        directed=True,
        rankdir="LR",
        ranksep="0.55",
        nodesep="0.14",
        splines="true" if len(graph) <= MANY_EDGES else "line",
        bgcolor="white",
        fontname=FONT,
        label=_legend(colours | others),
        labelloc="b",
    )
    drawing.node_attr.update(shape="box", style="rounded,filled", fontname=FONT, fontsize="12")
    drawing.node_attr.update(margin="0.09,0.04", height="0.3", penwidth="1.2")
    drawing.edge_attr.update(arrowsize="0.6")
    for i in concepts:
        fill, line = colours.get(topics[i], OTHERS)
        label = r"\n".join(map(_plain, wrap(names[i], LINE)))
        look = {"fillcolor": fill, "color": line}
        drawing.add_node(i, id=f"c{i}", label=label, **look)
    for k in np.argsort(~graph.confirmed, kind="stable").tolist():  # learned ones lie on top
        (i, j), p, confirmed = graph.pairs[k].tolist(), graph.probabilities[k], graph.confirmed[k]
        look = {"color": LEARNED, "penwidth": f"{1 + 2 * p:.2f}"}
        if confirmed:
            look = {"color": CONFIRMED, "penwidth": "1.1"}
        drawing.add_edge(i, j, id=f"e{i}-{j}", **look)
    with _quiet_errors():
        drawn: bytes = drawing.draw(format=kind, prog="dot")
    return drawn


def _said(graph: PrerequisiteGraph) -> dict[str, str]:
    """Give what each concept and each step says when one points at it, by its id."""
    names = names_apart(graph.ids, graph.names)
    said = {f"c{i}": name for i, name in enumerate(names)}
    for (i, j), p, confirmed in zip(
        graph.pairs.tolist(), graph.probabilities, graph.confirmed, strict=True
    ):
        why = "confirmed by a label" if confirmed else f"learned, {p:.2f}"
        said[f"e{i}-{j}"] = f"{names[i]} → {names[j]}: {why}"
    return said


def _plain(text: str) -> str:
    """Give a text so that Graphviz takes nothing in it for markup."""
    return escape(text, quote=False).replace("\\", "\\\\")


@contextmanager
def _quiet_errors() -> Iterator[None]:
    """Keep what libraries in C write to standard error from the screen.

    Graphviz's font library complains about settings of newer versions; errors are raised all the
    same.
    """
    before = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nowhere)


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
