"""`proprl path`, `proprl ready` and `proprl export`, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from proprl.curriculum.structure import Structure
from proprl.estimator import ProPRL, load_model
from proprl.exchange.formats import FORMATS
from terminal import Terminal

MAP = ("--threshold", "0.5")


@pytest.fixture
def goal(bundle: Path) -> str:
    """The concept that needs most others."""
    graph = load_model(bundle).graph(threshold=0.5)
    return graph.names[int(np.argmax(Structure(graph).needs))]


@pytest.mark.parametrize("command", ["path", "ready", "export"])
def test_help_has_an_example(proprl_: Terminal, command: str) -> None:
    assert f"Example: proprl {command}" in proprl_(command, "--help")


def test_a_way_is_that_of_the_python_face(proprl_: Terminal, bundle: Path, goal: str) -> None:
    graph = load_model(bundle).graph(threshold=0.5)
    told = json.loads(proprl_("path", bundle, goal, *MAP, "--json"))
    assert [step["name"] for step in told["steps"]] == graph.path_to(goal)
    first, last = told["steps"][0]["name"], told["steps"][-1]
    assert last["name"] == goal
    assert last["needed"] == 1
    text = proprl_("path", bundle, goal, *MAP, "--known", first)
    assert f"{len(told['steps']) - 1} step" in text
    assert goal in text


def test_what_suits_now_is_that_of_the_python_face(
    proprl_: Terminal, bundle: Path, goal: str
) -> None:
    graph = load_model(bundle).graph(threshold=0.5)
    told = json.loads(proprl_("ready", bundle, *MAP, "--known", goal, "--json"))
    assert [one["name"] for one in told["ready"]] == graph.ready_for([goal])
    assert [graph.ids.index(one) for one in told["learned_last"]] == [graph.names.index(goal)]
    assert {one["because"] for one in told["taken_as_known"]} == set(told["known"])
    text = proprl_("ready", bundle, *MAP, "--known", goal)
    assert f"Learned last: {goal}." in text
    assert "Taken as known, because what is known needs it" in text


@pytest.mark.parametrize("kind", ["svg", "png", "html"])
def test_the_way_is_drawn(proprl_: Terminal, bundle: Path, goal: str, kind: str) -> None:
    assert f"drawn in way.{kind}" in proprl_("path", bundle, goal, *MAP, "--out", f"way.{kind}")
    data = Path(f"way.{kind}").read_bytes()
    if kind == "png":
        assert data.startswith(b"\x89PNG")
    else:
        assert goal in data.decode()
        assert "target" in data.decode()


def test_a_way_of_one_step_is_drawn_too(proprl_: Terminal, bundle: Path) -> None:
    graph = load_model(bundle).graph(threshold=0.5)
    start = graph.names[int(np.argmin(Structure(graph).needs))]
    assert "1 step to" in proprl_("path", bundle, start, *MAP, "--out", "way.svg")
    assert start in Path("way.svg").read_text(encoding="utf-8")


def test_what_is_wrong_is_said_and_nothing_is_written(
    proprl_: Terminal, bundle: Path, goal: str, fitted: ProPRL
) -> None:
    name = fitted.fitted_.concept_names[0]
    for words, message in (
        (("path", bundle, f"{goal}x", *MAP), "did you mean"),
        (("path", bundle, goal, *MAP, "--known", goal, "--out", "way.svg"), "is known already"),
        (("path", bundle, goal, *MAP, "--out", "way.jpg"), "has to end in .svg, .png or .html"),
        (("path", bundle, goal, *MAP, "--at-least", "-1"), "a probability, from 0 to 1"),
        (("ready", bundle, *MAP, "--known", f"{name}x"), "did you mean"),
        (("ready", bundle, *MAP, "--known", name, "--unknown", name), "said to be known, and not"),
    ):
        proprl_(*words, expect=1)
        assert message in proprl_.error
    for words in (
        ("path", bundle),
        ("export", bundle, "--format", "xls", "--out", "map.xls"),
        ("export", bundle, "--format", "csv"),
    ):
        proprl_(*words, expect=2)
    assert [path.name for path in Path.cwd().iterdir()] == [bundle.name]


@pytest.mark.parametrize("form", FORMATS)
def test_the_map_is_exported(proprl_: Terminal, bundle: Path, form: str) -> None:
    graph = load_model(bundle).graph(threshold=0.5)
    told = json.loads(
        proprl_("export", bundle, "--format", form, "--out", "map.txt", *MAP, "--json")
    )
    assert told["confirmed"] + told["learned"] == len(graph)
    assert told["implied"] == len(graph.implied)
    text = Path("map.txt").read_text(encoding="utf-8")
    assert text.count("is needed before") == len(graph) + len(graph.implied)
    assert "Wrote map.txt: 60 concepts" in proprl_(
        "export", bundle, "--format", form, "--out", "map.txt", *MAP
    )
