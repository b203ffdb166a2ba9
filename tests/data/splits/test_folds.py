"""Repeated splits: what each protocol promises, counted from the data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelled_by_hand import is_disjoint
from proprl.data.splits.folds import leak_free_folds, new_concept_splits, with_fewer_labels
from proprl.data.splits.labelled import LabelledPairs
from proprl.errors import SplitError


def labelled(seed: int = 0, pairs: int = 400, concepts: int = 30) -> LabelledPairs:
    """Random labelled pairs with repeats and many reversed pairs."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, concepts, (pairs, 2))
    drawn = drawn[drawn[:, 0] != drawn[:, 1]]
    return LabelledPairs(drawn, ((drawn[:, 0] * 7 + drawn[:, 1]) % 2).astype(np.int64))


def rows(part: LabelledPairs) -> set[tuple[int, ...]]:
    return {tuple(pair) for pair in part.pairs.tolist()}


@given(st.integers(0, 1000), st.integers(3, 10))
@settings(max_examples=25, deadline=None)
def test_folds_share_no_pair_in_either_order(seed: int, folds: int) -> None:
    splits = leak_free_folds(labelled(seed), folds=folds, seed=seed)
    assert len(splits) == folds
    for split in splits:
        assert is_disjoint(split, reverse=True)


def test_every_distinct_pair_is_tested_once() -> None:
    everything = labelled()
    splits = leak_free_folds(everything)
    assert len(splits) == 10
    tested = [pair for split in splits for pair in rows(split.test)]
    assert len(tested) == len(set(tested))
    assert set(tested) == rows(everything)


def test_folds_are_stratified_and_seeded() -> None:
    everything = labelled(pairs=2000, concepts=60)
    splits = leak_free_folds(everything, seed=3)
    for split in splits:
        assert abs(split.test.positive_share - everything.distinct().positive_share) < 0.05
        assert rows(split.train) | rows(split.validation) | rows(split.test) == rows(everything)
    assert leak_free_folds(everything, seed=3) == splits
    assert leak_free_folds(everything, seed=4) != splits


def test_fewer_than_three_folds_are_refused() -> None:
    with pytest.raises(SplitError, match="3 or more"):
        leak_free_folds(labelled(), folds=2)


@given(st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_new_concepts_are_new(seed: int) -> None:
    splits = new_concept_splits(labelled(seed), seed=seed, repeats=2)
    assert len(splits) == 2
    for split in splits:
        train, validation, test = (
            set(np.unique(part.pairs).tolist())
            for part in (split.train, split.validation, split.test)
        )
        assert min(len(train), len(validation), len(test)) > 1
        assert not train & test
        assert not train & validation
        assert not validation & test


def test_pairs_between_sets_of_concepts_are_counted() -> None:
    everything = labelled(pairs=2000, concepts=60).distinct()
    (split,) = new_concept_splits(everything, repeats=1)
    kept = len(split.train) + len(split.validation) + len(split.test)
    assert split.notes == (
        f"{len(everything) - kept} of {len(everything)} pairs join two sets of concepts "
        "and are left out",
    )
    assert kept < len(everything) / 2


def test_repeats_differ_and_the_seed_decides() -> None:
    first, second = new_concept_splits(labelled(pairs=2000), repeats=2)
    assert rows(first.test) != rows(second.test)
    assert new_concept_splits(labelled(pairs=2000), repeats=2) == (first, second)


def test_a_smaller_share_of_labels_is_part_of_a_larger_one() -> None:
    split = leak_free_folds(labelled(), folds=5)[0]
    half, quarter = with_fewer_labels(split, 0.5), with_fewer_labels(split, 0.25)
    assert rows(quarter.train) < rows(half.train) < rows(split.train)
    assert rows(quarter.validation) < rows(half.validation) < rows(split.validation)
    assert len(half.train) == pytest.approx(len(split.train) / 2, abs=3)
    assert set(quarter.validation.labels) == {0, 1}
    assert half.test is split.test
    assert with_fewer_labels(split, 1.0) == split


def test_both_orders_of_a_pair_are_kept_or_dropped_together() -> None:
    split = leak_free_folds(labelled(), folds=5)[0]
    kept, there = rows(with_fewer_labels(split, 0.5).train), rows(split.train)
    both = {pair for pair in there if pair[::-1] in there}
    assert both & kept
    assert both - kept
    assert all((pair in kept) == (pair[::-1] in kept) for pair in both)


@pytest.mark.parametrize("share", [0.0, -0.1, 1.1])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(SplitError, match="above 0 and at most 1"):
        with_fewer_labels(leak_free_folds(labelled(), folds=5)[0], share)


def test_labels_of_one_kind_are_refused() -> None:
    everything = labelled()
    with pytest.raises(SplitError, match="pairs has 0 positive"):
        leak_free_folds(LabelledPairs(everything.pairs, 0 * everything.labels))
    one = everything.distinct()
    labels = np.zeros(len(one), dtype=np.int64)
    labels[0] = 1
    with pytest.raises(SplitError, match="train of fold"):
        leak_free_folds(LabelledPairs(one.pairs, labels))
