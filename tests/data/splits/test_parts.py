"""Splits of labelled pairs: what is promised about them is counted, not claimed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelled_by_hand import chain, is_disjoint, labelled
from proprl.data import Course
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import (
    PairSplit,
    given_split,
    grouped_split,
    random_split,
    split_course,
)
from proprl.errors import SplitError

Splitter = Callable[..., PairSplit]
BOTH = pytest.mark.parametrize("splitter", [random_split, grouped_split])


def rows_of(part: LabelledPairs) -> set[tuple[int, int, int]]:
    return {(s, t, y) for (s, t), y in zip(part.pairs.tolist(), part.labels.tolist(), strict=True)}


def parts_of(split: PairSplit) -> tuple[LabelledPairs, LabelledPairs, LabelledPairs]:
    return split.train, split.validation, split.test


def groups_holding(pairs: LabelledPairs, label: int, *, grouped: bool) -> int:
    return len(
        {
            frozenset((s, t)) if grouped else (s, t)
            for s, t in pairs.pairs[pairs.labels == label].tolist()
        }
    )


@st.composite
def any_labels(draw: st.DrawFn) -> LabelledPairs:
    """Pairs with repeats and reverses, one label per ordered pair, both labels present."""
    concepts = st.integers(0, 7)
    drawn = draw(
        st.dictionaries(st.tuples(concepts, concepts), st.integers(0, 1), min_size=2, max_size=50)
    )
    keys = list(drawn)
    drawn[keys[0]], drawn[keys[1]] = 0, 1
    repeats = draw(st.lists(st.sampled_from(keys), max_size=10))
    return labelled([(*key, drawn[key]) for key in [*keys, *repeats]])


class TestShared:
    def test_a_leaky_split_is_counted_exactly(self) -> None:
        split = PairSplit(
            train=labelled([(0, 1, 1), (1, 2, 1), (3, 4, 0), (5, 6, 1)]),
            validation=labelled([(1, 0, 0), (4, 3, 0), (7, 8, 1)]),
            test=labelled([(0, 1, 1), (1, 2, 1), (2, 1, 0), (8, 7, 0), (9, 9, 0)]),
            protocol="given",
            promises_reversed=False,
        )
        # Both in train and test: (0, 1) and (1, 2).
        assert split.shared() == {
            "train/validation": 0,
            "train/test": 2,
            "validation/test": 0,
        }
        # (0, 1) and (3, 4) of train stand reversed in validation; (1, 2) of train in test;
        # (1, 0) and (7, 8) of validation in test.
        assert split.shared(reverse=True) == {
            "train/validation": 2,
            "train/test": 1,
            "validation/test": 2,
        }
        assert not is_disjoint(split, reverse=False)

    def test_repeats_within_a_part_count_once(self) -> None:
        again = labelled([(0, 1, 1), (0, 1, 1), (1, 2, 0)])
        split = PairSplit(again, again, LabelledPairs.empty(), "given", False)
        assert split.shared()["train/validation"] == 2

    def test_reverses_break_only_the_promise_about_reverses(self) -> None:
        split = PairSplit(
            labelled([(0, 1, 1)]), labelled([(1, 0, 0)]), LabelledPairs.empty(), "random", False
        )
        assert is_disjoint(split, reverse=False)
        assert not is_disjoint(split, reverse=True)


class TestDrawnSplits:
    @BOTH
    @settings(max_examples=60)
    @given(pairs=any_labels(), seed=st.integers(0, 10))
    def test_parts_are_disjoint_and_complete(
        self, splitter: Splitter, pairs: LabelledPairs, seed: int
    ) -> None:
        split = splitter(pairs, seed=seed)
        assert is_disjoint(split, reverse=split.promises_reversed)
        assert set.union(*map(rows_of, parts_of(split))) == rows_of(pairs)
        assert sum(map(len, parts_of(split))) == len(rows_of(pairs))

    @BOTH
    @settings(max_examples=60)
    @given(pairs=any_labels(), seed=st.integers(0, 10))
    def test_three_groups_of_each_label_serve_every_part(
        self, splitter: Splitter, pairs: LabelledPairs, seed: int
    ) -> None:
        split = splitter(pairs, seed=seed)
        grouped = splitter is grouped_split
        assert set(split.train.labels.tolist()) == {0, 1}
        if min(groups_holding(pairs, label, grouped=grouped) for label in (0, 1)) >= 3:
            assert all(set(part.labels.tolist()) == {0, 1} for part in parts_of(split))
            assert not any("too few" in note for note in split.notes)
        else:
            assert any("train is served first" in note for note in split.notes)

    @BOTH
    @settings(max_examples=50, deadline=None)
    @given(pairs=any_labels(), seed=st.integers(0, 10), order=st.randoms())
    def test_only_the_seed_decides(
        self, splitter: Splitter, pairs: LabelledPairs, seed: int, order: Random
    ) -> None:
        rows = list(range(len(pairs)))
        order.shuffle(rows)
        assert splitter(pairs, seed=seed) == splitter(pairs.take(np.array(rows)), seed=seed)

    @BOTH
    def test_another_seed_gives_another_split(self, splitter: Splitter) -> None:
        assert splitter(chain(20, 20), seed=1).test != splitter(chain(20, 20), seed=2).test

    @BOTH
    def test_every_pair_can_fall_into_every_part(self, splitter: Splitter) -> None:
        tests = [rows_of(splitter(chain(10, 10), seed=seed).test) for seed in range(60)]
        assert set.union(*tests) == rows_of(chain(10, 10))

    @BOTH
    def test_labels_are_shared_as_the_fractions_say(self, splitter: Splitter) -> None:
        split = splitter(chain(60, 140), fractions=(0.5, 0.3, 0.2), seed=3)
        assert [len(part) for part in parts_of(split)] == [100, 60, 40]
        assert [part.positive_share for part in parts_of(split)] == [0.3, 0.3, 0.3]
        assert split.notes == ()

    @BOTH
    def test_forty_labels_are_enough(self, splitter: Splitter) -> None:
        split = splitter(chain(20, 20), seed=0)
        assert [len(part) for part in parts_of(split)] == [32, 4, 4]
        assert [part.positive_share for part in parts_of(split)] == [0.5, 0.5, 0.5]

    @BOTH
    def test_three_percent_of_positives_reach_every_part(self, splitter: Splitter) -> None:
        split = splitter(chain(3, 97), seed=0)
        assert [len(part.positives) for part in parts_of(split)] == [1, 1, 1]

    @BOTH
    def test_few_positives_serve_train_then_validation_then_test(self, splitter: Splitter) -> None:
        two = splitter(chain(2, 30), seed=0)
        assert [len(part.positives) for part in parts_of(two)] == [1, 1, 0]
        assert two.notes[0] == "test holds no pair with label 1: it has no AUC"
        one = splitter(chain(1, 30), seed=0)
        assert [len(part.positives) for part in parts_of(one)] == [1, 0, 0]
        least = splitter(chain(1, 1), seed=0)
        assert [len(part) for part in parts_of(least)] == [2, 0, 0]
        assert {"validation is empty", "test is empty"} <= set(least.notes)

    def test_pairs_labelled_in_both_orders_serve_both_labels(self) -> None:
        mutual = labelled([row for i in range(3) for row in ((i, i + 9, 1), (i + 9, i, 0))])
        split = grouped_split(mutual, seed=0)
        assert [len(part) for part in parts_of(split)] == [2, 2, 2]
        assert [part.positive_share for part in parts_of(split)] == [0.5, 0.5, 0.5]

    def test_grouped_stratifies_by_the_labels_of_a_group(self) -> None:
        only_positive = chain(100, 0)
        only_negative = labelled([(i, i + 500, 0) for i in range(200)])
        both = labelled([row for i in range(50) for row in ((i, i + 900, 1), (i + 900, i, 0))])
        everything = LabelledPairs(
            np.concatenate([only_positive.pairs, only_negative.pairs, both.pairs]),
            np.concatenate([only_positive.labels, only_negative.labels, both.labels]),
        )
        split = grouped_split(everything, seed=5)
        # 80, 160 and 40 groups; the last hold two pairs each.
        assert [len(part) for part in parts_of(split)] == [320, 40, 40]
        assert [len(part.positives) for part in parts_of(split)] == [120, 15, 15]

    def test_random_promises_nothing_about_reverses(self) -> None:
        both_orders = labelled([row for i in range(50) for row in ((i, i + 90, 1), (i + 90, i, 0))])
        split = random_split(both_orders, seed=0)
        assert not split.promises_reversed
        assert is_disjoint(split, reverse=False)
        assert not is_disjoint(split, reverse=True)

    @BOTH
    def test_repeats_are_kept_once_and_noted(self, splitter: Splitter) -> None:
        pairs = chain(10, 10)
        twice = pairs.take(np.array([*range(20), 0, 0, 3]))
        split = splitter(twice, seed=0)
        assert sum(map(len, parts_of(split))) == 20
        assert split.notes == ("3 pairs left out: repeats of a pair that is kept once",)

    @BOTH
    def test_a_part_may_be_left_out(self, splitter: Splitter) -> None:
        split = splitter(chain(2, 8), fractions=(0.5, 0.5, 0), seed=0)
        assert [len(part.positives) for part in parts_of(split)] == [1, 1, 0]
        assert [len(part) for part in parts_of(split)] == [5, 5, 0]
        assert split.notes == ()

    @BOTH
    @pytest.mark.parametrize(
        "fractions",
        [(0.8, 0.1, 0.2), (1.1, -0.1, 0), (0, 0.5, 0.5), (0.5, 0.5), (np.nan, 1, 0)],
    )
    def test_fractions_must_make_sense(
        self, splitter: Splitter, fractions: tuple[float, ...]
    ) -> None:
        with pytest.raises(SplitError, match="sum to 1"):
            splitter(chain(5, 5), fractions=fractions, seed=0)

    @BOTH
    @pytest.mark.parametrize(
        ("pairs", "message"),
        [
            (chain(12, 0), "pairs has 12 positive and 0 negative labels: add pairs with label 0"),
            (chain(0, 7), "pairs has 0 positive and 7 negative labels: add pairs with label 1"),
            (LabelledPairs.empty(), "0 positive and 0 negative labels: add pairs with either"),
            (labelled([(3, 4, 1), (3, 4, 0)]), r"both label 0 and label 1, such as \(3, 4\)"),
        ],
    )
    def test_labels_that_cannot_be_split_say_what_to_provide(
        self, splitter: Splitter, pairs: LabelledPairs, message: str
    ) -> None:
        with pytest.raises(SplitError, match=message):
            splitter(pairs, seed=0)

    @BOTH
    def test_a_negative_seed_is_refused(self, splitter: Splitter) -> None:
        with pytest.raises(SplitError, match="seed must be 0 or greater"):
            splitter(chain(5, 5), seed=-1)


class TestGivenSplit:
    def test_parts_are_kept_as_named(self) -> None:
        pairs = labelled([(4, 5, 0), (0, 1, 1), (1, 2, 0), (2, 3, 1), (5, 6, 1), (6, 7, 0)])
        parts = ["train", "train", "validation", "validation", "test", "test"]
        split = given_split(pairs, parts)
        assert split.train == labelled([(0, 1, 1), (4, 5, 0)])
        assert split.validation == labelled([(1, 2, 0), (2, 3, 1)])
        assert split.test == labelled([(5, 6, 1), (6, 7, 0)])
        assert (split.protocol, split.promises_reversed, split.notes) == ("given", False, ())
        assert is_disjoint(split, reverse=True)

    def test_pairs_in_two_parts_stay_and_are_noted(self) -> None:
        pairs = labelled([(0, 1, 1), (1, 2, 0), (0, 1, 1), (2, 1, 0), (3, 4, 1), (4, 5, 0)])
        parts = ["train", "train", "test", "test", "validation", "validation"]
        split = given_split(pairs, parts)
        assert split.test == labelled([(0, 1, 1), (2, 1, 0)])
        assert split.shared()["train/test"] == 1
        assert split.shared(reverse=True)["train/test"] == 1
        assert split.notes == ("train and test share 1 pair",)

    def test_validation_is_taken_from_train(self) -> None:
        pairs = chain(50, 50)
        split = given_split(pairs, ["test" if i % 5 == 0 else "train" for i in range(100)], seed=7)
        assert [len(part) for part in parts_of(split)] == [72, 8, 20]
        assert [part.positive_share for part in parts_of(split)] == [0.5, 0.5, 0.5]
        assert split.notes == (
            "no validation part was given: 8 of the 80 pairs of train were taken",
        )
        assert is_disjoint(split, reverse=True)

    def test_validation_taken_from_little_still_holds_both_labels(self) -> None:
        split = given_split(chain(3, 3), ["train"] * 6)
        assert [len(part.positives) for part in parts_of(split)] == [2, 1, 0]
        assert [len(part) for part in parts_of(split)] == [4, 2, 0]
        assert split.notes[1] == "no test part was given: test is empty"

    @settings(max_examples=40)
    @given(pairs=any_labels(), seed=st.integers(0, 10))
    def test_taken_validation_never_parts_the_orders_of_a_pair(
        self, pairs: LabelledPairs, seed: int
    ) -> None:
        split = given_split(pairs, ["train"] * len(pairs), seed=seed)
        assert is_disjoint(split, reverse=True)
        assert set(split.train.labels.tolist()) == {0, 1}
        assert len(split.train) + len(split.validation) == len(pairs)

    def test_the_least_train_keeps_its_pairs(self) -> None:
        split = given_split(chain(1, 1), ["train", "train"])
        assert [len(part) for part in parts_of(split)] == [2, 0, 0]
        assert split.notes[0].endswith("0 of the 2 pairs of train were taken")

    def test_a_part_of_one_label_is_noted(self) -> None:
        parts = ["train", "validation", "test", "train", "validation"]
        split = given_split(chain(3, 2), parts)
        assert split.notes == ("test holds no pair with label 0: it has no AUC",)

    @pytest.mark.parametrize(
        ("parts", "message"),
        [
            (["train"] * 3, "there are 4 pairs but 3 names of parts"),
            (["train", "train", "train", "dev"], "unknown part 'dev': a part is one of train, val"),
            (["train", "train", "test", "test"], "train has 2 positive and 0 negative labels"),
            (["test"] * 4, "train has 0 positive and 0 negative labels"),
        ],
    )
    def test_wrong_parts_are_named(self, parts: list[str], message: str) -> None:
        with pytest.raises(SplitError, match=message):
            given_split(chain(2, 2), parts)

    def test_one_pair_with_both_labels_is_refused(self) -> None:
        with pytest.raises(SplitError, match=r"1 pair with both label 0 and label 1"):
            given_split(labelled([(0, 1, 1), (0, 1, 0)]), ["train", "train"])


def test_a_large_course_is_split_in_proportion() -> None:
    rng = np.random.default_rng(0)
    pairs = np.unique(rng.integers(0, 5_000, size=(100_000, 2)), axis=0)
    split = grouped_split(LabelledPairs(pairs, (pairs.sum(axis=1) % 30 == 0)), seed=0)
    assert is_disjoint(split, reverse=True)
    share = np.array([len(part) for part in parts_of(split)]) / len(pairs)
    assert share == pytest.approx([0.8, 0.1, 0.1], abs=0.002)
    positive_share = [part.positive_share for part in parts_of(split)]
    assert positive_share == pytest.approx([1 / 30] * 3, abs=0.002)


# --- the labels of a course ---

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
    assert is_disjoint(split, reverse=True)  # validation is drawn in both orders


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
