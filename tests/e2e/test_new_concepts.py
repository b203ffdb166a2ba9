"""Asking a saved model about a concept that it has never met."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from proprl import load_course
from proprl.data import Course, write_course
from proprl.estimator import PrerequisiteModel, load_model
from terminal import Terminal

SPLINES = "Splines: polynomials in pieces that join smoothly"
SMALL = ("--set", "trees=5")


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("new") / "campus.proprl"
    small = {"trees": 20}
    model = PrerequisiteModel("sequitur", encoder="wordllama", settings=small)
    model.fit(load_course("campus")).save(folder)
    return folder


def test_a_new_concept_is_placed_among_all_others(proprl_: Terminal, bundle: Path) -> None:
    found = json.loads(proprl_("predict", bundle, "--new", SPLINES, "--against", "all", "--json"))
    assert len(found) == 2 * 158
    assert all("Splines" in (pair["source"], pair["target"]) for pair in found)
    chance = {(pair["source_name"], pair["target_name"]): pair["probability"] for pair in found}
    assert chance["Functions", "Splines"] > 5 * chance["Splines", "Functions"]
    assert (found[0]["source_name"], found[0]["target_name"]) == ("Polynomials", "Splines")
    assert found == sorted(found, key=lambda pair: -pair["probability"])


def test_against_a_few_and_for_people(proprl_: Terminal, bundle: Path) -> None:
    words = ("--against", "Functions", "--against", "counting", "--top", 3)
    shown = proprl_("predict", bundle, "--new", SPLINES, *words)
    assert shown.count("│ Splines") == 3
    proprl_("predict", bundle, "--new", "Splines", "--against", "Functoins", expect=1)
    assert "did you mean 'Functions'" in proprl_.error


def test_where_nothing_is_likely_enough_it_says_so(
    proprl_: Terminal, bundle: Path, tmp_path: Path
) -> None:
    unlikely = "None of these is likely enough to be called a prerequisite of Splines."
    alone = ("predict", bundle, "--new", SPLINES, "--against", "Counting")
    assert unlikely in proprl_(*alone)
    json.loads(proprl_(*alone, "--json"))
    assert unlikely in proprl_.error
    model = load_model(bundle)
    fit = model.fitted_.fit
    assert fit.calibration is not None
    assert fit.calibration_of_new is not None
    easily = replace(
        fit,
        calibration=replace(fit.calibration, believed=0.0),
        calibration_of_new=replace(fit.calibration_of_new, believed=0.0),
    )
    model.fitted_ = replace(model.fitted_, fit=easily)
    model.save(tmp_path / "easily.proprl")
    shown = proprl_("predict", "easily.proprl", "--new", SPLINES)
    assert "likely enough" not in shown


def test_all_is_all_whatever_stands_beside_it(proprl_: Terminal, bundle: Path) -> None:
    asked = ("predict", bundle, "--new", SPLINES, "--json")
    everything = proprl_(*asked)
    assert proprl_(*asked, "--against", "Limits", "--against", "all") == everything
    assert proprl_(*asked, "--against", "all") == everything


def test_a_concept_called_all_is_one_concept(
    proprl_: Terminal, bundle: Path, tmp_path: Path
) -> None:
    model = load_model(bundle)
    names = ("All", *model.fitted_.concept_names[1:])
    model.fitted_ = replace(model.fitted_, concept_names=names)
    model.save(tmp_path / "all.proprl")
    words = ("--new", SPLINES, "--against", "all", "--json")
    found = json.loads(proprl_("predict", "all.proprl", *words))
    assert {pair["source_name"] for pair in found} == {"All", "Splines"}
    assert len(found) == 2


def test_one_concept_may_be_named_alone(bundle: Path) -> None:
    model = load_model(bundle)
    alone = model.predict_new(" Splines ", "Smooth pieces", against="Limits")
    assert alone.equals(model.predict_new("Splines", "Smooth pieces", against=["limits"]))
    assert set(alone["source_name"]) == {"Limits", "Splines"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--new", "Functions: maps"], "Functions is not new"),
        (["--new", "ACTIVATION FUNCTIONS"], "ACTIVATION FUNCTIONS is not new"),
        (["--new", " functions : maps"], "functions is not new"),
        (["--new", ": no name"], "needs a name"),
        (["--new", "...: dots"], "needs a name"),
        (["--new", "Red\x1b[31m"], "name holds a control character or line break: '\\x1b'"),
        (["--new", "Splines: one\ntwo"], "description holds a control character or line break"),
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
    proprl_("train", "campus", "--model", "nb", "--encoder", "wordllama", "--out", "nb")
    proprl_("predict", "nb", "--new", SPLINES, expect=1)
    assert "methods that take new ones: sequitur" in " ".join(proprl_.error.split())


def test_vectors_of_ones_own_cannot_be_made_for_a_new_text(
    proprl_: Terminal, planted: Course, tmp_path: Path
) -> None:
    write_course(planted, tmp_path / "course")
    assert (tmp_path / "course" / "features.safetensors").exists()
    proprl_("train", "course", "--model", "sequitur", "--out", "given", *SMALL)
    proprl_("predict", "given", "--new", SPLINES, expect=1)
    said = " ".join(proprl_.error.split())
    assert "the course brought its own vectors, and none for this text" in said
    assert "train with another encoder" in said


def test_vectors_that_depend_on_all_texts_cannot_be_made_for_a_new_one(proprl_: Terminal) -> None:
    small = (*SMALL, "--encoder", "tfidf")
    proprl_("train", "campus", "--model", "sequitur", "--out", "tfidf", *small)
    proprl_("predict", "tfidf", "--new", SPLINES, expect=1)
    assert "depend on all texts of the course" in " ".join(proprl_.error.split())
