"""A map as a picture: every concept and step is in it, whatever their names."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from proprl.curriculum.graph import PrerequisiteGraph, prerequisite_graph
from proprl.data import LabelledPairs
from proprl.errors import OutputError, ProprlError
from proprl.report.map_picture import FORMATS, map_page, map_svg, tints, write_map

NAMES = (
    "Limits",
    "<b>Bold</b>",
    r"Back\Nslash & Söhne",
    'He said "no"',
    "A name that is much longer than what stands on a line",
    "Alone",
)
TOPICS = ("Calculus", "Calculus", "Algebra", "", "Algebra", "")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def graph() -> PrerequisiteGraph:
    confirmed = LabelledPairs(np.array([[0, 1], [1, 2]]), np.array([1, 1]))
    learned, p = np.array([[2, 3], [3, 4], [1, 3]]), np.array([0.9, 0.6, 0.8])
    ids = [f"c{k}" for k in range(len(NAMES))]
    return prerequisite_graph(ids, NAMES, confirmed, learned, p, threshold=0.5)


@pytest.fixture(scope="module")
def svg(graph: PrerequisiteGraph) -> ElementTree.Element:
    return ElementTree.fromstring(map_svg(graph, TOPICS, "campus"))


def group(svg: ElementTree.Element, kind: str) -> dict[str, ElementTree.Element]:
    """The concepts ("node") or the steps ("edge") by their ids."""
    return {g.get("id", ""): g for g in svg.iter(f"{SVG}g") if g.get("class") == kind}


def said(element: ElementTree.Element) -> str:
    return element.findtext(f"{SVG}title") or ""


def test_every_concept_with_a_step_is_drawn_under_its_own_name(svg: ElementTree.Element) -> None:
    nodes = group(svg, "node")
    assert {said(node) for node in nodes.values()} == set(NAMES) - {"Alone"}
    for node in nodes.values():
        letters = " ".join(text.text or "" for text in node.iter(f"{SVG}text"))
        assert letters.split() == said(node).split()


def test_every_step_is_an_arrow_that_says_what_it_is(svg: ElementTree.Element) -> None:
    steps = {key: said(edge) for key, edge in group(svg, "edge").items()}
    assert steps == {
        "e0-1": "Limits → <b>Bold</b>: confirmed by a label",
        "e1-2": r"<b>Bold</b> → Back\Nslash & Söhne: confirmed by a label",
        "e2-3": r'Back\Nslash & Söhne → He said "no": learned, 0.90',
        "e3-4": f'He said "no" → {NAMES[4]}: learned, 0.60',
    }


def test_what_is_surer_has_a_thicker_stroke(svg: ElementTree.Element) -> None:
    def width(edge: str) -> float:
        path = group(svg, "edge")[edge].find(f"{SVG}path")
        assert path is not None
        return float(path.get("stroke-width", "1"))

    assert width("e2-3") > width("e3-4") > width("e0-1")


def test_what_is_learned_first_stands_on_the_left(svg: ElementTree.Element) -> None:
    left = {
        key: float(text.get("x", "nan"))
        for key, node in group(svg, "node").items()
        for text in node.iter(f"{SVG}text")
    }
    assert left["c0"] < left["c1"] < left["c2"] < left["c3"] < left["c4"]


def test_concepts_of_a_topic_have_its_colour_and_the_legend_names_it(
    svg: ElementTree.Element,
) -> None:
    fill = {key: node.find(f"{SVG}path").get("fill") for key, node in group(svg, "node").items()}  # type: ignore[union-attr]
    colours = tints(TOPICS)
    assert fill["c0"] == fill["c1"] == colours["Calculus"][0]
    assert fill["c2"] == fill["c4"] == colours["Algebra"][0] != fill["c0"]
    assert fill["c3"] not in (fill["c0"], fill["c2"])
    legend = {text.text for text in svg.iter(f"{SVG}text")}
    assert {"Calculus", "Algebra"} <= legend


def test_what_has_no_colour_of_its_own_is_called_other(
    graph: PrerequisiteGraph, svg: ElementTree.Element
) -> None:
    def legend(drawn: ElementTree.Element) -> set[str | None]:
        return {text.text for text in drawn.iter(f"{SVG}text")}

    assert "other" in legend(svg)
    every = ElementTree.fromstring(map_svg(graph, ["Algebra"] * len(TOPICS), "campus"))
    assert "other" not in legend(every)


def test_only_the_ten_largest_topics_have_a_colour_of_their_own() -> None:
    topics = [f"t{k}" for k in range(12) for _ in range(12 - k)]
    assert list(tints(topics)) == [f"t{k}" for k in range(10)]


@pytest.mark.parametrize("kind", FORMATS)
def test_the_end_of_the_path_says_what_is_written(
    kind: str, graph: PrerequisiteGraph, tmp_path: Path
) -> None:
    path = tmp_path / f"map.{kind}"
    write_map(graph, TOPICS, "campus", path)
    begins = {"svg": b"<svg", "png": b"\x89PNG", "html": b"<!doctype html>"}[kind]
    assert path.read_bytes().startswith(begins)
    first = path.read_bytes()
    write_map(graph, TOPICS, "campus", path)
    assert path.read_bytes() == first


def test_another_kind_of_picture_is_refused(graph: PrerequisiteGraph, tmp_path: Path) -> None:
    with pytest.raises(ProprlError, match=r"map\.jpg has to end in \.svg, \.png or \.html"):
        write_map(graph, TOPICS, "campus", tmp_path / "map.jpg")


def test_where_nothing_can_be_written_the_error_names_the_file(
    graph: PrerequisiteGraph, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"map\.svg"):
        write_map(graph, TOPICS, "campus", tmp_path / "file" / "map.svg")


def test_the_page_holds_all_it_needs(graph: PrerequisiteGraph) -> None:
    page = map_page(graph, TOPICS, "campus </script>")
    assert page.count("</script>") == 1
    assert not re.search(r"""(src|href)\s*=|@import|url\(|https?://(?!www\.w3\.org)""", page)
    found = re.search(r"const concepts = (\[.*\]), implied = (\[.*\]);", page)
    assert found is not None
    concepts = json.loads(found[1])
    assert [concept["name"] for concept in concepts] == list(NAMES)
    assert concepts[2] == {"name": NAMES[2], "topic": "Algebra", "needs": 2, "neededFor": 2}
    assert json.loads(found[2]) == [[1, 3]]
    assert "1 concept without a step" in page
