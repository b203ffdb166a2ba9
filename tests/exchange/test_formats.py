"""The map in other tools' formats, read back by other programs' readers."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
from io import BytesIO, StringIO
from pathlib import Path

import igraph
import networkx as nx
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exchange_content import awkward_content as content
from proprl.errors import OutputError
from proprl.exchange.content import Concept, Content
from proprl.exchange.formats import FORMATS, FORMULA, write_content


def wanted(of: Content) -> dict[tuple[str, str], tuple[float, str, str]]:
    """The prerequisites by the ids of their ends."""
    return {
        (of.concepts[one.source].id, of.concepts[one.target].id): (
            one.probability,
            one.status,
            one.reason,
        )
        for one in of.prerequisites
    }


def unescaped(cell: str) -> str:
    """A cell without the apostrophe that keeps a spreadsheet from computing it."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA) else cell


# What a course may hold: anything but NUL and half characters; ids and names are not blank.
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1)
NAMES = st.lists(TEXTS.map(lambda text: f"x{text}" if text.isspace() else text), min_size=2)


def check_csv(of: Content) -> None:
    rows = list(csv.DictReader(StringIO(FORMATS["csv"](of), newline="")))
    found = {
        (unescaped(row["source"]), unescaped(row["target"])): (
            float(row["probability"]),
            row["status"],
            unescaped(row["reason"]),
        )
        for row in rows
    }
    assert found == wanted(of)
    assert not any(cell.startswith(FORMULA) for row in rows for cell in row.values())


def check_graphml(of: Content) -> None:
    graph = nx.read_graphml(BytesIO(FORMATS["graphml"](of).encode()))
    assert {
        (one, other): (data["probability"], data["status"], data["reason"])
        for one, other, data in graph.edges(data=True)
    } == wanted(of)
    assert {key: data["name"] for key, data in graph.nodes(data=True)} == {
        concept.id: concept.name for concept in of.concepts
    }


def check_cytoscape(of: Content) -> None:
    """Elements as Cytoscape's manual has them: https://js.cytoscape.org/#notation/elements-json."""
    elements = json.loads(FORMATS["cytoscape"](of))["elements"]
    assert {node["data"]["id"]: node["data"]["name"] for node in elements["nodes"]} == {
        concept.id: concept.name for concept in of.concepts
    }
    assert {
        (edge["data"]["source"], edge["data"]["target"]): tuple(
            edge["data"][key] for key in ("probability", "status", "reason")
        )
        for edge in elements["edges"]
    } == wanted(of)


def check_json(of: Content) -> None:
    read = json.loads(FORMATS["json"](of))
    assert read["concepts"] == [vars(concept) for concept in of.concepts]
    assert {
        (one["before"], one["after"]): (one["probability"], one["status"], one["reason"])
        for one in read["prerequisites"]
    } == wanted(of)


def check_dot(of: Content) -> None:
    from pygraphviz import AGraph

    def plain(text: str) -> str:
        return re.sub(r"\\(.)", lambda escape: {"n": "\n"}.get(escape[1], escape[1]), text)

    graph = AGraph(string=FORMATS["dot"](of))
    assert graph.is_directed()
    assert {plain(node): plain(node.attr["label"]) for node in graph.nodes()} == {
        concept.id: concept.name for concept in of.concepts
    }
    assert {
        (plain(one), plain(other)): (
            float(graph.get_edge(one, other).attr["probability"]),
            graph.get_edge(one, other).attr["status"],
            plain(graph.get_edge(one, other).attr["reason"]),
        )
        for one, other in graph.edges()
    } == wanted(of)


NODE = re.compile(r'  (c\d+)\["([^"\[\]{}<>|`\n]*)"\]')
ARROW = re.compile(r'  (c\d+) (?:-->|-->\|"\d\.\d\d"\||-\.->) (c\d+)')
COMMENT = re.compile(r"  %% [^{}\n]*")


def check_mermaid(of: Content) -> None:
    """By a grammar stricter than Mermaid's own, whose entities are decoded as it does."""
    first, *lines = FORMATS["mermaid"](of).removesuffix("\n").split("\n")
    assert first == "flowchart LR"
    names, arrows = {}, []
    for line in lines:
        if node := NODE.fullmatch(line):
            names[node[1]] = re.sub(r"#(\d+);", lambda code: chr(int(code[1])), node[2])
        elif arrow := ARROW.fullmatch(line):
            arrows.append((arrow[1], arrow[2]))
        else:
            assert COMMENT.fullmatch(line), line
    assert list(names.values()) == [" ".join(concept.name.split()) for concept in of.concepts]
    keys = list(names)
    assert arrows == [(keys[one.source], keys[one.target]) for one in of.prerequisites]


CHECKS = {
    "csv": check_csv,
    "graphml": check_graphml,
    "cytoscape": check_cytoscape,
    "json": check_json,
    "dot": check_dot,
    "mermaid": check_mermaid,
}


@pytest.mark.parametrize("form", FORMATS)
def test_another_reader_finds_the_same_edges_in_the_same_direction(form: str) -> None:
    CHECKS[form](content())


@pytest.mark.parametrize("form", sorted(set(FORMATS) - {"graphml"}))
@given(names=NAMES)
def test_no_name_is_taken_for_syntax(form: str, names: list[str]) -> None:
    CHECKS[form](content(tuple(names)))


XML_TEXTS = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Cn"), include_characters="\t\n"), min_size=1
)


@given(names=st.lists(XML_TEXTS.map(lambda text: f"x{text}x"), min_size=2))
def test_no_name_is_taken_for_xml(names: list[str]) -> None:
    check_graphml(content(tuple(names)))


def test_igraph_reads_graphml_too(tmp_path: Path) -> None:
    path = tmp_path / "map.graphml"
    write_content(content(), "graphml", path)
    graph = igraph.Graph.Read_GraphML(str(path))
    ends = {(graph.vs[e.source]["name"], graph.vs[e.target]["name"]) for e in graph.es}
    assert ends == set(wanted(content()))


def test_what_xml_cannot_hold_is_written_out() -> None:
    read = nx.read_graphml(BytesIO(FORMATS["graphml"](content(("a\x01b", "c\ufffe"))).encode()))
    assert list(read.edges) == [("a\\x01b", "c\\ufffe")]


def test_pandas_and_polars_read_the_table() -> None:
    text = FORMATS["csv"](content())
    of_pandas, of_polars = pd.read_csv(StringIO(text)), pl.read_csv(text.encode())
    for frame in (of_pandas, of_polars):
        ends = zip(frame["source"], frame["target"], strict=True)
        assert {tuple(map(unescaped, pair)) for pair in ends} == set(wanted(content()))
    assert of_pandas["probability"].tolist() == of_polars["probability"].to_list()


@pytest.mark.parametrize("begins", FORMULA)
def test_a_cell_that_begins_like_a_formula_is_text(begins: str) -> None:
    name = f"{begins}HYPERLINK(1)"
    (row,) = csv.DictReader(StringIO(FORMATS["csv"](content((name, "B"))), newline=""))
    assert row["source"] == row["source_name"] == f"'{name}"
    assert row["reason"] == f"'{name} comes first."
    assert row["target"] == "B"


@pytest.mark.parametrize("form", FORMATS)
def test_a_map_without_a_step_is_written_too(form: str) -> None:
    CHECKS[form](Content("empty", (Concept("a", "A", ""),), ()))


def test_the_file_is_whole_or_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "there" / "map.csv"
    write_content(content(), "csv", path)
    before = path.read_bytes()
    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        with pytest.raises(OutputError, match="No space left"):
            write_content(content(("A", "B")), "csv", path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["map.csv"]
    with pytest.raises(OutputError, match="cannot write"):
        write_content(content(), "json", path / "below a file")
