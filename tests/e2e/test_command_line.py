"""What a user types, and what comes back."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import proprl
from proprl.data import Course, write_course
from terminal import Terminal

WORDLLAMA = ["--encoder", "wordllama"]
QUICK = ["--model", "proprl", "--set", "size=32", "--set", "epochs=3", *WORDLLAMA]
FEW_TREES = ["--set", "trees=5", *WORDLLAMA]


@pytest.fixture(scope="session")
def trained(campus: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A quickly trained model of campus."""
    folder = tmp_path_factory.mktemp("trained") / "campus.proprl"
    small = {"size": 32, "epochs": 3}
    proprl.ProPRL(seed=7, encoder="wordllama", settings=small).fit(campus).save(folder)
    return folder


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["demo"],
        ["course"],
        ["course", "list"],
        ["course", "info"],
        ["course", "check"],
        ["course", "fetch"],
        ["train"],
        ["evaluate"],
        ["predict"],
        ["ask"],
    ],
)
def test_help_explains_itself(proprl_: Terminal, command: list[str]) -> None:
    text = proprl_(*command, "--help")
    assert "Usage:" in text
    if command not in ([], ["course"]):
        assert "Example: proprl" in text


def test_version(proprl_: Terminal) -> None:
    assert proprl_("--version").strip() == f"proprl {proprl.__version__}"


def test_courses_are_listed_and_described(proprl_: Terminal) -> None:
    assert "campus" in proprl_("course", "list")
    facts = json.loads(proprl_("course", "info", "campus", "--json"))
    assert (facts["concepts"], facts["resources"], facts["labelled_pairs"]) == (158, 120, 600)
    assert "158" in proprl_("course", "info", "campus")


def test_train_says_what_it_used(proprl_: Terminal) -> None:
    text = proprl_("train", "campus", "--seed", 7, *QUICK)
    assert "texts (wordllama), resources, behaviour" in text
    assert "424 train + 88 validation, 88 kept apart as test (given split)" in text
    assert "pairs without a label" in text
    assert "Saved campus.proprl" in text
    assert not list(Path("campus.proprl").glob("checkpoint*"))


def test_the_same_seed_gives_the_same_bytes(proprl_: Terminal) -> None:
    for out in ("a", "b"):
        proprl_("train", "campus", "--seed", 7, "--out", out, *QUICK)
    for path in Path("a").iterdir():
        assert path.read_bytes() == (Path("b") / path.name).read_bytes()


def test_train_without_texts_keeps_no_sentence(proprl_: Terminal) -> None:
    def written(out: str) -> bytes:
        return b"".join(path.read_bytes() for path in sorted(Path(out).iterdir()))

    quick = [*FEW_TREES, "--out"]
    proprl_("train", "campus", *quick, "full")
    proprl_("train", "campus", *quick, "bare", "--without-texts")
    sentence = b"Once a pile grows past ten, bundling sticks in tens"
    assert sentence in written("full")
    assert sentence not in written("bare")
    assert b"How Many Are There? Numbers to One Hundred" in written("bare")
    pair = "Limits", "Derivatives", "--json"
    assert proprl_("predict", "full", *pair) == proprl_("predict", "bare", *pair)


def test_train_reports_to_scripts(proprl_: Terminal) -> None:
    found = json.loads(proprl_("train", "campus", "--out", "a", "--json", *QUICK))
    assert found["views"] == ["resource", "behaviour"]
    assert found["epochs"] == 3
    assert found["split"]["test"] == 88
    assert sum(found["branch_weights"].values()) == pytest.approx(1)


def test_train_says_how_many_prerequisites_are_expected(proprl_: Terminal) -> None:
    sequitur = [*FEW_TREES, "--out", "m"]
    found = json.loads(proprl_("train", "campus", *sequitur, "--json"))
    assert found["background"] > 0
    expected = found["expected"]
    assert 0 <= expected["low"] <= expected["number"] <= expected["high"] < expected["open_pairs"]
    assert 0 < found["believed"] <= 1
    assert found["held_out"]["how"] == "cross-fitted"
    text = proprl_("train", "campus", *sequitur, "--split", "grouped")
    assert "480 train + 60 validation, 60 kept apart as test (grouped split)" in text
    assert "more prerequisites" in text
    assert "open pairs" in text
    assert "believed    from probability" in text


def test_train_without_background_promises_nothing(proprl_: Terminal) -> None:
    quick = [*FEW_TREES, "--background", "none", "--out", "m"]
    text = proprl_("train", "campus", *quick)
    assert "No pairs without a label were learned from" in text
    assert "expects" not in text
    assert json.loads(proprl_("train", "campus", *quick, "--json"))["expected"] is None


def test_labels_that_all_say_yes(proprl_: Terminal, campus: Course) -> None:
    assert campus.pairs is not None
    alone = campus.pairs.filter(pl.col("label") == 1).drop("split")
    write_course(replace(campus, pairs=alone), "mine")
    quick = [*FEW_TREES, "--out", "m"]
    assert "how many prerequisites there are cannot be told" in proprl_("train", "mine", *quick)
    shown = proprl_("predict", "m", "Functions", "Program functions")
    assert "nothing says from where on to believe it" in shown
    assert json.loads(proprl_("predict", "m", "Limits", "Series", "--json"))["prerequisite"] is None
    measured = proprl_("evaluate", "m", "mine")
    assert "All labels say yes" in measured
    assert "average_precision" not in measured
    proprl_("train", "mine", *quick, "--background", "none", expect=1)
    assert "add pairs with label 0" in proprl_.error
    proprl_("train", "mine", "--model", "refd", "--out", "r")  # it needs no labels


def test_train_names_labels_that_contradict_each_other(proprl_: Terminal, campus: Course) -> None:
    assert campus.pairs is not None
    turned = pl.DataFrame({"source": ["limits"], "target": ["functions"], "label": [1]})
    pairs = campus.pairs.select("source", "target", "label")
    known = pairs.filter(~((pl.col("source") == "limits") & (pl.col("target") == "functions")))
    write_course(replace(campus, pairs=pl.concat([known, turned])), "mine")
    quick = [*FEW_TREES, "--background", "none", "--out", "m"]
    assert "2 labels contradict others and are set aside" in proprl_("train", "mine", *quick)
    found = json.loads(proprl_("train", "mine", *quick, "--json"))
    assert "Limits → Functions" in found["contradictions"][0]


def test_without_a_test_part_figures_are_cross_fitted(proprl_: Terminal, campus: Course) -> None:
    assert campus.pairs is not None
    write_course(replace(campus, pairs=campus.pairs.drop("split")), "mine")
    quick = [*FEW_TREES, "--out", "m"]
    shown = proprl_("train", "mine", *quick)
    assert "540 train + 60 validation (all split)" in shown
    assert "every label was learned from" in shown
    assert "cross-fitted AUC" in shown
    found = json.loads(proprl_("evaluate", "m", "mine", "--json"))
    assert (found["split"], found["pairs"]) == ("cross-fitted", 600)
    assert "had not learned from it" in found["says"][0]
    proprl_("evaluate", "m", "mine", "--split", "test", expect=1)
    assert "no labelled pairs for the part 'test'" in proprl_.error


def test_a_model_of_an_older_format_is_refused(proprl_: Terminal, trained: Path) -> None:
    shutil.copytree(trained, "old")
    root = json.loads(Path("old/model.json").read_text())
    Path("old/model.json").write_text(json.dumps(root | {"format": 1}))
    proprl_("predict", "old", "Limits", "Derivatives", expect=1)
    assert "train again" in proprl_.error


def test_evaluate(proprl_: Terminal, trained: Path) -> None:
    found = json.loads(proprl_("evaluate", trained, "campus", "--json"))
    assert {"accuracy", "f1", "auc", "ordered_share", "mean_margin"} <= set(found)
    assert found["pairs"] == 88
    assert found["course_changed"] is False
    assert found["split"] == "test"
    assert sum(one["pairs"] for one in found["reliability"]) == 88
    shown = proprl_("evaluate", trained, "campus", "--split", "validation")
    assert "accuracy" in shown
    assert "Validation: the threshold was chosen on these labels." in shown
    assert "for pairs that people chose: 45% of these 88 are prerequisites." in shown
    assert "Can the probabilities be trusted?" in shown
    proprl_("evaluate", trained, "campus", "--split", "everything", expect=1)
    assert "known: train, validation, test" in proprl_.error


def test_predict_one_pair(proprl_: Terminal, trained: Path) -> None:
    found = json.loads(proprl_("predict", trained, "Limits", "Derivatives", "--json"))
    assert 0 <= found["probability"] <= 1
    assert found["prerequisite"] == (found["probability"] >= found["threshold"])
    assert (found["source"], found["target_name"]) == ("limits", "Derivatives")
    assert found["label"] == 1
    assert found["from_labels"] is True
    shown = proprl_("predict", trained, "limits", "Derivatives")
    assert "Limits → Derivatives" in shown
    assert "Yes: your label says so." in shown


def test_labels_come_before_what_the_model_says(proprl_: Terminal, trained: Path) -> None:
    shown = proprl_("predict", trained, "Partial derivatives", "Limits")
    assert shown.startswith("Your labels already put Limits before Partial derivatives")
    assert "It was kept apart as a test." in shown
    shown = proprl_("predict", trained, "Derivatives", "Limits")
    assert shown.startswith("No: your label says so.")
    assert "Your label: Limits is a prerequisite of Derivatives." in shown


def test_a_misspelt_name_suggests_the_nearest(proprl_: Terminal, trained: Path) -> None:
    proprl_("predict", trained, "Limts", "Derivatives", expect=1)
    assert "Limits" in proprl_.error
    proprl_("predict", trained, "Limts", "Derivatives", "--json", expect=1)
    assert json.loads(proprl_.error)["error"]["type"] == "UnknownConceptError"


def test_predict_a_file_of_pairs(proprl_: Terminal, trained: Path) -> None:
    Path("ask.csv").write_text("source,target,why\nLimits,Derivatives,a\nfractions,ratios,b\n")
    proprl_("predict", trained, "--pairs", "ask.csv", "--out", "said.jsonl")
    said = pl.read_ndjson("said.jsonl")
    assert said.columns == ["source", "target", "why", "probability"]
    alone = json.loads(proprl_("predict", trained, "Limits", "Derivatives", "--json"))
    assert said["probability"][0] == pytest.approx(alone["probability"], abs=1e-6)


def test_a_wrong_file_of_pairs_names_rows(proprl_: Terminal, trained: Path) -> None:
    Path("ask.csv").write_text("source,target\nLimits,Derivatives\nFractons,ratios\n")
    proprl_("predict", trained, "--pairs", "ask.csv", expect=1)
    assert "row 3, column source" in proprl_.error
    assert "Fractions" in proprl_.error
    Path("ask.csv").write_text("from,to\nLimits,Derivatives\n")
    proprl_("predict", trained, "--pairs", "ask.csv", expect=1)
    assert "must have the column source; it has: from, to" in proprl_.error
    Path("ask.csv").write_text("source,target\n")
    proprl_("predict", trained, "--pairs", "ask.csv", expect=1)
    assert "no rows" in proprl_.error
    Path("ask.csv").write_text("source,target\nLimits,limits\n")
    proprl_("predict", trained, "--pairs", "ask.csv", expect=1)
    assert "row 2" in proprl_.error
    assert "paired with itself" in proprl_.error
    proprl_("predict", trained, "--pairs", "nothing.csv", expect=1)
    assert "No such file" in proprl_.error


def test_predict_everything(proprl_: Terminal, trained: Path) -> None:
    proprl_("predict", trained, "--all", "--top", 30, "--out", "edges.csv")
    with Path("edges.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 30
    found = [float(row["probability"]) for row in rows]
    assert found == sorted(found, reverse=True)
    assert "... and 10 more" in proprl_("predict", trained, "--all", "--top", 30)


def test_what_is_worth_knowing_stands_below_every_table(proprl_: Terminal) -> None:
    proprl_("train", "campus", *FEW_TREES, "--background", "none", "--out", "m")
    note = "No pairs without a label were learned from"
    Path("ask.csv").write_text("source,target\nLimits,Derivatives\n")
    for asked in (["--all", "--top", 3], ["--pairs", "ask.csv"], ["--new", "Splines"]):
        assert note in proprl_("predict", "m", *asked)
    for quiet in (["--json"], ["--out", "said.csv"]):  # on standard error, beside the data
        assert note not in proprl_("predict", "m", "--pairs", "ask.csv", *quiet)
        assert note in proprl_.error


def test_predict_needs_one_question(proprl_: Terminal, trained: Path) -> None:
    proprl_("predict", trained, expect=2)
    proprl_("predict", trained, "Limits", expect=2)
    proprl_("predict", trained, "Limits", "Derivatives", "--all", expect=2)
    proprl_("predict", trained, "Limits", "Derivatives", "--top", 3, expect=2)
    proprl_("predict", trained, "--all", "--out", "edges.xlsx", expect=1)
    assert "must end in" in proprl_.error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train", "no-such-course"], "no-such-course"),
        (["train", "campus", "--model", "magic"], "known: proprl"),
        (["train", "campus", "--preset", "fast"], "known: default"),
        (["train", "campus", "--model", "proprl", "--preset", "fast"], "known: default, paper"),
        (["train", "campus", "--set", "tres=1"], "did you mean trees"),
        (["train", "campus", "--set", "trees=high"], "trees"),
        (["train", "campus", "--encoder", "glove"], "glove"),
        (["train", "campus", "--split", "magic"], "known: auto"),
        (["evaluate", "no-such-bundle", "campus"], "does not exist"),
        (["predict", "no-such-bundle", "a", "b"], "does not exist"),
        (["course", "info", "no-such-course"], "no-such-course"),
    ],
)
def test_wrong_words_are_one_clear_error(proprl_: Terminal, words: list[str], message: str) -> None:
    said = proprl_(*words, expect=1)
    assert "expected" in said if words[:2] == ["course", "check"] else "Error:" in proprl_.error
    assert message in proprl_.error
    assert not list(Path().iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ["train", "campus", "--out", "x" * 300],
        ["train", "x" * 300],
        ["predict", "x" * 300, "a", "b"],
        ["evaluate", "[/x]", "campus"],
        ["course", "check", "[/bold]"],
        ["train", "campus", "--set", "trees=inf"],
    ],
)
def test_odd_words_are_no_crash(proprl_: Terminal, words: list[str]) -> None:
    said = proprl_(*words, expect=1)
    assert "expected" in said if words[:2] == ["course", "check"] else "Error:" in proprl_.error


def test_a_course_with_an_odd_name_is_saved_in_this_folder(
    proprl_: Terminal, campus: Course, tmp_path: Path
) -> None:
    write_course(campus, "mine")
    Path("mine/course.toml").write_text('name = "../[/bold] Calculus/II"\n')
    proprl_("course", "info", "mine")
    proprl_("train", "mine", *QUICK)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bold-Calculus-II.proprl", "mine"]


def test_nothing_to_resume_is_said(proprl_: Terminal) -> None:
    proprl_("train", "campus", "--out", "a", "--resume", *QUICK)
    assert "no unfinished run in a" in proprl_.error


def test_a_bundled_course_can_be_checked_by_name(proprl_: Terminal) -> None:
    assert "is a sound course" in proprl_("course", "check", "campus")


@pytest.mark.parametrize(
    "words",
    [
        ["train"],
        ["train", "campus", "--seed", "x"],
        ["train", "campus", "--seed", "9" * 30],
        ["train", "campus", "--set", "trees"],
        ["train", "campus", "--background", "some"],
        ["fly"],
    ],
)
def test_wrong_options_are_wrong_use(proprl_: Terminal, words: list[str]) -> None:
    proprl_(*words, expect=2)
    assert "Usage: proprl" in proprl_.error


def test_a_folder_of_other_things_is_refused_before_training(proprl_: Terminal) -> None:
    Path("thesis").mkdir()
    Path("thesis/chapter1.tex").write_text("mine")
    proprl_("train", "campus", "--out", "thesis", expect=1)
    assert "found chapter1.tex" in proprl_.error


def test_ten_planted_faults_are_all_listed(proprl_: Terminal, campus: Course) -> None:
    write_course(campus, "faulty")
    folder = Path("faulty")

    def append(file: str, line: str) -> None:
        with (folder / file).open("a") as stream:
            stream.write(line + "\n")

    append("pairs.csv", "limts,derivatives,1,train")  # 1 unknown id
    append("pairs.csv", "limits,limits,0,train")  # 2 self-pair
    append("pairs.csv", "limits,counting,2,train")  # 3 label
    append("pairs.csv", "limits,poetry,0,exam")  # 4 unknown id, and 5 split
    append("concepts.csv", "limits,Limits again,twice")  # 6 duplicate id
    append("concepts.csv", "nameless,,no name")  # 7 empty name
    append("interactions.csv", "L1,limits,yesterday")  # 8 time
    append("resources.csv", "r999")  # 9 ragged row
    with (folder / "resources.csv").open("ab") as stream:
        stream.write(b"r998,Caf\xe9,latin-1\n")  # 10 encoding
    source, target, label, split = (folder / "pairs.csv").read_text().splitlines()[1].split(",")
    append("pairs.csv", f"{source},{target},{1 - int(label)},{split}")  # 11 both labels
    (folder / "features.safetensors").mkdir()  # 12 a folder where a file should be

    found = json.loads(proprl_("course", "check", "faulty", "--json", expect=1))
    text = "\n".join(" ".join(map(str, problem.values())) for problem in found["errors"])
    for sign in ("limts", "poetry", "exam", "yesterday", "UTF-8", "features.safetensors"):
        assert sign in text
    places = {(p["file"], p["column"]) for p in found["errors"]}
    assert {("pairs.csv", "label"), ("concepts.csv", "id"), ("concepts.csv", "name")} <= places
    assert len(found["errors"]) >= 12
    table = proprl_("course", "check", "faulty", expect=1)
    assert "problems" in table
    assert "yesterday" in table


def test_a_sound_course_passes_the_check(proprl_: Terminal, campus: Course) -> None:
    write_course(campus, "mine", format="parquet")
    assert "is a sound course" in proprl_("course", "check", "mine")
    shutil.rmtree("mine")
    proprl_("course", "check", "mine", expect=1)


@pytest.mark.slow
def test_demo(proprl_: Terminal) -> None:
    text = proprl_("demo", "--out", "out")
    assert "What does the map add to your labels?" in text
    assert "labels kept apart as a test" in text
    assert "What would it ask you?" in text
    page = Path("out/report.html").read_text()
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert proprl.load_model("out/campus.proprl").fitted_.course_name == "campus"
