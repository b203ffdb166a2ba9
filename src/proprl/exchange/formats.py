"""A map in the formats of other tools: as text, each so that no name is taken for syntax."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import networkx as nx

from proprl.errors import ProprlError
from proprl.exchange.content import IMPLIED, LEARNED, Content
from proprl.files import write_text

# A spreadsheet takes a cell that begins so for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
# XML has no place for these.
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# What Mermaid takes as it stands, within a quoted text.
MERMAID_PLAIN = " ,/()':?!"


def csv_text(content: Content) -> str:
    """Give a table of the prerequisites; concepts without any are not in it.

    A cell that a spreadsheet would take for a formula has an apostrophe in front.
    """
    table = StringIO()
    write = csv.writer(table, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    ends = [f"{end}{what}" for end in ("source", "target") for what in ("", "_name", "_topic")]
    write.writerow([*ends, "probability", "status", "reason"])
    for one in content.prerequisites:
        ends = [
            cell
            for concept in (content.concepts[one.source], content.concepts[one.target])
            for cell in (concept.id, concept.name, concept.topic)
        ]
        texts = [f"'{text}" if text.startswith(FORMULA) else text for text in (*ends, one.reason)]
        write.writerow([*texts[:-1], one.probability, one.status, texts[-1]])
    return table.getvalue()


def graphml_text(content: Content) -> str:
    """Give GraphML: a node's key is the concept's id."""
    graph = nx.DiGraph(name=_xml(content.course))
    keys = [_xml(concept.id) for concept in content.concepts]
    if len(set(keys)) < len(keys):
        raise ProprlError(
            "two concepts have ids that XML cannot tell apart, because of control characters: "
            "export to another format, or change the ids"
        )
    for key, concept in zip(keys, content.concepts, strict=True):
        graph.add_node(key, name=_xml(concept.name), topic=_xml(concept.topic))
    for one in content.prerequisites:
        said = {"probability": one.probability, "status": one.status, "reason": _xml(one.reason)}
        graph.add_edge(keys[one.source], keys[one.target], **said)
    return "\n".join(nx.generate_graphml(graph, named_key_ids=True)) + "\n"


def cytoscape_text(content: Content) -> str:
    """Give the JSON of Cytoscape and Cytoscape.js: elements that are nodes and edges."""
    return _json(
        {
            "data": {"name": content.course},
            "elements": {
                "nodes": [{"data": vars(concept)} for concept in content.concepts],
                "edges": [{"data": one} for one in _edges(content, "source", "target")],
            },
        }
    )


def json_text(content: Content) -> str:
    """Give plain JSON: the concepts, and which is learned before which."""
    return _json(
        {
            "course": content.course,
            "concepts": [vars(concept) for concept in content.concepts],
            "prerequisites": _edges(content, "before", "after"),
        }
    )


def dot_text(content: Content) -> str:
    """Give Graphviz's DOT: a node's key is the concept's id; what is implied is dashed."""
    lines = [f"digraph {_dot(content.course)} {{", "  rankdir=LR;", "  node [shape=box];"]
    lines += [
        f"  {_dot_key(concept.id)} [label={_dot(concept.name)}, topic={_dot(concept.topic)}];"
        for concept in content.concepts
    ]
    for one in content.prerequisites:
        ends = [_dot_key(content.concepts[end].id) for end in (one.source, one.target)]
        style = ", style=dashed" if one.status == IMPLIED else ""
        lines.append(
            f"  {ends[0]} -> {ends[1]} [probability={one.probability!r}, status={one.status}, "
            f"reason={_dot(one.reason)}{style}];"
        )
    return "\n".join([*lines, "}"]) + "\n"


def mermaid_text(content: Content) -> str:
    """Give a Mermaid flowchart: learned with the probability, implied dotted.

    Ids, topics and reasons stand in comments: Mermaid has no place for them.
    """
    lines = ["flowchart LR"]
    for k, concept in enumerate(content.concepts):
        about = f", topic {_mermaid(concept.topic)}" if concept.topic else ""
        lines.append(f"  %% c{k}: id {_mermaid(concept.id)}{about}")
        lines.append(f'  c{k}["{_mermaid(concept.name)}"]')
    for one in content.prerequisites:
        arrow = "-->"
        if one.status == LEARNED:
            arrow = f'-->|"{one.probability:.2f}"|'
        elif one.status == IMPLIED:
            arrow = "-.->"
        lines.append(f"  %% {one.status}, {one.probability:.2f}: {_mermaid(one.reason)}")
        lines.append(f"  c{one.source} {arrow} c{one.target}")
    return "\n".join(lines) + "\n"


FORMATS: dict[str, Callable[[Content], str]] = {
    "csv": csv_text,
    "graphml": graphml_text,
    "cytoscape": cytoscape_text,
    "mermaid": mermaid_text,
    "dot": dot_text,
    "json": json_text,
}


def write_content(content: Content, form: str, path: Path) -> None:
    """Write a map in one of `FORMATS`: the whole file, or nothing."""
    write_text(path, FORMATS[form](content))


def _edges(content: Content, source: str, target: str) -> list[dict[str, Any]]:
    ids = [concept.id for concept in content.concepts]
    return [
        {
            source: ids[one.source],
            target: ids[one.target],
            "probability": one.probability,
            "status": one.status,
            "reason": one.reason,
        }
        for one in content.prerequisites
    ]


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _xml(text: str) -> str:
    r"""Give a text with what XML cannot hold written out.

    >>> _xml("a\x01b")
    'a\\x01b'
    """
    return NOT_XML.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _dot(text: str) -> str:
    r"""Give a text as a quoted string of DOT; a backslash would begin an escape.

    >>> _dot('a "b" \\ c')
    '"a \\"b\\" \\\\ c"'
    """
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{quoted}"'


def _dot_key(text: str) -> str:
    """Give an id as a quoted string; Graphviz keeps names that begin with "%" for itself."""
    quoted = _dot(text)
    return quoted.replace('"%', '"\\%', 1) if text.startswith("%") else quoted


def _mermaid(text: str) -> str:
    """Give a text for a Mermaid label: what could be syntax, Markdown or HTML by its number.

    >>> _mermaid('C# "quoted" <b>')
    'C#35; #34;quoted#34; #60;b#62;'
    """
    return "".join(
        letter if letter.isalnum() or letter in MERMAID_PLAIN else f"#{ord(letter)};"
        for letter in " ".join(text.split())
    )
