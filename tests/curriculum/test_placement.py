"""A placement test on a map: what is asked, what follows, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from proprl.curriculum.graph import PrerequisiteGraph, labels_alone
from proprl.curriculum.placement import Placement, read_answers
from proprl.data import LabelledPairs
from proprl.errors import CourseError, ProprlError, UnknownConceptError

NAMES = ("Counting", "Fractions", "Limits", "Derivatives", "Series", "Verse", "Sonnets", "Poetry")


@pytest.fixture
def graph() -> PrerequisiteGraph:
    """Counting → Fractions → Limits → Derivatives and Series; Verse → Sonnets; Poetry alone."""
    pairs = np.array([[0, 1], [1, 2], [2, 3], [2, 4], [5, 6]])
    ids = [f"c{k}" for k in range(len(NAMES))]
    return labels_alone(ids, NAMES, LabelledPairs(pairs, np.ones(len(pairs), dtype=np.int64)))


def names(rows: list[int]) -> list[str]:
    return [NAMES[row] for row in rows]


def test_a_yes_settles_what_it_needs_and_a_no_what_needs_it(graph: PrerequisiteGraph) -> None:
    test = Placement(graph, slip=0, guess=0)
    test.answer(NAMES.index("Limits"), knows=True)
    test.answer(NAMES.index("Verse"), knows=False)
    test.answer(NAMES.index("Derivatives"), knows=False)
    test.answer(NAMES.index("Series"), knows=True)
    assert test.question() is None  # nothing is left open
    known = names(np.flatnonzero(test.state).tolist())
    assert known == ["Counting", "Fractions", "Limits", "Series"]
    assert names(test.learned_last()) == ["Series"]
    assert names(test.ready_for()) == ["Verse", "Derivatives"]  # Sonnets need Verse
    assert test.belief.doubt == 0
    assert test.least_sure() == test.spoken_against() == []


def test_concepts_that_stand_alone_have_no_part(graph: PrerequisiteGraph) -> None:
    test = Placement(graph)
    assert "Poetry" not in names(test.rows.tolist())
    assert names(test.alone.tolist()) == ["Poetry"]
    with pytest.raises(ProprlError, match="Poetry is no part of the test"):
        test.answer(NAMES.index("Poetry"), knows=True)


def test_only_what_a_target_needs_matters(graph: PrerequisiteGraph) -> None:
    test = Placement(graph, ["derivatives"])
    assert names(test.rows.tolist()) == ["Counting", "Fractions", "Limits", "Derivatives"]
    with pytest.raises(UnknownConceptError, match="did you mean 'Limits'"):
        Placement(graph, ["Limitz"])
    with pytest.raises(ProprlError, match="nothing in the map is needed"):
        Placement(graph, ["Poetry"])


def test_questions_end_with_the_budget(graph: PrerequisiteGraph) -> None:
    test = Placement(graph, at_most=2)
    for _ in range(2):
        row = test.question()
        assert row is not None
        test.answer(row, knows=True)
    assert test.question() is None
    assert Placement(graph).at_most == 2  # 40 % of seven
    with pytest.raises(ProprlError, match="at most 0 questions tell nothing"):
        Placement(graph, at_most=0)


def test_an_answer_that_is_taken_back_leaves_no_trace(graph: PrerequisiteGraph) -> None:
    test = Placement(graph)
    assert not test.undo()
    before, first = test.belief, test.question()
    assert first is not None
    test.answer(first, knows=True)
    assert test.undo()
    assert test.belief is before
    assert test.answers == []
    assert test.question() == first


def test_answers_that_contradict_the_map_are_refused_by_name(graph: PrerequisiteGraph) -> None:
    test = Placement(graph, slip=0, guess=0)
    test.answer(NAMES.index("Series"), knows=True)
    with pytest.raises(ProprlError, match="Series is known, and Limits, which it needs, is not"):
        test.answer(NAMES.index("Limits"), knows=False)
    with pytest.raises(ProprlError, match="Series has two answers"):
        test.answer(NAMES.index("Series"), knows=True)


def test_a_slip_is_overruled_by_the_other_answers(graph: PrerequisiteGraph) -> None:
    test = Placement(graph)
    for name, knows in (("Counting", False), ("Limits", True), ("Series", True)):
        test.answer(NAMES.index(name), knows)
    assert test.state[NAMES.index("Counting")]
    assert test.spoken_against() == [(NAMES.index("Counting"), False)]


def test_answers_are_read_from_a_table(tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    file.write_text("concept,answer\nlimits,Y\nb,no\n")
    assert read_answers(file, ["a", "b"], ["Limits", "Series"]) == [(0, True), (1, False)]


def test_everything_wrong_with_a_table_of_answers_is_said_at_once(tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    file.write_text("concept,answer\nLimit,y\nSeries,perhaps\nSeries,y\n")
    with pytest.raises(CourseError) as caught:
        read_answers(file, ["a", "b"], ["Limits", "Series"])
    found = [(p.row, p.column, p.expected) for p in caught.value.problems]
    assert found == [
        (2, "concept", "there is no concept 'Limit' in the course; did you mean 'Limits'?"),
        (3, "answer", "is y or n"),
        (4, "concept", "has an answer above: keep one of them"),
    ]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", "concept\nLimits\n", "must have the column answer; it has: concept"),
        ("a.csv", "", "the file is empty"),
        ("a.txt", "concept,answer\n", "must end in one of"),
        ("none.csv", None, "cannot be read"),
    ],
)
def test_what_is_no_table_of_answers_is_refused(
    tmp_path: Path, name: str, content: str | None, expected: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(CourseError, match=expected):
        read_answers(tmp_path / name, ["a"], ["Limits"])
