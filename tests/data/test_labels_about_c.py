"""What became of C++ in the labels of MOOC and UCD: the proofs."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from proprl.data import Course, load_benchmark

pytestmark = pytest.mark.publicdata

# The pairs as they were published first; of a row, the second comes before the first.
ORIGINAL = {"mooc": "prereq/mooc/cs_preq.csv", "ucd": "prereq/university/cs_preqs.csv"}
# As LCPRE released them, in names without signs.
WITHOUT_SIGNS = {"mooc": "lcpre/MOOC/cc.csv", "ucd": "lcpre/UCD/cc.csv"}

BEFORE_C_PLUS_PLUS = {
    "Object-oriented programming",
    "Floating point",
    "Computer",
    "Computer programming",
}
BEFORE_C = {"Computer", "Computer programming", "Computing", "Arithmetic", "Programming language"}


@pytest.mark.parametrize("name", ["mooc", "ucd"])
class TestLabelsAboutC:
    def test_positives_are_the_original_pairs(self, name: str, public_data: Path) -> None:
        original = _pairs(public_data / ORIGINAL[name])
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

    def test_the_name_lost_its_signs_on_the_way(self, name: str, public_data: Path) -> None:
        """And C was then looked for among the concepts."""
        listed = _pairs(public_data / WITHOUT_SIGNS[name])
        names = {concept for pair in listed for concept in pair}
        assert "c++" not in names
        assert {a for a, b in listed if b == "c"} == {
            before.lower().replace("-", " ") for before in BEFORE_C_PLUS_PLUS
        }


def test_a_negative_that_is_a_positive_turned_round_goes_with_it(public_data: Path) -> None:
    course = load_benchmark("ucd", public_data)
    labelled = course.labelled_pairs()
    negatives = _named(course, labelled.pairs[labelled.labels == 0])
    assert ("C++", "Object-oriented programming") in negatives
    assert ("C (programming language)", "Object-oriented programming") not in negatives


def _pairs(file: Path) -> set[tuple[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        rows = [[cell.strip().replace("_", " ") for cell in row[:2]] for row in csv.reader(lines)]
    return {(row[1], row[0]) for row in rows if len(row) == 2}


def _renamed(pair: tuple[str, str], old: str, new: str) -> tuple[str, str]:
    a, b = (new if name == old else name for name in pair)
    return a, b


def _positives(course: Course) -> set[tuple[str, str]]:
    return _named(course, course.labelled_pairs().positives)


def _named(course: Course, pairs: object) -> set[tuple[str, str]]:
    return {(course.names[a], course.names[b]) for a, b in pairs.tolist()}  # type: ignore[attr-defined]
