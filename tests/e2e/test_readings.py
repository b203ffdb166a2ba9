"""A course that a language model has read about, from the command line.

The reader here is wordllama: any encoder can read, and this one takes no time.
"""

from __future__ import annotations

import json
import shutil
from importlib.resources import files
from pathlib import Path

import pytest

from proprl import load_course
from proprl.estimator import PrerequisiteModel
from terminal import Terminal

FEW = {"trees": 10, "folds": 4, "newcomers": False}
SMALL = (
    "--encoder",
    "wordllama",
    *(word for key in FEW for word in ("--set", f"{key}={FEW[key]}")),
)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    folder = tmp_path / "my-course"
    shutil.copytree(str(files("proprl.data") / "campus"), folder)
    return folder


def test_a_reader_is_named_in_what_is_printed_kept_and_asked_again(
    proprl_: Terminal, course: Path
) -> None:
    shown = proprl_("train", course, *SMALL, "--set", "reader=wordllama", "--out", "read.proprl")
    assert "places in a curriculum (wordllama)" in shown
    model = json.loads(Path("read.proprl/model.json").read_text())
    assert model["settings"]["reader"] == "wordllama"
    assert model["course"]["subject"] == "mathematics and computer science"
    limits, splines = ("Limits", "Derivatives"), ("--new", "Splines", "--against", "Functions")
    read = {ask: proprl_("predict", "read.proprl", *ask) for ask in (limits, splines)}
    assert "Splines" in read[splines]
    proprl_("train", course, *SMALL, "--out", "unread.proprl")
    assert "reader" in Path("unread.proprl/model.json").read_text()
    assert all(proprl_("predict", "unread.proprl", *ask) != read[ask] for ask in read)


def test_an_explanation_tells_what_was_read(course: Path) -> None:
    settings = FEW | {"reader": "wordllama"}
    model = PrerequisiteModel(encoder="wordllama", settings=settings).fit(load_course(course))
    there, back = model.explain("Limits", "Derivatives"), model.explain("Derivatives", "Limits")
    assert there.order is not None
    assert back.order == pytest.approx(1 - there.order)
    assert f"by what a language model has read, it comes first: {there.order:.2f}" in str(there)
    unread = PrerequisiteModel(encoder="wordllama", settings=settings | {"reader": "none"})
    assert unread.fit(load_course(course)).explain("Limits", "Derivatives").order is None


def test_the_subject_is_read_too(proprl_: Terminal, course: Path) -> None:
    settings = (*SMALL, "--set", "reader=wordllama")
    proprl_("train", course, *settings, "--out", "maths.proprl")
    toml = course / "course.toml"
    toml.write_text(toml.read_text().replace("mathematics and computer science", "cooking"))
    assert json.loads(proprl_("course", "info", course, "--json"))["subject"] == "cooking"
    proprl_("train", course, *settings, "--out", "cooking.proprl")
    asked = [
        proprl_("predict", f"{name}.proprl", "Limits", "Derivatives")
        for name in ("maths", "cooking")
    ]
    assert asked[0] != asked[1]


def test_an_unknown_reader_is_refused_with_the_known_ones(proprl_: Terminal, course: Path) -> None:
    proprl_("train", course, *SMALL, "--set", "reader=somebody", expect=1)
    assert "unknown encoder 'somebody'" in proprl_.error
    assert "language-model:" in proprl_.error
