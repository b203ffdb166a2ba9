"""The table of pairs: no label is its own evidence, and a row depends on its pair alone."""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.labelled import LabelledPairs
from proprl.graphs.evidence import Evidence
from proprl.pairs.columns import course_columns
from proprl.pairs.table import FOLDS, GROUPS, PairTable, fold_of

N = 9
EVERY = np.array([(a, b) for a in range(N) for b in range(N) if a != b])
Labels = dict[tuple[int, int], int]


@cache
def course() -> Evidence:
    rng = np.random.default_rng(0)
    return Evidence(
        rng.normal(size=(N, 4)),
        transitions=csr_array(rng.integers(0, 3, (N, N)).astype(float)),
        incidence=csr_array(rng.integers(0, 2, (N, 5)).astype(float)),
        resource_links=csr_array(rng.integers(0, 2, (5, 5)).astype(float)),
        readings=rng.normal(size=(N, 6)),
    )


def known(labels: Labels) -> LabelledPairs:
    rows = np.array([(*pair, label) for pair, label in labels.items()], dtype=np.int64)
    return LabelledPairs(rows.reshape(-1, 3)[:, :2], rows.reshape(-1, 3)[:, 2])


def table(labels: Labels) -> PairTable:
    return PairTable(course(), known(labels))


def many_labels() -> Labels:
    """A label for every unordered pair, in one order."""
    pairs = [(a, b) for a, b in EVERY.tolist() if a < b]
    return dict(zip(pairs, np.random.default_rng(1).integers(0, 2, len(pairs)), strict=True))


def cold(of: PairTable, pairs: IntArray) -> dict[tuple[int, int], list[FloatArray]]:
    """The rows of each pair in which one of its concepts is taken for new."""
    rows, which = of.cold_rows(pairs)
    found: dict[tuple[int, int], list[FloatArray]] = {}
    for row, one in zip(rows, which, strict=True):
        found.setdefault(tuple(pairs[one].tolist()), []).append(row)
    return found


some_labels = st.dictionaries(
    st.sampled_from([tuple(pair) for pair in EVERY.tolist()]), st.integers(0, 1), max_size=25
)
a_pair = st.sampled_from([tuple(pair) for pair in EVERY.tolist()])


# No label is its own evidence


@settings(max_examples=15)
@given(some_labels, a_pair, st.sampled_from([None, 0, 1]), st.sampled_from([None, 0, 1]))
def test_a_pairs_own_label_and_its_reverses_change_no_column_of_either_order(
    labels: Labels, pair: tuple[int, int], own: int | None, of_reverse: int | None
) -> None:
    """Neither where they come or go, nor where they turn into the other label."""
    a, b = pair
    changed = {p: y for p, y in labels.items() if set(p) != {a, b}}
    changed |= {p: y for p, y in (((a, b), own), ((b, a), of_reverse)) if y is not None}
    asked = np.array([(a, b), (b, a)])
    np.testing.assert_array_equal(table(labels).rows(asked), table(changed).rows(asked))
    for p, rows in cold(table(labels), asked).items():
        np.testing.assert_array_equal(rows, cold(table(changed), asked)[p])


def test_labels_of_other_pairs_do_change_a_row() -> None:
    labels = many_labels()
    asked = np.array([(0, 5)])
    (fold,) = fold_of(asked, FOLDS)
    other = next(p for p in labels if 0 in p and fold_of(np.array([p]), FOLDS)[0] != fold)
    changed = {**labels, other: 1 - labels[other]}
    assert not np.array_equal(table(labels).rows(asked), table(changed).rows(asked))


@settings(max_examples=12)
@given(some_labels, st.integers(0, FOLDS - 1))
def test_a_pair_is_described_by_the_labels_of_other_folds_alone(labels: Labels, fold: int) -> None:
    asked = EVERY[fold_of(EVERY, FOLDS) == fold]
    flipped = {
        pair: 1 - label if fold_of(np.array([pair]), FOLDS)[0] == fold else label
        for pair, label in labels.items()
    }
    np.testing.assert_array_equal(table(labels).rows(asked), table(flipped).rows(asked))


# A row depends on its pair alone


@settings(max_examples=12)
@given(some_labels, st.lists(a_pair, max_size=8))
def test_rows_do_not_depend_on_which_other_pairs_are_asked_about(
    labels: Labels, asked: list[tuple[int, int]]
) -> None:
    of = table(labels)
    together = of.rows(EVERY)
    place = {tuple(pair): k for k, pair in enumerate(EVERY.tolist())}
    rows = of.rows(np.array(asked, dtype=np.int64).reshape(-1, 2))
    assert rows.dtype == np.float32
    for pair, row in zip(asked, rows, strict=True):
        np.testing.assert_array_equal(row, together[place[pair]])


@settings(max_examples=6)
@given(some_labels, st.randoms())
def test_the_order_of_labels_does_not_matter(labels: Labels, random: Random) -> None:
    shuffled = list(labels.items())
    random.shuffle(shuffled)
    one, other = table(labels).rows(EVERY), table(dict(shuffled)).rows(EVERY)
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@settings(max_examples=6)
@given(some_labels)
def test_a_reverse_has_the_same_numbers_in_turned_columns(labels: Labels) -> None:
    of = table(labels)
    there = of.rows(EVERY)
    back = there[[EVERY.tolist().index([b, a]) for a, b in EVERY.tolist()]]
    names = [column.name for column in of.columns]
    for k, name in enumerate(names):
        if name.endswith(", difference"):
            np.testing.assert_array_equal(there[:, k], -back[:, k])
            continue
        turned = name
        for one, other in (("", ", turned round"), (" of the first", " of the second")):
            if name.endswith(other):
                turned = name.removesuffix(other) + one
            elif name.removesuffix(one) + other in names and name.endswith(one):
                turned = name.removesuffix(one) + other
        np.testing.assert_array_equal(there[:, k], back[:, names.index(turned)])


def test_a_row_says_first_what_the_course_says_and_then_what_labels_say() -> None:
    of, own = table(many_labels()), course_columns(course())
    kinds = [column.kind for column in of.columns]
    k = len(own.columns)
    assert of.columns[:k] == own.columns
    assert set(kinds[k:]) == {"labels", "reader"}
    assert set(kinds[:k]) == {"texts", "moves", "resources"}
    np.testing.assert_array_equal(of.rows(EVERY)[:, :k], own.rows(EVERY))
    assert of.rows(EVERY).shape == (len(EVERY), len(kinds))
    assert len({column.name for column in of.columns}) == len(kinds)


# Concepts taken for new


def group_of_concepts() -> IntArray:
    concepts = np.arange(N)
    return fold_of(np.column_stack([concepts, concepts]), GROUPS)


@settings(max_examples=12)
@given(some_labels, st.sampled_from(sorted(set(group_of_concepts().tolist()))))
def test_a_cold_row_uses_no_label_about_a_concept_that_is_taken_for_new(
    labels: Labels, new: int
) -> None:
    group = group_of_concepts()
    changed = {pair: y for pair, y in labels.items() if new not in group[list(pair)]}
    (rows, which), (others, _) = (table(given).cold_rows(EVERY) for given in (labels, changed))
    # One group after the other is taken for new, and every pair that holds one of it has a row.
    holds = [(group[EVERY] == one).any(axis=1) for one in range(GROUPS)]
    np.testing.assert_array_equal(which, np.concatenate([np.flatnonzero(one) for one in holds]))
    taken = np.repeat(np.arange(GROUPS), [one.sum() for one in holds])
    np.testing.assert_array_equal(rows[taken == new], others[taken == new])


def test_a_concept_taken_for_new_looks_like_one_that_is() -> None:
    """Its known dependents are none, and what the course says of it stays."""
    of = table(many_labels())
    rows, which = of.cold_rows(EVERY)
    course_says = len(course_columns(course()).columns)
    np.testing.assert_array_equal(rows[:, :course_says], of.rows(EVERY)[which][:, :course_says])
    names = [column.name for column in of.columns]
    group, seen = group_of_concepts(), np.zeros(len(EVERY), dtype=int)
    np.add.at(seen, which, 1)
    np.testing.assert_array_equal(seen, 1 + (group[EVERY[:, 0]] != group[EVERY[:, 1]]))
    within = group[EVERY[which, 0]] == group[EVERY[which, 1]]
    for name in ("known dependents", "known prerequisites"):
        for end in ("first", "second"):
            assert not rows[within, names.index(f"{name} of the {end}")].any()
    assert rows[:, course_says:].any()


def test_no_pairs_have_no_cold_rows() -> None:
    rows, which = table(many_labels()).cold_rows(EVERY[:0])
    assert rows.shape == (0, len(table({}).columns))
    assert which.shape == (0,)


# Courses that lack something


@pytest.mark.parametrize("views", [("transitions",), ("incidence",), ("readings",), ()])
def test_a_course_that_lacks_something_has_a_table_without_it(views: tuple[str, ...]) -> None:
    whole = course()
    evidence = Evidence(whole.features, **{view: getattr(whole, view) for view in views})
    of = PairTable(evidence, known(many_labels()))
    kinds = {"transitions": "moves", "incidence": "resources", "readings": "reader"}
    wanted = {"texts", "labels", *(kinds[view] for view in views)}
    assert {column.kind for column in of.columns} == wanted
    assert np.isfinite(of.rows(EVERY)).all()


def test_without_labels_a_pair_is_described_by_the_course() -> None:
    of = table({})
    rows = of.rows(EVERY)
    assert np.isfinite(rows).all()
    of_labels = [column.kind in ("labels", "reader") for column in of.columns]
    assert (rows[:, of_labels] == rows[0, of_labels]).all()


# Folds


@given(
    st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 5_000)), min_size=1, max_size=30),
    st.integers(1, 50),
)
def test_both_orders_of_a_pair_are_in_one_fold_whatever_else_is_dealt(
    pairs: list[tuple[int, int]], folds: int
) -> None:
    dealt = fold_of(np.array(pairs), folds)
    assert ((dealt >= 0) & (dealt < folds)).all()
    np.testing.assert_array_equal(dealt, fold_of(np.array(pairs)[:, ::-1], folds))
    alone = [fold_of(np.array([pair]), folds)[0] for pair in pairs]
    np.testing.assert_array_equal(dealt, alone)


def test_folds_are_about_equally_large_for_every_concept() -> None:
    n, folds = 400, 20
    a, b = np.triu_indices(n, 1)
    of_all = np.bincount(fold_of(np.column_stack([a, b]), folds), minlength=folds)
    assert abs(of_all / len(a) - 1 / folds).max() < 0.002
    # A concept's 399 pairs: 20 in each fold, give or take four standard deviations of 4.4.
    of_each = np.zeros((n, folds))
    fold = fold_of(np.column_stack([a, b]), folds)
    np.add.at(of_each, (a, fold), 1)
    np.add.at(of_each, (b, fold), 1)
    assert of_each.min() > 20 - 4 * 4.4
    assert of_each.max() < 20 + 4 * 4.4


def test_folds_stay_as_they_are() -> None:
    """A loaded model describes its pairs by the labels it was fitted with."""

    def splitmix(low: int, high: int) -> int:
        x = low << 32 ^ high
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
            x = (x ^ x >> shift) * factor % 2**64
        return x

    pairs = [(0, 1), (1, 2), (3, 8), (7, 100), (4_999, 70_000)]
    expected = [splitmix(*pair) % 20 for pair in pairs]
    assert fold_of(np.array(pairs), 20).tolist() == expected
    assert expected[:3] == [9, 10, 4]
