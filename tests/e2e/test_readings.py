"""A course that a language model has read about, from the command line.

The model is made on the spot and knows nothing: what it says is kept, used and asked for again.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from proprl import load_course, load_model
from proprl.errors import FeatureError
from proprl.estimator import PrerequisiteModel
from proprl.experiments.running.execute import execute
from proprl.experiments.running.run import Run
from proprl.experiments.running.store import RunStore, run_all
from proprl.features.reader import read_concepts
from terminal import Terminal
from tiny_model import save_tiny_model

pytestmark = pytest.mark.reader

SUBJECT = "mathematics and computer science"
SMALL = ("--encoder", "wordllama", "--set", "trees=10")
LIMITS = ("Limits", "Derivatives", "--json")
SPLINES = ("--new", "Splines", "--against", "Functions", "--json")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("reader") / "model")


@pytest.fixture(scope="module")
def read(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved model of campus, trained with the reader. Tests must not change it."""
    folder = tmp_path_factory.mktemp("read") / "read.proprl"
    settings = {"trees": 10, "reader": str(model)}
    campus = load_course("campus")
    PrerequisiteModel(encoder="wordllama", settings=settings).fit(campus).save(folder)
    return folder


@pytest.fixture
def course(tmp_path: Path) -> Path:
    folder = tmp_path / "my-course"
    shutil.copytree(str(files("proprl.data") / "campus"), folder)
    return folder


def test_a_reader_is_named_in_what_is_printed_and_kept(
    proprl_: Terminal, course: Path, model: Path
) -> None:
    shown = proprl_("train", course, *SMALL, "--reader", model, "--out", "read.proprl")
    assert f"places in a curriculum ({model})" in shown
    kept = json.loads(Path("read.proprl/model.json").read_text())
    assert kept["settings"]["reader"] == str(model)
    assert kept["course"]["subject"] == SUBJECT
    said = json.loads(
        proprl_("train", course, *SMALL, "--set", f"reader={model}", "--out", "set", "--json")
    )
    assert said["reader"] == str(model)
    for file in Path("read.proprl").iterdir():  # two ways to say the same
        assert file.read_bytes() == (Path("set") / file.name).read_bytes()


def test_what_was_read_is_evidence_and_off_unless_asked_for(proprl_: Terminal, read: Path) -> None:
    said = json.loads(proprl_("train", "campus", *SMALL, "--out", "unread", "--json"))
    assert said["reader"] == "none"
    for ask in (LIMITS, SPLINES):
        assert proprl_("predict", read, *ask) != proprl_("predict", "unread", *ask)
    with_reader, without = (load_model(f).explain(*LIMITS[:2]) for f in (read, "unread"))
    assert "what a language model makes of the names" in str(with_reader)
    assert "reader" not in without.kinds


def test_what_is_read_about_a_new_concept_counts(
    read: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load_model(read)
    by_name = model.predict_new("Splines")
    reading = read_concepts(["Splines"], SUBJECT, str(model.settings["reader"]))
    monkeypatch.setattr("proprl.curriculum.new_concept.read_concepts", lambda *_, **__: reading)
    assert model.predict_new("Splines").equals(by_name)
    monkeypatch.setattr("proprl.curriculum.new_concept.read_concepts", lambda *_, **__: -reading)
    assert not model.predict_new("Splines").equals(by_name)


def test_the_subject_is_read_too(proprl_: Terminal, read: Path, course: Path, model: Path) -> None:
    toml = course / "course.toml"
    toml.write_text(toml.read_text().replace(SUBJECT, "cooking"))
    assert json.loads(proprl_("course", "info", course, "--json"))["subject"] == "cooking"
    proprl_("train", course, *SMALL, "--reader", model, "--out", "cooking.proprl")
    assert proprl_("predict", "cooking.proprl", *LIMITS) != proprl_("predict", read, *LIMITS)


def test_only_new_concepts_need_the_reader_again_and_find_it_from_elsewhere(
    proprl_: Terminal, read: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(model, "reader")
    folder = Path("reader").resolve()
    proprl_("train", "campus", *SMALL, "--reader", "reader", "--out", "other.proprl")
    bundle = Path("other.proprl").resolve()
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    for ask in (LIMITS, SPLINES):
        assert proprl_("predict", bundle, *ask) == proprl_("predict", read, *ask)
    shutil.rmtree(folder)
    assert proprl_("predict", bundle, *LIMITS) == proprl_("predict", read, *LIMITS)
    proprl_("predict", bundle, *SPLINES, expect=1)
    error = " ".join(proprl_.error.split())
    assert f"was trained on what {folder} made of the concepts" in error
    assert "is no folder: give the folder that holds a language model" in error


def test_an_experiment_reads_with_the_reader_of_its_settings(model: Path, tmp_path: Path) -> None:
    run = Run("sequitur", "campus", "leak-free", encoder="wordllama", changes={"trees": 10})
    read, nowhere = (
        replace(run, changes={"trees": 10, "reader": name}) for name in (str(model), "./nowhere")
    )
    assert execute(read)["scores"] != execute(run)["scores"]
    with pytest.raises(FeatureError, match=r"the reader '\./nowhere' is no folder"):
        run_all([run, nowhere], RunStore(tmp_path / "runs"))
    assert not (tmp_path / "runs").exists()  # found before the first run


# --- readers that cannot read ---------------------------------------------------------------------


def test_a_folder_without_a_model_says_what_to_give(proprl_: Terminal, course: Path) -> None:
    Path("empty").mkdir()
    proprl_("train", course, *SMALL, "--reader", "empty", expect=1)
    error = " ".join(proprl_.error.split())
    assert f"the language model '{Path('empty').resolve()}' cannot be loaded" in error
    assert "Give a folder in which transformers saved the model and its tokenizer" in error
    proprl_("train", course, *SMALL, "--reader", "./nowhere", expect=1)
    assert "the reader './nowhere' is no folder" in " ".join(proprl_.error.split())


def test_a_method_that_has_no_use_for_a_reader_says_so(proprl_: Terminal, course: Path) -> None:
    proprl_("train", course, "--model", "svm", "--reader", "some/model", expect=1)
    assert "wrong settings for svm" in proprl_.error
    assert "reader: no such setting" in proprl_.error


def test_a_name_on_the_hub_is_read_once_downloaded_and_an_error_without_a_network(
    model: Path, tmp_path: Path
) -> None:
    downloaded = tmp_path / "hub" / "models--some--model"
    shutil.copytree(model, downloaded / "snapshots" / "0123abcd")
    (downloaded / "refs").mkdir()
    (downloaded / "refs" / "main").write_text("0123abcd")
    program = """
        from proprl.errors import FeatureError
        from proprl.features.reader import read_concepts
        print(read_concepts(["Limits"], "", "some/model").shape)
        try:
            read_concepts(["Limits"], "", "no-such/model")
        except FeatureError as error:
            print(error)
    """
    # Offline, for the hub is asked for half a minute where there is no network.
    environment = {"HF_HUB_CACHE": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.stdout.startswith("(1, 160)\n"), done.stderr  # five states of 32 numbers
    assert "the language model 'no-such/model' cannot be loaded" in done.stdout
    assert "a name on the Hugging Face hub and a network that reaches it" in done.stdout
