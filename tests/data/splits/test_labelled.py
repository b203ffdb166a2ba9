"""Labelled pairs, and where they come from: chosen by people, asked by a model, or drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelled_by_hand import chain, labelled
from proprl.data import Course, check_course, course_facts, read_course, write_course
from proprl.data.splits.folds import leak_free_folds, new_concept_splits, with_fewer_labels
from proprl.data.splits.labelled import ORIGINS, LabelledPairs
from proprl.data.splits.parts import PairSplit, given_split, grouped_split, random_split
from proprl.errors import CourseError, Problem, SplitError

NAN = float("nan")
CONCEPTS = pl.DataFrame({"id": ["f", "l", "d"], "name": ["Functions", "Limits", "Derivatives"]})


def three() -> LabelledPairs:
    """One label of each origin."""
    return LabelledPairs(
        np.array([[0, 1], [1, 2], [2, 0]]),
        np.array([1, 1, 0]),
        np.array(["chosen", "asked", "drawn"]),
        np.array([NAN, NAN, 0.25]),
    )


class TestLabelledPairs:
    def test_holds_int64_arrays(self) -> None:
        pairs = LabelledPairs(np.array([[0, 1], [2, 1]], dtype=np.int32), np.array([True, False]))
        assert pairs.pairs.dtype == pairs.labels.dtype == np.int64
        assert len(pairs) == 2
        assert pairs.positives.tolist() == [[0, 1]]
        assert pairs.positive_share == 0.5

    def test_take_keeps_the_order_asked_for(self) -> None:
        pairs = labelled([(0, 1, 1), (1, 2, 0), (2, 3, 1)])
        assert pairs.take(np.array([2, 0])) == labelled([(2, 3, 1), (0, 1, 1)])
        assert pairs.take(np.array([True, False, True])) == labelled([(0, 1, 1), (2, 3, 1)])

    def test_empty(self) -> None:
        none = LabelledPairs.empty()
        assert len(none) == 0
        assert none.positives.shape == (0, 2)
        assert np.isnan(none.positive_share)

    def test_equality_is_by_value(self) -> None:
        assert chain(2, 2) == chain(2, 2)
        assert chain(2, 2) != chain(3, 1)
        assert chain(2, 2) != "pairs"

    @pytest.mark.parametrize(
        ("pairs", "labels", "message"),
        [
            ([[0, 1, 2]], [1], r"pairs must have shape \(m, 2\), not \(1, 3\)"),
            ([0, 1], [1], r"pairs must have shape \(m, 2\), not \(2,\)"),
            ([[0, 1]], [1, 0], r"shape \(1,\), not \(2,\)"),
            ([[0, 1], [1, 2]], [1, 2], "labels must be 0 or 1: entry 1 is 2"),
            ([[0, 1], [-1, 2]], [1, 0], r"entry 1 is \(-1, 2\)"),
            ([[0, 1], [1, 2**40]], [1, 0], "concept rows"),
            ([[0.5, 1]], [1], "pairs must be whole numbers, not float64"),
            ([[0, 1]], ["1"], "labels must be whole numbers"),
        ],
    )
    def test_wrong_input_is_named(self, pairs: object, labels: object, message: str) -> None:
        with pytest.raises(SplitError, match=message):
            LabelledPairs(np.array(pairs), np.array(labels))


class TestOrigins:
    def test_labels_are_chosen_unless_said_otherwise(self) -> None:
        labelled = LabelledPairs(np.array([[0, 1], [1, 2]]), np.array([1, 0]))
        assert labelled.origin.tolist() == ["chosen", "chosen"]
        assert np.isnan(labelled.chance).all()
        assert LabelledPairs.empty().origin.shape == LabelledPairs.empty().chance.shape == (0,)

    def test_taking_pairs_takes_where_they_come_from(self) -> None:
        taken = three().take(np.array([2, 0]))
        assert taken.origin.tolist() == ["drawn", "chosen"]
        assert taken.chance[0] == 0.25
        assert np.isnan(taken.chance[1])

    def test_of_a_repeated_pair_the_first_says_where_it_comes_from(self) -> None:
        repeated = LabelledPairs(
            np.array([[1, 2], [0, 1], [0, 1]]),
            np.array([1, 0, 0]),
            np.array(["chosen", "asked", "chosen"]),
        )
        assert repeated.distinct().origin.tolist() == ["asked", "chosen"]

    def test_joining_keeps_every_pair_in_order(self) -> None:
        plain = LabelledPairs(np.array([[0, 2]]), np.array([0]))
        joined = plain.joined(three(), LabelledPairs.empty(), plain)
        assert joined.pairs.tolist() == [[0, 2], [0, 1], [1, 2], [2, 0], [0, 2]]
        assert joined.labels.tolist() == [0, 1, 1, 0, 0]
        assert joined.origin.tolist() == ["chosen", "chosen", "asked", "drawn", "chosen"]
        assert joined.chance[3] == 0.25
        assert plain.joined() == plain
        assert LabelledPairs.empty().joined(three()) == three()

    def test_labels_that_come_from_elsewhere_are_not_equal(self) -> None:
        assert three() == three()
        assert three() != replace(three(), chance=np.array([NAN, NAN, 0.5]))
        other = np.array(["asked", "asked", "drawn"])
        assert three() != replace(three(), origin=other)
        assert three() != LabelledPairs(three().pairs, three().labels)

    @pytest.mark.parametrize(
        ("origin", "chance", "message"),
        [
            (["asked"], [NAN], r"origin must have one entry per pair: shape \(2,\), not \(1,\)"),
            (["asked"] * 2, [NAN], r"chance must have one entry per pair.*not \(1,\)"),
            (["asked", "guessed"], [NAN] * 2, "chosen, asked, drawn: entry 1 is 'guessed'"),
            (["drawn", "asked"], [NAN] * 2, "a drawn pair needs its chance.*entry 0 is nan"),
            (["drawn", "drawn"], [1, 0], "above 0 and at most 1: entry 1 is 0.0"),
            (["drawn", "drawn"], [1.5, 1], "entry 0 is 1.5"),
            (["chosen", "asked"], [NAN, 0.5], "entry 1 is 'asked' and has 0.5"),
            (["chosen", "asked"], ["a", "b"], "chance must hold numbers"),
        ],
    )
    def test_wrong_input_is_named(self, origin: list[str], chance: Any, message: str) -> None:
        with pytest.raises(SplitError, match=message):
            LabelledPairs(
                np.array([[0, 1], [1, 2]]), np.array([1, 0]), np.array(origin), np.array(chance)
            )


@st.composite
def labels_of_all_origins(draw: st.DrawFn) -> LabelledPairs:
    """Different pairs with both labels, each of any origin; the chance names the pair."""
    pair = st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda p: p[0] != p[1])
    pairs = draw(st.lists(pair, min_size=12, max_size=50, unique=True))
    origins = draw(st.lists(st.sampled_from(ORIGINS), min_size=len(pairs), max_size=len(pairs)))
    rows = np.array(pairs)
    chance = np.where(np.array(origins) == "drawn", (1 + 12 * rows[:, 0] + rows[:, 1]) / 200, NAN)
    labels = np.arange(len(pairs)) % 2
    return LabelledPairs(rows, labels, np.array(origins), chance)


def as_rows(labelled: LabelledPairs) -> set[tuple[Any, ...]]:
    columns = (labelled.labels, labelled.origin, np.nan_to_num(labelled.chance, nan=-1.0))
    cells = zip(*(column.tolist() for column in columns), strict=True)
    return {(*pair, *row) for pair, row in zip(labelled.pairs.tolist(), cells, strict=True)}


SPLITTERS: dict[str, Callable[[LabelledPairs], PairSplit]] = {
    "given": lambda labelled: given_split(labelled, ["train"] * len(labelled)),
    "random": lambda labelled: random_split(labelled, seed=0),
    "grouped": lambda labelled: grouped_split(labelled, seed=0),
    "leak-free": lambda labelled: leak_free_folds(labelled, folds=3)[0],
    "new concepts": lambda labelled: new_concept_splits(labelled, repeats=1)[0],
    "fewer": lambda labelled: with_fewer_labels(grouped_split(labelled, seed=0), 0.5),
}


@pytest.mark.parametrize("splitter", SPLITTERS.values(), ids=SPLITTERS)
@given(labelled=labels_of_all_origins())
def test_every_split_carries_where_labels_come_from(
    splitter: Callable[[LabelledPairs], PairSplit], labelled: LabelledPairs
) -> None:
    try:
        split = splitter(labelled)
    except SplitError:  # too few labels of one kind for this split
        return
    parts = (split.train, split.validation, split.test)
    together = split.train.joined(split.validation, split.test)
    assert as_rows(together) <= as_rows(labelled)
    assert as_rows(together) == set().union(*(as_rows(part) for part in parts))
    if splitter not in (SPLITTERS["new concepts"], SPLITTERS["fewer"]):
        assert as_rows(together) == as_rows(labelled)


HEADER = "source,target,label,origin,chance\n"
SAID = HEADER + "f,l,1,,\nl,d,1,asked,\nd,f,0, Drawn ,0.25\n"


def folder_with(path: Path, pairs: str) -> Path:
    (path / "concepts.csv").write_text("id,name\nf,Functions\nl,Limits\nd,Derivatives\n")
    (path / "pairs.csv").write_text(pairs)
    return path


def course_with(**columns: Any) -> Course:
    """A course of three labelled pairs with these further columns."""
    ends = {"source": ["f", "l", "d"], "target": ["l", "d", "f"], "label": [1, 1, 0]}
    return Course.from_tables(concepts=CONCEPTS, pairs=pl.DataFrame(ends | columns))


class TestTheCourse:
    def test_both_columns_are_read(self, tmp_path: Path) -> None:
        labelled = read_course(folder_with(tmp_path, SAID)).labelled_pairs()
        assert labelled == three()

    def test_without_the_columns_people_chose_the_pairs(self, tmp_path: Path) -> None:
        course = read_course(folder_with(tmp_path, "source,target,label\nf,l,1\nd,f,0\n"))
        assert course.labelled_pairs().origin.tolist() == ["chosen", "chosen"]

    @pytest.mark.parametrize("format", ["csv", "parquet", "jsonl"])
    def test_writing_keeps_both_columns(self, tmp_path: Path, format: str) -> None:
        (tmp_path / "one").mkdir()
        course = read_course(folder_with(tmp_path / "one", SAID))
        write_course(course, tmp_path / "two", format=format)
        copy = read_course(tmp_path / "two")
        assert copy.labelled_pairs() == three()
        assert copy.fingerprint == course.fingerprint
        assert copy.tables()["pairs"].equals(course.tables()["pairs"])
        assert copy.tables()["pairs"].columns == ["source", "target", "label", "origin", "chance"]

    @given(chance=st.floats(0, 1, exclude_min=True))
    def test_a_frame_may_hold_what_labelled_pairs_hold(self, chance: float) -> None:
        labelled = replace(three(), chance=np.array([NAN, NAN, chance]))
        course = course_with(origin=labelled.origin.tolist(), chance=labelled.chance)
        assert course.labelled_pairs() == labelled

    def test_a_column_name_of_ones_own(self, tmp_path: Path) -> None:
        folder_with(tmp_path, SAID.replace("chance", "odds"))
        (tmp_path / "course.toml").write_text('[columns.pairs]\nchance = "odds"\n')
        assert read_course(tmp_path).labelled_pairs() == three()

    def test_what_a_course_holds_is_counted_by_origin(self, tmp_path: Path) -> None:
        facts = course_facts(read_course(folder_with(tmp_path, SAID)))
        assert [facts[f"{origin}_pairs"] for origin in ORIGINS] == [1, 1, 1]
        assert "asked_pairs" not in course_facts(course_with())


class TestTheFingerprint:
    def test_it_is_as_before_for_a_course_without_the_columns(self) -> None:
        course = Course.from_tables(
            concepts=pl.DataFrame({"id": ["f", "l"], "name": ["Functions", "Limits"]}),
            pairs=pl.DataFrame({"source": ["f"], "target": ["l"], "label": [1]}),
        )
        # Printed by the version before these columns were known.
        before = "fb14b1012a88dac74b9b2eff01adaf7fca5fa97b3bf7e96af7677dd2d7c5c7e9"
        assert course.fingerprint == before

    def test_saying_the_default_changes_nothing(self) -> None:
        chosen = course_with(origin=["chosen", "", "Chosen"], chance=[None, None, None])
        assert chosen.fingerprint == course_with().fingerprint

    def test_each_origin_and_each_chance_changes_it(self) -> None:
        courses = [
            course_with(),
            course_with(origin=["asked", "", ""]),
            course_with(origin=["", "asked", ""]),
            course_with(origin=["drawn", "", ""], chance=[0.5, None, None]),
            course_with(origin=["drawn", "", ""], chance=[0.25, None, None]),
        ]
        assert len({course.fingerprint for course in courses}) == len(courses)


FAULTS: dict[str, tuple[str, str, str | None, str]] = {
    "unknown origin": (
        HEADER + "f,l,1,guessed,\n",
        *("origin", "guessed", "one of chosen, asked, drawn, or empty, which means chosen"),
    ),
    "chance of 0": (HEADER + "f,l,1,drawn,0\n", "chance", "0", "above 0 and at most 1"),
    "chance above 1": (HEADER + "f,l,1,drawn,1.01\n", "chance", "1.01", "above 0 and at most 1"),
    "chance below 0": (HEADER + "f,l,1,drawn,-0.1\n", "chance", "-0.1", "above 0 and at most 1"),
    "endless chance": (HEADER + "f,l,1,drawn,inf\n", "chance", "inf", "above 0 and at most 1"),
    "a word for a chance": (HEADER + "f,l,1,drawn,few\n", "chance", "few", "must be a number"),
    "drawn without a chance": (
        HEADER + "f,l,1,drawn, \n",
        *("chance", " ", "must not be empty: a drawn pair needs its chance"),
    ),
    "drawn by no number": (HEADER + "f,l,1,drawn,NaN\n", "chance", "NaN", "must not be empty"),
    "drawn without the column": (
        "source,target,label,origin\nf,l,1,drawn\n",
        *("origin", "drawn", "add the column chance"),
    ),
    "chance of a chosen pair": (
        HEADER + "f,l,1,chosen,0.5\n",
        *("chance", "0.5", "must be empty for a pair that was chosen"),
    ),
    "chance of an asked pair": (
        HEADER + "f,l,1,asked,0.5\n",
        *("chance", "0.5", "must be empty for a pair that was asked"),
    ),
    "chance without an origin": (
        "source,target,label,chance\nf,l,1,0.5\n",
        *("chance", "0.5", "empty it, or set origin to drawn"),
    ),
}


@pytest.mark.parametrize(("pairs", "column", "value", "expected"), FAULTS.values(), ids=FAULTS)
def test_each_fault_is_told_once_with_place_and_remedy(
    tmp_path: Path, pairs: str, column: str, value: str | None, expected: str
) -> None:
    folder_with(tmp_path, pairs)
    (problem,) = check_course(tmp_path)[0]
    assert (problem.file, problem.row, problem.column) == ("pairs.csv", 2, column)
    assert problem.value == value
    assert expected in problem.expected
    with pytest.raises(CourseError, match="pairs"):
        read_course(tmp_path)


def test_all_faults_of_a_file_are_told_together(tmp_path: Path) -> None:
    folder_with(tmp_path, HEADER + "f,l,1,drawn,2\nl,d,1,asked,0.5\nd,f,0,guessed,3\n")
    errors: list[Problem] = check_course(tmp_path)[0]
    assert [(error.row, error.column) for error in errors] == [
        (2, "chance"),
        (3, "chance"),
        (4, "origin"),
        (4, "chance"),
    ]
