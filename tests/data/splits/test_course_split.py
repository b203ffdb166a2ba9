"""Which labels of a course are learned from."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from proprl.data import Course
from proprl.data.splits.course_split import split_course
from proprl.errors import SplitError

NO_TEST = "every label was learned from: none was kept apart to judge by"


@pytest.fixture
def unparted(campus: Course) -> Course:
    """`campus` without its `split` column."""
    assert campus.pairs is not None
    return replace(campus, pairs=campus.pairs.drop("split"))


def positives(course: Course) -> Course:
    assert course.pairs is not None
    return replace(course, pairs=course.pairs.filter(pl.col("label") == 1))


def sizes(course: Course, protocol: str = "auto", **wanted: bool) -> tuple[int, int, int]:
    split = split_course(course, protocol, **wanted)
    return len(split.train), len(split.validation), len(split.test)


def test_a_given_test_part_stays_out(campus: Course) -> None:
    assert sizes(campus) == (424, 88, 88)
    assert split_course(campus).protocol == "given"


def test_without_the_column_everything_is_learned_from(unparted: Course) -> None:
    split = split_course(unparted)
    assert sizes(unparted) == (540, 60, 0)
    assert split.protocol == "all"
    assert split.notes == (NO_TEST,)
    assert split.proof.holds(promises_reversed=True)  # validation is drawn in both orders


def test_a_test_part_is_drawn_if_asked_for(unparted: Course) -> None:
    for protocol in ("grouped", "random"):
        assert sizes(unparted, protocol) == (480, 60, 60)
        assert NO_TEST not in split_course(unparted, protocol).notes


def test_the_column_can_be_ignored(campus: Course, unparted: Course) -> None:
    assert split_course(campus, "all") == split_course(unparted)


def test_prerequisites_alone_must_be_allowed(unparted: Course) -> None:
    alone = positives(unparted)
    for protocol in ("auto", "grouped", "random"):
        with pytest.raises(SplitError, match="add pairs with label 0"):
            split_course(alone, protocol)
    assert sizes(alone, positives_suffice=True) == (243, 27, 0)
    assert split_course(alone, positives_suffice=True).notes == (NO_TEST,)
    assert sizes(alone, "grouped", positives_suffice=True) == (216, 27, 27)
    assert split_course(alone, "grouped", positives_suffice=True).notes == ()


def test_a_given_train_part_may_hold_prerequisites_alone(campus: Course) -> None:
    alone = positives(campus)
    with pytest.raises(SplitError, match="add pairs with label 0"):
        split_course(alone)
    assert split_course(alone, positives_suffice=True).protocol == "given"


def test_rejected_pairs_alone_never_suffice(unparted: Course) -> None:
    assert unparted.pairs is not None
    rejected = replace(unparted, pairs=unparted.pairs.filter(pl.col("label") == 0))
    with pytest.raises(SplitError, match="add pairs with label 1"):
        split_course(rejected, positives_suffice=True)


def test_few_labels_are_no_crash(unparted: Course) -> None:
    assert unparted.pairs is not None
    two = pl.concat([unparted.pairs.filter(pl.col("label") == y).head(1) for y in (0, 1)])
    assert sizes(replace(unparted, pairs=two)) == (2, 0, 0)
