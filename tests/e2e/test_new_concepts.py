"""Asking a saved model about a concept that it has never met."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proprl import load_course
from proprl.estimator import PrerequisiteModel
from terminal import Terminal

SPLINES = "Splines: polynomials in pieces that join smoothly"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("new") / "campus.proprl"
    small = {"trees": 50}
    model = PrerequisiteModel("sequitur", encoder="wordllama", settings=small)
    model.fit(load_course("campus")).save(folder)
    return folder


def test_a_new_concept_is_placed_among_all_others(proprl_: Terminal, bundle: Path) -> None:
    found = json.loads(proprl_("predict", bundle, "--new", SPLINES, "--against", "all", "--json"))
    assert len(found) == 2 * 158
    assert all("Splines" in (pair["source"], pair["target"]) for pair in found)
    chance = {(pair["source_name"], pair["target_name"]): pair["probability"] for pair in found}
    assert chance["Functions", "Splines"] > 0.5 > chance["Splines", "Functions"]
    assert found == sorted(found, key=lambda pair: -pair["probability"])


def test_against_a_few_and_for_people(proprl_: Terminal, bundle: Path) -> None:
    words = ("--against", "Functions", "--against", "counting", "--top", 3)
    shown = proprl_("predict", bundle, "--new", SPLINES, *words)
    assert shown.count("Splines") == 3
    proprl_("predict", bundle, "--new", "Splines", "--against", "Functoins", expect=1)
    assert "did you mean 'Functions'" in proprl_.error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--new", "Functions: maps"], "Functions is not new"),
        (["--new", ": no name"], "needs a name"),
        (["--all", "--against", "Functions"], "--against goes with --new"),
        (
            ["--new", SPLINES, "--all"],
            "give SOURCE and TARGET, or --pairs FILE, or --all, or --new",
        ),
    ],
)
def test_wrong_questions(proprl_: Terminal, bundle: Path, words: list[str], message: str) -> None:
    proprl_("predict", bundle, *words, expect=2 if message.startswith(("--", "give")) else 1)
    assert message in " ".join(proprl_.error.replace("│", " ").split())


def test_a_method_that_cannot_says_who_can(proprl_: Terminal) -> None:
    proprl_("train", "campus", "--model", "nb", "--out", "nb")
    proprl_("predict", "nb", "--new", SPLINES, expect=1)
    assert "methods that take new ones: sequitur" in " ".join(proprl_.error.split())


def test_vectors_of_ones_own_cannot_be_made_for_a_new_text(proprl_: Terminal) -> None:
    small = ("--set", "trees=5", "--encoder", "tfidf")
    proprl_("train", "campus", "--model", "sequitur", "--out", "tfidf", *small)
    proprl_("predict", "tfidf", "--new", SPLINES, expect=1)
    assert "depend on all texts of the course" in " ".join(proprl_.error.split())
