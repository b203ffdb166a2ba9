"""Questions as a spreadsheet: what comes back is what was asked, or nothing is taken."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from proprl.curriculum.question_sheet import read_sheet, write_sheet
from proprl.curriculum.questions import Question
from proprl.errors import CourseError

IDS = ("=f", "l", "d")
ASKED = [
    Question("=1+1", "Limits", 0.4, "=f", "l", 0.1, "it could go either way"),
    Question("Limits", "Derivatives", 0.1, "l", "d", 0.1, "by lot", "drawn", 0.0123),
    Question("Derivatives", "=1+1", 0.1, "d", "=f", 0.1, "both"),
]


def sheet(folder: Path, *answers: str, **changes: str) -> Path:
    """The questions, with these answers; `changes` are made to the second row."""
    path = folder / "q.csv"
    write_sheet(ASKED, path)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row, answer in zip(rows, answers, strict=False):
        row["answer"] = answer
    rows[1] |= changes
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_answers_come_back_with_how_their_pairs_were_picked(tmp_path: Path) -> None:
    answers, left = read_sheet(sheet(tmp_path, " Yes", "R"), IDS, "ann")
    assert left == 1
    told = [(one.source, one.target, one.answer, one.origin, one.chance) for one in answers]
    assert told == [("=f", "l", "yes", "asked", None), ("l", "d", "reversed", "drawn", 0.0123)]
    assert {one.who for one in answers} == {"ann"}


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    write_sheet(ASKED, tmp_path / "q.csv")
    with (tmp_path / "q.csv").open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)


@pytest.mark.parametrize(
    ("changes", "column", "remedy"),
    [
        ({"answer": "perhaps"}, "answer", "yes, no or reversed"),
        ({"then_id": "=f"}, "question", "never asked.*into pairs.csv"),
        ({"question": "asked b4287e4f"}, "question", "never asked"),
        ({"question": "drawn 0.5 b4287e4f"}, "question", "never asked"),
        ({"question": "drawn x b4287e4f"}, "question", "never asked"),
        ({"question": ""}, "question", "never asked"),
        ({"first_id": "nowhere"}, "first_id", "no such concept"),
    ],
)
def test_a_wrong_row_is_named_with_its_remedy(
    tmp_path: Path, changes: dict[str, str], column: str, remedy: str
) -> None:
    with pytest.raises(CourseError, match=remedy) as found:
        read_sheet(sheet(tmp_path, "yes", "no", **changes), IDS, "ann")
    (problem,) = found.value.problems
    assert (problem.row, problem.column) == (3, column)


def test_two_answers_to_one_question(tmp_path: Path) -> None:
    path = sheet(tmp_path, "yes")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, lines[1].replace("yes", "no")]) + "\n")
    with pytest.raises(CourseError, match="another answer above"):
        read_sheet(path, IDS, "ann")


def test_what_a_spreadsheet_program_may_do_is_named(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("first;then;answer\nA;B;yes\n")
    with pytest.raises(CourseError, match="save it as CSV with commas"):
        read_sheet(path, IDS, "ann")
    with pytest.raises(CourseError, match="save the spreadsheet as CSV"):
        read_sheet(tmp_path / "q.xlsx", IDS, "ann")
    with pytest.raises(CourseError, match="cannot be read"):
        read_sheet(tmp_path / "nowhere.csv", IDS, "ann")
