"""`proprl graph`: the map of a course, at the terminal and as a picture."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import pytest

import proprl
from proprl.data import Course, write_course
from terminal import Terminal

FEW_TREES = {"trees": 5}


@pytest.fixture(scope="module")
def bundle(campus: Course, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("graph") / "campus.proprl"
    model = proprl.PrerequisiteModel(encoder="wordllama", settings=FEW_TREES, seed=7)
    model.fit(campus).save(folder)
    return str(folder)


def test_help_has_an_example(proprl_: Terminal) -> None:
    assert "Example: proprl graph campus --out campus.svg" in proprl_("graph", "--help")


def test_a_teacher_reads_where_to_begin_and_what_was_learned(
    proprl_: Terminal, bundle: str
) -> None:
    text = proprl_("graph", bundle)
    assert "campus: 158 concepts" in text
    assert "Where to begin" in text
    assert "What much depends on" in text
    assert "are learned, with probabilities" in text
    for word in ("source", "target", "positive"):
        assert word not in text.lower().replace("resource", "")


def test_the_map_for_scripts_is_acyclic_and_holds_the_confirmed_labels(
    proprl_: Terminal, bundle: str, campus: Course
) -> None:
    said = json.loads(proprl_("graph", bundle, "--json"))
    graph = nx.DiGraph((step["before"], step["after"]) for step in said["steps"])
    assert nx.is_directed_acyclic_graph(graph)
    assert {concept["id"] for concept in said["concepts"]} == set(campus.ids)
    known = proprl.load_model(bundle).fitted_.known.positives
    for i, j in known.tolist():
        assert nx.has_path(graph, campus.ids[i], campus.ids[j])
    by_id = {concept["id"]: concept for concept in said["concepts"]}
    for step in said["steps"]:
        assert by_id[step["before"]]["level"] < by_id[step["after"]]["level"]
        assert step["status"] in ("confirmed", "learned")
    assert said["at_most_from_optimum"] == 0


def test_a_budget_limits_the_learned_steps(proprl_: Terminal, bundle: str) -> None:
    def learned(*options: str) -> list[dict[str, str]]:
        steps = json.loads(proprl_("graph", bundle, "--json", "--threshold", "0.05", *options))
        return [step for step in steps["steps"] if step["status"] == "learned"]

    assert 0 < len(learned("--edges", "4")) <= 4 < len(learned())
    before = [step["after"] for step in learned("--per-concept", "1")]
    assert len(before) == len(set(before)) > 4


@pytest.mark.parametrize("option", ["--edges", "--per-concept"])
def test_a_budget_of_nothing_is_refused(proprl_: Terminal, bundle: str, option: str) -> None:
    proprl_("graph", bundle, option, "0", expect=1)
    assert "it must be 1 or more" in proprl_.error


@pytest.mark.parametrize("kind", ["svg", "png", "html"])
def test_a_picture_is_drawn(proprl_: Terminal, bundle: str, kind: str, tmp_path: Path) -> None:
    assert f"map.{kind}" in proprl_("graph", bundle, "--out", f"map.{kind}")
    assert (tmp_path / f"map.{kind}").stat().st_size > 10_000


def test_another_picture_is_refused_before_anything_is_read(proprl_: Terminal) -> None:
    proprl_("graph", "nowhere", "--out", "map.jpg", expect=1)
    assert "has to end in .svg, .png or .html" in proprl_.error


@pytest.mark.slow
def test_a_course_is_trained_on_the_way_once(
    proprl_: Terminal, campus: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROPRL_CACHE", str(tmp_path / "cache"))
    write_course(campus, tmp_path / "mine")
    first = proprl_("graph", "mine")
    assert "Training on campus" in proprl_.error
    again = proprl_("graph", "mine")
    assert "Training" not in proprl_.error
    assert again == first
    fewer = Course.from_tables(concepts=campus.concepts, pairs=campus.pairs.head(500))
    write_course(fewer, tmp_path / "mine", overwrite=True)
    proprl_("graph", "mine")
    assert "Training" in proprl_.error
