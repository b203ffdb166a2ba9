"""What became of C++ in the labels of MOOC and UCD: the proofs."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from proprl.data import Course, load_benchmark

pytestmark = pytest.mark.publicdata

# The pairs as they were published first; of a row, the second comes before the first.
ORIGINAL = {"mooc": "prereq/mooc/cs_preq.csv", "ucd": "prereq/university/cs_preqs.csv"}
# As LCPRE released them, in names of letters alone.
LETTERS_ALONE = {"mooc": "lcpre/MOOC/cc.csv", "ucd": "lcpre/UCD/cc.csv"}

BEFORE_C_PLUS_PLUS = {
    "Object-oriented programming",
    "Floating point",
    "Computer",
    "Computer programming",
}
BEFORE_C = {"Computer", "Computer programming", "Computing", "Arithmetic", "Programming language"}


@pytest.mark.parametrize("name", ["mooc", "ucd"])
class TestLabelsAboutC:
    def test_positives_are_the_original_pairs(
        self, name: str, public_data: Path, source: Callable[[str], Path]
    ) -> None:
        original = _pairs(source(ORIGINAL[name]))
        if name == "ucd":  # one article of Wikipedia has two names
            original = {_renamed(pair, "NP-complete", "NP-completeness") for pair in original}
        original = {(a, b) for a, b in original if a != b}
        assert _positives(load_benchmark(name, public_data)) == original

        released = _positives(load_benchmark(name, public_data, alignment="published"))
        c = "C (programming language)"
        assert released - original == {("Object-oriented programming", c), ("Floating point", c)}
        assert original - released == {(before, "C++") for before in BEFORE_C_PLUS_PLUS}

    def test_c_and_c_plus_plus_are_told_apart(self, name: str, public_data: Path) -> None:
        positives = _positives(load_benchmark(name, public_data))
        assert {a for a, b in positives if b == "C++"} == BEFORE_C_PLUS_PLUS
        assert {a for a, b in positives if b == "C (programming language)"} == BEFORE_C

    def test_the_name_lost_its_signs_on_the_way(
        self, name: str, source: Callable[[str], Path]
    ) -> None:
        """And C was then looked for among the concepts."""
        listed = _pairs(source(LETTERS_ALONE[name]))
        names = {concept for pair in listed for concept in pair}
        assert "c++" not in names
        assert {a for a, b in listed if b == "c"} == {
            before.lower().replace("-", " ") for before in BEFORE_C_PLUS_PLUS
        }


OOP, FLOATS = "Object-oriented programming", "Floating point"


@pytest.mark.parametrize(
    ("name", "moved"),
    [
        (
            "mooc",
            {
                (OOP, "C++", 1, "train"),
                (FLOATS, "C++", 1, "train"),
                ("Computer programming", "C++", 1, "train"),
                ("Computer", "C++", 1, "test"),  # the other of its two rows is in train
            },
        ),
        (
            "ucd",
            {
                (OOP, "C++", 1, "validation"),
                (FLOATS, "C++", 1, "train"),
                ("Computer programming", "C++", 1, "train"),
                ("Computer", "C++", 1, "train"),
                ("C++", OOP, 0, "train"),  # a positive turned round goes with it
            },
        ),
    ],
)
def test_no_other_row_is_moved(
    name: str, moved: set[tuple[str, str, int, str]], public_data: Path
) -> None:
    """Among the negatives of C some may have been of C++; nothing tells which."""
    released, fixed = (
        _rows(load_benchmark(name, public_data, alignment=alignment))
        for alignment in ("published", "fixed")
    )
    assert {new for old, new in zip(released, fixed, strict=True) if old != new} == moved


def _pairs(file: Path) -> set[tuple[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        rows = [[cell.strip().replace("_", " ") for cell in row[:2]] for row in csv.reader(lines)]
    return {(row[1], row[0]) for row in rows if len(row) == 2}


def _renamed(pair: tuple[str, str], old: str, new: str) -> tuple[str, str]:
    a, b = (new if name == old else name for name in pair)
    return a, b


def _positives(course: Course) -> set[tuple[str, str]]:
    return {(a, b) for a, b, label, _ in _rows(course) if label == 1}


def _rows(course: Course) -> list[tuple[str, str, int, str]]:
    name_of = dict(zip(course.ids, course.names, strict=True))
    rows = course.pairs.select("source", "target", "label", "split").rows()
    return [(name_of[a], name_of[b], label, part) for a, b, label, part in rows]
