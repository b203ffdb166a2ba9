"""`proprl ask`: what a person types, and what is kept of it."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from pathlib import Path

import pytest

from proprl.data import Course, check_course, read_course, write_course
from proprl.estimator import PrerequisiteModel
from terminal import Terminal


@pytest.fixture(scope="session")
def model(planted: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of few trees."""
    folder = tmp_path_factory.mktemp("asked") / "planted.proprl"
    PrerequisiteModel(settings={"trees": 5}).fit(planted).save(folder)
    return folder


def types(monkeypatch: pytest.MonkeyPatch, *keys: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{key}\n" for key in keys)))


def kept(path: str = "a.csv") -> list[tuple[str, str, str, str]]:
    """The answers in a file: first, then, answer, who."""
    with Path(path).open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [(row["source"], row["target"], row["answer"], row["who"]) for row in rows]


def listed(proprl_: Terminal, *words: object) -> list[tuple[str, str]]:
    found = json.loads(proprl_("ask", *words, "--json"))
    return [(one["source_id"], one["target_id"]) for one in found]


def test_answers_are_kept_as_they_are_given(
    proprl_: Terminal, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third, *_ = listed(proprl_, model)
    types(monkeypatch, "y", "s", "what?", "n", "q")
    said = proprl_("ask", model, "--answers", "a.csv", "--who", "Ann")
    names = [f"Concept {end[1:]}" for end in first]
    assert f"1 of 10  Is {names[0]} needed before {names[1]}?" in said
    assert "Asked because" in said
    assert "2 answers are kept in a.csv" in said
    assert kept() == [(*first, "yes", "Ann"), (*third, "no", "Ann")]
    # Next time nothing is asked again; what was skipped is.
    again = listed(proprl_, model, "--answers", "a.csv")
    assert second in again
    assert not {first, third} & set(again)


def test_undo_and_turned_round(
    proprl_: Terminal, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = listed(proprl_, model)[0]
    types(monkeypatch, "u", "n", "u", "r")  # and then the input ends
    said = proprl_("ask", model, "--answers", "a.csv", "--who", "Ann")
    assert "There is nothing to undo" in said
    assert "1 answer is kept" in said
    words = [answer for *_, answer, _ in kept()]
    assert words == ["no", "withdrawn", "reversed"]
    assert {row[:2] for row in kept()} == {first}


def test_whoever_skips_everything_is_let_go(
    proprl_: Terminal, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    types(monkeypatch, *["s"] * 20)
    said = proprl_("ask", model, "--answers", "a.csv", "--count", 3)
    assert said.count("needed before") == 3
    assert not Path("a.csv").exists()


def test_what_an_answer_settles_is_not_asked_in_the_same_batch(
    proprl_: Terminal, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    types(monkeypatch, *["y"] * 40)
    proprl_("ask", model, "--answers", "a.csv", "--count", 40)
    reach: set[tuple[str, str]] = set()
    for source, target, *_ in kept():
        assert (source, target) not in reach
        assert (target, source) not in reach
        before = {a for a, b in reach if b == source} | {source}
        reach |= {(a, b) for a in before for b in {t for s, t in reach if s == target} | {target}}


def test_ctrl_c_keeps_what_was_answered(
    proprl_: Terminal, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Impatient(io.StringIO):
        def readline(self, *_: object) -> str:
            if line := super().readline():
                return line
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", Impatient("y\nn\n"))
    said = proprl_("ask", model, "--answers", "a.csv", expect=130)
    assert "2 answers are kept" in said
    assert len(kept()) == 2


def test_a_full_disk_is_said_and_nothing_before_is_lost(
    proprl_: Terminal, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    types(monkeypatch, "y")
    proprl_("ask", model, "--answers", "a.csv")
    before = Path("a.csv").read_bytes()

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    types(monkeypatch, "y")
    monkeypatch.setattr("proprl.data.folder.answers_file.os.write", full)
    proprl_("ask", model, "--answers", "a.csv", expect=1)
    assert "No space left on device. The last answer is not kept; all before it are" in (
        proprl_.error
    )
    assert Path("a.csv").read_bytes() == before


def test_a_damaged_last_line_is_said_and_makes_room(
    proprl_: Terminal, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    types(monkeypatch, "y")
    proprl_("ask", model, "--answers", "a.csv")
    with Path("a.csv").open("a") as file:
        file.write("c1,c")
    types(monkeypatch, "n")
    proprl_("ask", model, "--answers", "a.csv")
    assert "a.csv, row 3" in proprl_.error
    assert [answer for *_, answer, _ in kept()] == ["yes", "no"]


def test_there_and_back_by_a_spreadsheet(proprl_: Terminal, model: Path) -> None:
    asked = listed(proprl_, model, "--count", 3)
    said = proprl_("ask", model, "--count", 3, "--out", "q.csv")
    assert "Wrote 3 questions" in said
    text = Path("q.csv").read_text()
    Path("q.csv").write_text(text.replace(",,", ",yes,", 1))
    said = proprl_("ask", model, "--take", "q.csv", "--answers", "a.csv", "--who", "Bob")
    assert "Took 1 answer into a.csv. 2 without an answer can still be filled in." in said
    assert kept() == [(*asked[0], "yes", "Bob")]
    # One wrong row, and nothing is taken.
    Path("q.csv").write_text(text.replace(",,", ",yes,", 1).replace(",,", ",why?,", 1))
    proprl_("ask", model, "--take", "q.csv", "--answers", "a.csv", expect=1)
    assert "row 3, column answer" in proprl_.error
    assert len(kept()) == 1


def test_pairs_are_drawn_by_known_chance(
    proprl_: Terminal, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    types(monkeypatch, "n", "n")
    said = proprl_("ask", model, "--answers", "a.csv", "--calibrate", 2)
    assert "it was drawn by lot" in said
    with Path("a.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["origin"] for row in rows] == ["drawn", "drawn"]
    assert 0 < float(rows[0]["chance"]) < 0.01


def test_a_course_folder_keeps_its_answers_and_learns_from_them(
    proprl_: Terminal, planted: Course, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_course(planted, "mine")
    shutil.copytree(model, "small.proprl")
    trained: list[Course] = []

    def quickly(course: Course) -> PrerequisiteModel:
        trained.append(course)
        return PrerequisiteModel(settings={"trees": 2}).fit(course)

    monkeypatch.setattr("proprl.cli.model_of.model_on", quickly)
    types(monkeypatch, "y", "r")
    proprl_("ask", "mine", "--who", "Ann")
    types(monkeypatch, "q")
    proprl_("ask", "mine")
    before, after = (len(course.labelled_pairs()) for course in trained)
    assert after == before + 3  # one yes; a pair turned round says something of both orders
    assert read_course("mine").fingerprint == trained[1].fingerprint
    assert check_course("mine")[0] == []
    said = proprl_("course", "info", "mine")
    assert "answers" in said


@pytest.mark.parametrize("data", ["campus", "mooc", "small.proprl"])
def test_what_is_not_ones_own_needs_a_file_for_answers(
    proprl_: Terminal, model: Path, data: str
) -> None:
    shutil.copytree(model, "small.proprl")
    proprl_("ask", data, expect=2)
    assert "--answers FILE.csv" in proprl_.error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--json", "--out", "q.csv"], "give one of --out, --take and --json"),
        (["--take", "q.csv", "--calibrate", 3], "--take takes answers back"),
        (["--out", "q.xlsx"], "ends in .csv"),
        (["--count", 0], "count"),
        (["--calibrate", 0], "calibrate"),
    ],
)
def test_wrong_words(proprl_: Terminal, model: Path, words: list[str], message: str) -> None:
    proprl_("ask", model, "--answers", "a.csv", *words, expect=2)
    assert message in proprl_.error


def test_answers_about_other_concepts_are_an_error(proprl_: Terminal, model: Path) -> None:
    Path("a.csv").write_text(
        "source,target,answer,who,when,origin,chance\nlimits,series,yes,ann,2026,asked,\n"
    )
    proprl_("ask", model, "--answers", "a.csv", expect=1)
    assert "a.csv, row 2, column source: found 'limits'; is not an id" in proprl_.error
