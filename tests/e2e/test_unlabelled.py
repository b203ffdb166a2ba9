"""A course without expert labels: RefD learns from it, other methods say what is missing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from proprl.data import Course, write_course
from proprl.errors import MissingInputError, SplitError
from proprl.estimator import PrerequisiteModel, load_model
from terminal import Terminal


@pytest.fixture(scope="module")
def unlabelled(planted: Course) -> Course:
    return replace(planted, pairs=None)


@pytest.fixture
def folder(unlabelled: Course, tmp_path: Path) -> Path:
    write_course(unlabelled, tmp_path / "unlabelled")
    return tmp_path / "unlabelled"


def test_train_predict_and_a_clear_no_to_evaluate(proprl_: Terminal, folder: Path) -> None:
    said = proprl_("train", folder, "--model", "refd", "--out", "m")
    assert "evidence    behaviour" in said  # no text was read
    assert "labels      none used" in said
    assert "the course has no labelled pairs" in said
    assert "zero_share" in said
    scored = json.loads(proprl_("predict", "m", "c3", "c8", "--json"))
    assert scored["probability"] == pytest.approx(1 - scored["reverse_probability"])
    assert len(json.loads(proprl_("predict", "m", "--all", "--top", 7, "--json"))) == 7
    proprl_("evaluate", "m", folder, expect=1)
    assert "add pairs.csv with columns source, target, label" in proprl_.error
    proprl_("evaluate", "m", folder, "--split", "validation", expect=1)
    assert "no labelled pairs" in proprl_.error


def test_scripts_get_the_sign_and_the_share_of_zeros(proprl_: Terminal, folder: Path) -> None:
    found = json.loads(proprl_("train", folder, "--model", "refd", "--out", "m", "--json"))
    assert found["encoder"] == "none"
    assert found["split"] == {
        "train": 0,
        "validation": 0,
        "test": 0,
        "protocol": "none",
        "notes": ["the course has no labelled pairs"],
    }
    assert found["facts"]["sign"] == 1
    assert 0 < found["facts"]["zero_share"] < 1
    assert found["held_out"] == {"how": "validation", "pairs": 0, "positives": 0}
    assert (found["background"], found["expected"], found["believed"]) == (0, None, None)


def test_a_method_that_needs_labels_asks_for_them(proprl_: Terminal, folder: Path) -> None:
    for name in ("proprl", "nb"):
        proprl_("train", folder, "--model", name, "--out", "m", expect=1)
        assert "add pairs.csv with columns source, target, label" in proprl_.error
        assert not Path("m").exists()


def test_refd_asks_for_something_to_read_references_from(unlabelled: Course) -> None:
    bare = replace(unlabelled, transitions=None, resources=None, concept_resources=None)
    with pytest.raises(MissingInputError, match=r"transitions\.csv or resources\.csv"):
        PrerequisiteModel("refd").fit(bare)


def test_labels_of_one_kind_teach_nothing_and_are_named(planted: Course) -> None:
    positives = planted.pairs.filter(pl.col("label") == 1)  # type: ignore[union-attr]
    split = PrerequisiteModel("refd").fit(replace(planted, pairs=positives)).fitted_.split
    assert split.protocol == "none"
    assert split.notes == ("all 200 labelled pairs have label 1: none was used",)


def test_labels_can_be_kept_for_evaluation_only(planted: Course, tmp_path: Path) -> None:
    model = PrerequisiteModel("refd", split="none").fit(planted)
    assert model.evaluate(planted)["pairs"] == 400
    model.save(tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert again.evaluate(planted) == model.evaluate(planted)
    assert again.fit(planted).evaluate(planted) == model.evaluate(planted)
    with pytest.raises(SplitError, match="this method needs some"):
        PrerequisiteModel("nb", split="none").fit(planted)


def test_no_encoder_is_no_choice_where_features_are_needed(planted: Course) -> None:
    with pytest.raises(MissingInputError, match="choose an encoder other than `none`"):
        PrerequisiteModel("nb", encoder="none").fit(planted)


@pytest.mark.parametrize("name", ["nb", "svm", "rf", "refd"])
def test_a_saved_model_scores_alike(name: str, planted: Course, tmp_path: Path) -> None:
    """Through the files of a bundle, to the last bit."""
    few = {"trees": 20} if name == "rf" else {}
    model = PrerequisiteModel(name, settings=few).fit(planted)
    model.save(tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert again.predict_all().equals(model.predict_all())
    assert again.fitted_.report == model.fitted_.report
