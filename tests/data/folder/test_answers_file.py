"""answers.csv: lines are added one by one, and whatever happens, earlier ones stay."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from proprl.data import check_course, read_course, write_course
from proprl.data.folder.answers_file import COLUMNS, Answer, AnswersFile
from proprl.errors import CourseError, OutputError
from small_folder import PAIRS, make_folder, places

HEADER = ",".join(COLUMNS) + "\n"
YES = Answer("l", "f", "no", "ann", "asked")
DRAWN = Answer("f", "d", "yes", 'Bob "B", of Kent', "drawn", 0.0123)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path, pairs=PAIRS)


def add(folder: Path, *answers: Answer) -> Path:
    file = AnswersFile(folder / "answers.csv")
    for answer in answers:
        file.add(answer)
    return file.path


def test_answers_are_labels_and_pairs_stay_as_they_are(folder: Path) -> None:
    before = read_course(folder)
    path = add(folder, YES, DRAWN)
    course = read_course(folder)
    known = course.labelled_pairs()
    assert known.pairs.tolist() == [[0, 1], [1, 2], [2, 0], [1, 0], [0, 2]]
    assert known.labels.tolist() == [1, 1, 0, 0, 1]
    assert known.origin.tolist() == ["chosen"] * 3 + ["asked", "drawn"]
    assert known.chance.tolist()[-1] == 0.0123
    assert (folder / "pairs.csv").read_bytes() == PAIRS
    assert path.read_text().startswith(HEADER + "l,f,no,ann,20")
    # What was trained before is not taken for a model of the course as it is now.
    assert course.fingerprint != before.fingerprint


def test_a_course_with_answers_reads_back_the_same(folder: Path, tmp_path: Path) -> None:
    add(folder, YES, DRAWN)
    course = read_course(folder)
    write_course(course, tmp_path / "copy", format="jsonl")
    again = read_course(tmp_path / "copy")
    assert again.fingerprint == course.fingerprint
    assert (tmp_path / "copy" / "answers.csv").exists()


@pytest.mark.parametrize("damage", ["l,d", 'd,f,no,ann,2026,drawn,"0.0', "l,d,no,an\0\0", "\0\0\0"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_damaged_last_line_is_a_warning_and_makes_room(
    folder: Path, damage: str, end: str
) -> None:
    path = add(folder, YES)
    whole = path.read_text()
    path.write_text(whole + damage + end)
    errors, warnings = check_course(folder)
    assert errors == []
    assert places(warnings) == [("answers.csv", 3, None)]
    assert "last line is damaged" in warnings[0].expected
    assert len(read_course(folder).labelled_pairs()) == 4
    # The next answer does not stick to half of another one.
    file = AnswersFile(path)
    assert file.taken_out == damage.replace("\0", "")
    file.add(DRAWN)
    assert path.read_text().startswith(whole + "f,d,yes")
    assert check_course(folder) == ([], [])


def test_every_line_that_is_cut_off_is_seen_to_be_damaged(folder: Path) -> None:
    path = add(folder, YES)
    start = len(path.read_bytes())
    whole = add(folder, DRAWN).read_bytes()
    for end in range(start + 1, len(whole) - 1):
        path.write_bytes(whole[:end])
        assert places(check_course(folder)[1]) == [("answers.csv", 3, None)]
    path.write_bytes(whole[:-1])  # only the line's end is missing
    assert check_course(folder) == ([], [])


def test_damage_before_the_last_line_is_an_error(folder: Path) -> None:
    path = add(folder, YES)
    path.write_text(f"{HEADER}l,d\nl,f,no,ann,2026,asked,\n")
    assert places(check_course(folder)[0]) == [("answers.csv", 2, None)]


@pytest.mark.parametrize("content", ["", HEADER])
def test_a_file_without_answers_is_no_problem(folder: Path, content: str) -> None:
    before = read_course(folder).fingerprint
    (folder / "answers.csv").write_text(content)
    assert check_course(folder) == ([], [])
    assert read_course(folder).fingerprint == before


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("l,nowhere,no,ann,2026,asked,", "target"),
        ("l,l,no,ann,2026,asked,", "target"),
        ("l,f,perhaps,ann,2026,asked,", "answer"),
        ("l,f,no,ann,2026,chosen,", "origin"),
        ("l,f,no,ann,2026,drawn,", "chance"),
        ("l,f,no,ann,2026,drawn,2", "chance"),
        ("l,f,no,ann,2026,asked,0.5", "chance"),
    ],
)
def test_what_cannot_be_understood_is_an_error(folder: Path, line: str, column: str) -> None:
    (folder / "answers.csv").write_text(f"{HEADER}{line}\n")
    with pytest.raises(CourseError) as found:
        read_course(folder)
    assert places(list(found.value.problems)) == [("answers.csv", 2, column)]


def test_people_who_disagree_are_listed(folder: Path) -> None:
    add(folder, YES, Answer("l", "f", "yes", "bob", "asked"))
    errors, warnings = check_course(folder)
    assert errors == []
    assert places(warnings) == [("answers.csv", 3, None)]
    assert "ann says no to l → f, bob says yes to l → f" in warnings[0].expected


def test_another_kind_of_file_is_not_read_in_silence(folder: Path) -> None:
    (folder / "answers.jsonl").write_text("{}\n")
    assert "did you mean answers.csv?" in check_course(folder)[1][0].expected


def test_a_full_disk_leaves_what_was_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = add(folder, YES)
    before, write = path.read_bytes(), os.write

    def full(descriptor: int, content: bytes) -> int:
        """Half of a line fits."""
        if len(content) < 20:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, content[: len(content) // 2])

    file = AnswersFile(path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OutputError, match=r"No space left.*all before it are"):
            file.add(DRAWN)
    assert path.read_bytes() == before
    file.add(DRAWN)
    assert len(read_course(folder).labelled_pairs()) == 5


def test_an_answer_is_one_line_whatever_a_person_is_called(folder: Path) -> None:
    add(folder, Answer("l", "f", "no", "Ann\nof Kent, \u2028x", "asked"))
    course = read_course(folder)
    assert course.answers is not None
    assert course.answers["who"].to_list() == ["Ann of Kent, x"]
