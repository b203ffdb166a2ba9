"""Which topics LectureBank's labels mean: the proofs.

Topics have numbers here: 1 to 322 in LectureBank's list, and those of its older list of 208.
"""

from __future__ import annotations

import csv
import re
from bisect import bisect_left
from collections.abc import Callable
from pathlib import Path

import pytest

from proprl.data import Course, load_benchmark
from proprl.data.public import BENCHMARKS

pytestmark = pytest.mark.publicdata

Numbers = tuple[int, int]  # of a prerequisite and of what depends on it

OF_ONE_NAME, BEHIND_COMMAS = (
    BENCHMARKS["lecturebank"].other_topics[:3],
    BENCHMARKS["lecturebank"].other_topics[3:],
)

# What annotators of the older list saw from its line with two commas on.
SEEN_BY_ANNOTATORS = {
    205: "information theory: coding",
    206: "compression",
    207: "mutual information",
    208: "data structures and algorithms",
    209: "graph theory",
    210: "relational databases",
    211: "dual decomposition",
}


@pytest.fixture
def topics(public_data: Path) -> dict[int, str]:
    """The names of the 322 topics."""
    return _topics(public_data / "lecturebank/322topics_final.tsv", "|")


@pytest.fixture
def listed(source: Callable[[str], Path]) -> list[tuple[str, str]]:
    """LCPRE's list of prerequisites, in order, in names without hyphens: dependent, prerequisite.

    Its names are one topic out, as those of the labels are, which were taken from it.
    """
    return _rows(source("lcpre/LB2/cc.csv"), ",")[1:]  # type: ignore[return-value]


def test_labels_mean_what_the_annotators_said(topics: dict[int, str], public_data: Path) -> None:
    folder = public_data / "lecturebank"
    older = _topics(folder / "208topics.csv", ",") | SEEN_BY_ANNOTATORS
    said = {
        (_plain(names[a]), _plain(names[b]))
        for names, file in (
            (older, "prerequisite_annotation.csv"),
            (topics, "final_new_annotation.csv"),
        )
        for (a, b), label in _annotations(folder / file).items()
        if label == 1
    }
    fixed = load_benchmark("lecturebank", public_data)
    assert len(_positives(fixed)) == 601
    assert _said(fixed, said) == 354

    # The next row of the released list is the next topic for two of three.
    published = load_benchmark("lecturebank", public_data, alignment="published")
    assert _said(published, said, shift=1) == 257
    for shift in (-3, -2, -1, 0, 2, 3, 4):
        assert _said(published, said, shift=shift) <= 12


def test_labels_count_in_the_list_of_topics(topics: dict[int, str], public_data: Path) -> None:
    """GKROM's index is that list, but for two names that stand in it twice."""
    index = list(_topics(public_data / "gkrom/LectureBank/concepts_index.csv", ",").values())
    for place, name in BENCHMARKS["lecturebank"].repeated_topics or ():
        index.insert(place, name)
    assert [_plain(name) for name in index] == [_plain(name) for name in topics.values()]


def test_prerequisites_are_listed_by_number(
    listed: list[tuple[str, str]], topics: dict[int, str]
) -> None:
    sure = [numbers[0] for numbers in _numbers(listed, topics) if len(numbers) == 1]
    assert len(sure) == 1341
    assert sure == sorted(sure)


def test_so_a_place_in_the_list_tells_topics_of_one_name_apart(
    listed: list[tuple[str, str]], topics: dict[int, str], public_data: Path
) -> None:
    candidates = _numbers(listed, topics)
    sure = [numbers[0] for numbers in candidates if len(numbers) == 1]
    meant: dict[tuple[str, str], set[tuple[str, str]]] = {}
    open_questions = []
    place = 0
    for (dependent, prerequisite), numbers in zip(listed, candidates, strict=True):
        if len(numbers) == 1:
            place = bisect_left(sure, numbers[0], lo=place)
        before, after = sure[max(place, 0)], sure[min(place + 1, len(sure) - 1)]
        fitting = [n for n in numbers if len(numbers) == 1 or before <= n <= after]
        open_questions += [(prerequisite, dependent)] * (len(fitting) > 1)
        names = {(topics[a + 1], topics[b + 1]) for a, b in fitting}
        meant.setdefault((prerequisite, dependent), set()).update(names)
    assert open_questions == [
        ("random forest", "named entity recognition"),
        ("policy gradient methods", "first order logic"),
    ]
    said = _annotations(public_data / "lecturebank/final_new_annotation.csv")
    numbers_of = {name: number for number, name in reversed(topics.items())}

    def denied(pair: tuple[str, str]) -> bool:
        return said.get((numbers_of[pair[0]], numbers_of[pair[1]])) == 0

    for pair in open_questions:
        meant[pair] = {names for names in meant[pair] if not denied(names)}
        assert len(meant[pair]) == 1

    published = load_benchmark("lecturebank", public_data, alignment="published")
    fixed = load_benchmark("lecturebank", public_data)
    told_apart = set()
    for (a, b), (c, d) in zip(
        published.labelled_pairs().positives, fixed.labelled_pairs().positives, strict=True
    ):
        label = (published.names[a], published.names[b])
        if _is_behind_commas(label):
            continue
        assert (fixed.names[c], fixed.names[d]) in meant[_plain(label[0]), _plain(label[1])]
        told_apart |= {
            (each.name, beside)
            for each in OF_ONE_NAME
            for beside in each.beside
            if {each.name, beside} == set(label)
        }
    assert len(told_apart) == sum(len(each.beside) for each in OF_ONE_NAME)


class TestTheOlderAnnotation:
    """Its numbers go on where the list of its topics ends: one line was read as three topics."""

    def test_the_line_with_commas(self, public_data: Path) -> None:
        folder = public_data / "lecturebank"
        lines = (folder / "208topics.csv").read_text(encoding="utf-8").splitlines()
        line = next(line for line in lines if line.startswith("205,"))
        assert line.startswith("205,Information Theory: coding, compression, mutual information,")
        listed = _topics(folder / "208topics.csv", ",")
        assert max(listed) == 209
        assert {n: listed[n] for n in range(206, 210)} == {
            n: SEEN_BY_ANNOTATORS[n + 2] for n in range(206, 210)
        }
        said = _annotations(folder / "prerequisite_annotation.csv")
        assert max(max(pair) for pair in said) == 211

    def test_annotators_say_yes_to_what_these_labels_mean(
        self, topics: dict[int, str], public_data: Path
    ) -> None:
        folder = public_data / "lecturebank"
        said = _annotations(folder / "prerequisite_annotation.csv")
        newer = _annotations(folder / "final_new_annotation.csv")
        names = _topics(folder / "208topics.csv", ",") | SEEN_BY_ANNOTATORS
        number = {_plain(name): each for each, name in names.items()}
        number_of = {name: each for each, name in topics.items()}
        published = load_benchmark("lecturebank", public_data, alignment="published")
        fixed = load_benchmark("lecturebank", public_data)
        proved = 0
        for (a, b), (c, d) in zip(
            published.labelled_pairs().positives, fixed.labelled_pairs().positives, strict=True
        ):
            if not _is_behind_commas((published.names[a], published.names[b])):
                continue
            source, target = fixed.names[c], fixed.names[d]
            assert said[number[_plain(source)], number[_plain(target)]] == 1
            # Nobody says so of the topics that the list of 322 has next.
            wrong = tuple(topics[number_of[published.names[row]] + 1] for row in (a, b))
            assert said[number[_plain(wrong[0])], number[_plain(wrong[1])]] == 0
            assert newer.get((number_of[wrong[0]], number_of[wrong[1]])) != 1
            if "harmonic functions" not in (source, target):  # of which the two disagree
                assert newer.get((number_of.get(source, 0), number_of.get(target, 0))) != 0
            proved += 1
        assert proved == sum(len(each.beside) for each in BEHIND_COMMAS) == 9


def _positives(course: Course, shift: int = 0) -> list[tuple[str, str]]:
    """The positives by name, both ends moved by `shift` rows, as far as those are there."""
    moved = course.labelled_pairs().positives + shift
    inside = ((moved >= 0) & (moved < len(course))).all(axis=1)
    return [(course.names[a], course.names[b]) for a, b in moved[inside]]


def _said(course: Course, said: set[tuple[str, str]], *, shift: int = 0) -> int:
    pairs = _positives(course, shift)
    return sum((_plain(source), _plain(target)) in said for source, target in pairs)


def _is_behind_commas(label: tuple[str, str]) -> bool:
    return any(
        {each.name, beside} == set(label) for each in BEHIND_COMMAS for beside in each.beside
    )


def _plain(name: str) -> str:
    """A name in lower case and without anything but letters, as LCPRE writes it."""
    return " ".join(re.findall("[a-z]+", name.lower()))


def _numbers(listed: list[tuple[str, str]], topics: dict[int, str]) -> list[list[Numbers]]:
    """The numbers that each row of the list may stand for."""
    of_name: dict[str, list[int]] = {}
    for number, name in topics.items():
        of_name.setdefault(_plain(name), []).append(number)
    return [
        [(a, b) for a in of_name[_plain(prerequisite)] for b in of_name[_plain(dependent)]]
        for dependent, prerequisite in listed
    ]


def _rows(path: Path, delimiter: str) -> list[tuple[str, ...]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return [tuple(row) for row in csv.reader(lines, delimiter=delimiter) if row]


def _topics(path: Path, delimiter: str) -> dict[int, str]:
    return {int(row[0]): row[1] for row in _rows(path, delimiter)}


def _annotations(path: Path) -> dict[Numbers, int]:
    return {(int(a), int(b)): int(label) for a, b, label in _rows(path, ",")}
