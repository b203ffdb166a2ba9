"""The explicit evidence about a pair: what it holds, and that no label is its own evidence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from proprl.data.splits import LabelledPairs
from proprl.graphs.evidence import Evidence
from proprl.models import evidence_table
from proprl.models.evidence_table import PARTS, EvidenceTable, Sources
from proprl.models.known_pairs import KnownPairs, fold_of, nearness
from proprl.models.order import expected_order, reading_likeness
from proprl.models.pair_evidence import PairEvidence

N = 8


def course() -> Evidence:
    rng = np.random.default_rng(0)
    return Evidence(
        rng.normal(size=(N, 4)),
        transitions=csr_array(rng.integers(0, 3, (N, N)).astype(float)),
        incidence=csr_array(rng.integers(0, 2, (N, 5)).astype(float)),
        resource_links=csr_array(rng.integers(0, 2, (5, 5)).astype(float)),
        passages=rng.normal(size=(N, 4)),
        readings=rng.normal(size=(N, 6)),
    )


def labelled(*triples: tuple[int, int, int]) -> LabelledPairs:
    table = np.array(triples, dtype=np.int64).reshape(-1, 3)
    return LabelledPairs(table[:, :2], table[:, 2])


def value(numbers: PairEvidence | KnownPairs, name: str, a: int, b: int) -> float:
    return float(numbers.rows(np.array([[a, b]]))[0, numbers.names.index(name)])


# No label is its own evidence

pairs_of_concepts = st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).filter(
    lambda pair: pair[0] != pair[1]
)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(pairs_of_concepts, st.integers(0, 1), min_size=2, max_size=20), st.data())
def test_removing_or_flipping_a_pairs_own_label_does_not_change_its_evidence(
    labels: dict[tuple[int, int], int], data: st.DataObject
) -> None:
    pair = data.draw(st.sampled_from(sorted(labels)))
    flipped = {**labels, pair: 1 - labels[pair]}
    removed = {other: label for other, label in labels.items() if other != pair}
    asked = np.array([pair])
    tables = [
        EvidenceTable(course(), labelled(*((a, b, y) for (a, b), y in known.items())))
        for known in (labels, flipped, removed)
    ]
    rows, order = ([t.rows(asked) for t in tables], [t.order(asked) for t in tables])
    for other in (1, 2):
        np.testing.assert_array_equal(rows[0], rows[other])
        np.testing.assert_allclose(order[0], order[other], atol=1e-9)


@pytest.mark.parametrize("at_once", [4_000, 0])
def test_the_order_of_a_pair_comes_from_other_prerequisites(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all other pairs; of other folds, where they are too many to do without one at a time."""
    monkeypatch.setattr(evidence_table, "AT_ONCE", at_once)
    pairs = np.array([(a, b) for a in range(N) for b in range(a)])
    known = LabelledPairs(pairs, np.arange(len(pairs)) % 3 // 2)  # a third of them hold
    table, alike = EvidenceTable(course(), known, folds=4), reading_likeness(course().readings)
    found = table.order(pairs)
    left_out = np.arange(len(pairs)) if at_once else fold_of(pairs, 4, salt=0)
    for one in np.unique(left_out):
        others = pairs[(known.labels == 1) & (left_out != one)]
        expected = expected_order(others, alike)[tuple(pairs[left_out == one].T)]
        np.testing.assert_allclose(found[left_out == one], expected, atol=1e-9)
    np.testing.assert_allclose(table.order(pairs[:, ::-1].copy()), -found, atol=1e-9)


def test_there_is_no_order_without_readings_or_labels() -> None:
    known, pairs = labelled((0, 1, 1), (2, 3, 0)), np.array([[4, 5]])
    unread = EvidenceTable(replace(course(), readings=None), known)
    unlabelled = EvidenceTable(course(), known, sources="course")
    for table, tells in (
        (unread, False),
        (unlabelled, False),
        (EvidenceTable(course(), known), True),
    ):
        assert table.tells_order == tells
        assert (table.order(pairs) != 0).all() == tells


def test_the_rows_that_are_learned_from_do_not_know_their_labels_either() -> None:
    rng = np.random.default_rng(1)
    pairs = np.array([(a, b) for a in range(N) for b in range(a)])
    labels = rng.integers(0, 2, len(pairs))
    for one in (0, 5, 11):
        other = labels.copy()
        other[one] = 1 - other[one]
        for salt in (0, 1):
            rows = [
                EvidenceTable(course(), LabelledPairs(pairs, y)).rows(pairs, salt)
                for y in (labels, other)
            ]
            np.testing.assert_array_equal(rows[0][one], rows[1][one])
            assert not np.array_equal(rows[0], rows[1])  # others do learn from it


# Rows that are asked for again


def every_pair() -> LabelledPairs:
    pairs = np.array([(a, b) for a in range(N) for b in range(a)])
    return LabelledPairs(pairs, np.random.default_rng(1).integers(0, 2, len(pairs)))


@pytest.mark.parametrize("sources", ["course and labels", "course", "labels"])
def test_the_row_of_a_reverse_is_the_row_turned_round(sources: Sources) -> None:
    def table() -> EvidenceTable:
        return EvidenceTable(course(), every_pair(), sources=sources)

    asked = every_pair().pairs[::2]
    there_and_back = table()
    there_and_back.rows(asked)
    anew = table().rows(asked[:, ::-1])
    np.testing.assert_array_equal(there_and_back.rows(asked[:, ::-1]), anew)
    assert not np.array_equal(there_and_back.rows(asked), anew)


def test_what_is_described_along_with_the_known_pairs_is_described_alike() -> None:
    known, asked = every_pair(), np.array([[0, 7], [3, 1], [7, 0]])
    alone, together = (EvidenceTable(course(), known) for _ in range(2))
    for salt in (0, 1):
        rows = together.rows_of_known(salt, then=asked)
        np.testing.assert_allclose(rows, alone.rows(known.pairs, salt), rtol=1e-5, atol=1e-6)
        expected = alone.rows(asked, salt)
        np.testing.assert_allclose(together.rows(asked, salt), expected, rtol=1e-5, atol=1e-6)


def test_asking_about_what_was_described_along_or_about_reverses_takes_no_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table, asked = EvidenceTable(course(), every_pair()), np.array([[0, 7], [3, 1]])
    table.rows_of_known(then=asked)
    monkeypatch.setattr(EvidenceTable, "_described_by", lambda *_: pytest.fail("described anew"))
    there, back = table.rows(asked), table.rows(asked[:, ::-1])
    assert there.shape == back.shape == (len(asked), len(table.names))


def test_rows_of_many_pairs_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    table, asked = EvidenceTable(course(), every_pair()), np.array([[0, 7], [3, 1]])
    rows = table.rows(asked)
    table.forget_many()
    assert table.rows(asked) is rows
    monkeypatch.setattr(evidence_table, "KEPT", 1)
    table.forget_many()
    assert table.rows(asked) is not rows


def test_rows_that_were_kept_are_forgotten_with_other_labels_and_other_pairs() -> None:
    known, asked = every_pair(), np.array([[0, 7], [3, 1]])
    flipped = LabelledPairs(known.pairs, 1 - known.labels)
    table = EvidenceTable(course(), known)
    before = table.rows(asked).copy()
    anew = EvidenceTable(course(), flipped).rows(asked)
    np.testing.assert_array_equal(table.knowing(flipped).rows(asked), anew)
    asked[0] = 2, 6  # in the caller's own array
    assert not np.array_equal(table.rows(asked)[0], before[0])
    assert not np.array_equal(table.rows(asked, salt=1), table.rows(asked))


def test_of_a_concept_taken_for_new_nothing_but_its_text_is_evidence() -> None:
    pairs = np.array([(a, b) for a in range(N) for b in range(a)])
    labels = np.random.default_rng(1).integers(0, 2, len(pairs))
    part = fold_of(np.column_stack([np.arange(N)] * 2), PARTS, salt=0)
    new = part == part.min()
    # Moves, resources, passages and labels of the concepts of the first part become others.
    evidence = course()
    assert evidence.transitions is not None
    assert evidence.incidence is not None
    assert evidence.passages is not None
    B, M = evidence.transitions.toarray(), evidence.incidence.toarray()
    B[new], B[:, new], M[new] = 7, 9, 1
    changed = replace(
        evidence,
        transitions=csr_array(B),
        incidence=csr_array(M),
        passages=np.where(new[:, None], 5.0, evidence.passages),
    )
    other_labels = np.where(new[pairs].any(axis=1), 1 - labels, labels)

    known, other_known = LabelledPairs(pairs, labels), LabelledPairs(pairs, other_labels)
    table = EvidenceTable(evidence, known)
    rows, asked = table.lessons_about_newcomers(known, "only a text")
    other_table = EvidenceTable(changed, other_known)
    others, _ = other_table.lessons_about_newcomers(known, "only a text")
    first = int(new[pairs].any(axis=1).sum())  # the lessons about that part come first
    assert new[asked.pairs[:first]].any(axis=1).all()
    np.testing.assert_array_equal(rows[:first], others[:first])
    assert not np.array_equal(rows[first:], others[first:])


def test_lessons_about_concepts_without_a_label_hide_their_labels_and_nothing_else() -> None:
    pairs = np.array([(a, b) for a in range(N) for b in range(a)])
    labels = np.random.default_rng(1).integers(0, 2, len(pairs))
    part = fold_of(np.column_stack([np.arange(N)] * 2), PARTS, salt=0)
    new = part == part.min()
    holds_new = new[pairs].any(axis=1)
    known = LabelledPairs(pairs, labels)
    rows, asked = EvidenceTable(course(), known).lessons_about_newcomers(known, "no label")
    flipped = LabelledPairs(pairs, np.where(holds_new, 1 - labels, labels))
    others, _ = EvidenceTable(course(), flipped).lessons_about_newcomers(known, "no label")
    first = int(holds_new.sum())
    np.testing.assert_array_equal(asked.pairs[:first], pairs[holds_new])
    np.testing.assert_array_equal(rows[:first], others[:first])
    own = PairEvidence(course()).rows(pairs[holds_new])
    np.testing.assert_array_equal(rows[:first, : own.shape[1]], own.astype("f4"))
    # Every known pair is taken for new once, or twice if its concepts are in two parts.
    times = np.array([(asked.pairs == pair).all(axis=1).sum() for pair in pairs])
    np.testing.assert_array_equal(times, 1 + (part[pairs[:, 0]] != part[pairs[:, 1]]))


def test_a_concept_is_new_while_no_label_that_describes_a_pair_is_about_it() -> None:
    moves = np.zeros((N, N))
    moves[:5, :5] = 1  # of the others there is only a text
    evidence = Evidence(np.eye(N), transitions=csr_array(moves))
    # So many folds that no two of these pairs share one.
    table = EvidenceTable(evidence, labelled((0, 1, 1), (1, 2, 0), (2, 0, 1)), folds=1_000)
    asked = np.array([[0, 2], [0, 4], [6, 0], [4, 6], [4, 3]])
    np.testing.assert_array_equal(table.newness(asked), [0, 0.5, 1, 1, 0.5])
    # A pair's own label, or its reverse's, does not make its concepts known.
    alone = EvidenceTable(evidence, labelled((0, 1, 1), (1, 0, 0)))
    np.testing.assert_array_equal(alone.newness(np.array([[0, 1], [1, 0]])), [0.5, 0.5])


@pytest.mark.parametrize("view", ["transitions", "passages"])
def test_where_all_there_is_belongs_to_one_concept_nothing_of_it_is_taken_away(view: str) -> None:
    """Without it, there would be nothing to compare with, and rows of another shape."""
    only_0 = np.zeros((N, N))
    only_0[0] = 1
    evidence = Evidence(np.eye(N), incidence=csr_array(np.eye(N)))
    evidence = replace(evidence, **{view: csr_array(only_0) if view == "transitions" else only_0})
    known = labelled((0, 1, 1), (2, 3, 0), (4, 5, 1), (6, 7, 0))
    table = EvidenceTable(evidence, known)
    rows, asked = table.lessons_about_newcomers(table.known, "only a text")
    assert rows.shape == (len(asked), len(table.names))
    part = fold_of(np.column_stack([np.arange(N)] * 2), PARTS, salt=0)
    of_others = (part[asked.pairs] != part[0]).any(axis=1)
    assert len(asked) == of_others.sum() > 0
    assert len(table.lessons_about_newcomers(table.known, "no label")[1]) > len(asked)


def test_in_a_course_of_nothing_but_texts_nothing_can_be_taken_away() -> None:
    table = EvidenceTable(Evidence(np.eye(N)), labelled((0, 1, 1), (2, 3, 0)))
    assert not len(table.lessons_about_newcomers(table.known, "only a text")[1])
    assert len(table.lessons_about_newcomers(table.known, "no label")[1])


def test_where_labels_are_no_evidence_they_do_not_say_who_is_new() -> None:
    moves = np.zeros((N, N))
    moves[:5, :5] = 1
    evidence, asked = Evidence(np.eye(N), csr_array(moves)), np.array([[0, 1], [0, 4], [0, 6]])
    for known in (labelled(), labelled((0, 6, 1), (6, 1, 0), (1, 0, 1))):
        table = EvidenceTable(evidence, known, sources="course")
        np.testing.assert_array_equal(table.newness(asked), [0, 0, 1])


def test_both_orders_of_a_pair_share_a_fold() -> None:
    pairs = np.array([(a, b) for a in range(40) for b in range(a)])
    for salt in (0, 1):
        fold = fold_of(pairs, 20, salt)
        np.testing.assert_array_equal(fold, fold_of(pairs[:, ::-1], 20, salt))
        assert np.bincount(fold, minlength=20).min() > 20  # of 39 on average
    assert (fold_of(pairs, 20, 0) != fold_of(pairs, 20, 1)).mean() > 0.9


# What the numbers say


def test_paths_are_counted_along_known_prerequisites() -> None:
    # 0 → 1 → 3, 0 → 2 → 3, 3 → 4.
    known = labelled((0, 1, 1), (0, 2, 1), (1, 3, 1), (2, 3, 1), (3, 4, 1), (4, 5, 0))
    numbers = KnownPairs(known, {}, N)
    assert value(numbers, "paths of two steps", 0, 3) == 2
    assert value(numbers, "paths of two steps, reversed", 0, 3) == 0
    assert value(numbers, "paths of three steps", 0, 4) == 2
    assert [value(numbers, "steps", 0, b) for b in (1, 3, 4, 5)] == [1, 2, 3, 5]
    assert value(numbers, "common dependents", 1, 2) == 1
    assert value(numbers, "common prerequisites", 1, 2) == 1
    assert value(numbers, "known dependents of the source", 0, 1) == pytest.approx(np.log1p(4))
    assert value(numbers, "known prerequisites of the target", 0, 4) == pytest.approx(np.log1p(4))


def test_like_pairs_lend_their_labels() -> None:
    # 0 and 1 mean the same, and so do 2 and 3; all others are as far apart as can be.
    affinity = np.full((N, N), -1.0)
    np.fill_diagonal(affinity, 1.0)
    affinity[0, 1] = affinity[1, 0] = affinity[2, 3] = affinity[3, 2] = 1.0
    numbers = KnownPairs(labelled((0, 2, 1), (5, 6, 0)), {"texts": nearness(affinity)}, N)
    rate = "labels of like pairs by texts within 0.1"
    assert value(numbers, rate, 1, 3) == pytest.approx(1.0, abs=0.01)
    assert value(numbers, rate, 3, 1) == pytest.approx(0.0, abs=0.01)
    assert value(numbers, rate, 5, 6) == pytest.approx(-1.0, abs=0.01)
    assert value(numbers, "the source with like targets by texts within 0.1", 0, 3) > 0.99
    assert value(numbers, "like sources with the target by texts within 0.1", 1, 2) > 0.99


def test_levels_rise_along_known_prerequisites_and_like_concepts_share_them() -> None:
    affinity = np.full((N, N), -1.0)
    np.fill_diagonal(affinity, 1.0)
    affinity[2, 7] = affinity[7, 2] = 1.0
    numbers = KnownPairs(labelled((0, 1, 1), (1, 2, 1)), {"texts": nearness(affinity)}, N)
    level = numbers.about_concepts["level by texts"]
    assert level[0] < level[1] < level[2]
    assert level[1] < level[7]


def test_the_courses_own_evidence_is_directed() -> None:
    B = np.zeros((3, 3))
    B[0, 1], B[0, 2], B[1, 0] = 8.0, 2.0, 1.0
    M = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    numbers = PairEvidence(Evidence(np.eye(3), transitions=csr_array(B), incidence=csr_array(M)))
    assert value(numbers, "moves", 0, 1) == pytest.approx(np.log(9))
    assert value(numbers, "moves, reversed", 0, 1) == pytest.approx(np.log(2))
    assert value(numbers, "share of the source's moves", 0, 1) == pytest.approx(0.8)
    assert value(numbers, "share of the target's arrivals", 0, 1) == pytest.approx(1.0)
    assert value(numbers, "share of the source's resources", 0, 1) == pytest.approx(0.5)
    assert value(numbers, "share of the source's resources, reversed", 0, 1) == pytest.approx(1.0)
    assert value(numbers, "overlap of resources", 0, 1) == pytest.approx(0.5)
    assert value(numbers, "resources, difference", 0, 2) == pytest.approx(np.log(3) - np.log(2))


def test_the_order_of_resources_is_evidence_about_their_concepts() -> None:
    # 0 is in the first two resources, 1 in the last; each of the two comes before the last.
    M = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    L = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    evidence = Evidence(np.eye(3), incidence=csr_array(M), resource_links=csr_array(L))
    numbers = PairEvidence(evidence)
    assert value(numbers, "steps between resources", 0, 1) == pytest.approx(np.log(3))
    assert value(numbers, "steps between resources, reversed", 0, 1) == 0
    # Two steps lead away from 0 and two to 1; (2 - 0) / (2 + 0 + 5) and its opposite.
    place = "resources rather first of the "
    assert value(numbers, place + "source", 0, 1) == pytest.approx(2 / 7)
    assert value(numbers, place + "target", 0, 1) == pytest.approx(-2 / 7)
    assert value(numbers, place + "target", 0, 2) == 0


def test_a_missing_view_has_no_columns() -> None:
    names = EvidenceTable(Evidence(np.eye(3)), labelled((0, 1, 1))).names
    assert not [name for name in names if "moves" in name or "resources" in name]
    assert not [name for name in names if "behaviour" in name]
    assert len(set(names)) == len(names)


def test_columns_stand_where_saved_models_look_for_them() -> None:
    """A forest in a bundle knows columns by their places: whoever moves one raises the format."""
    names = EvidenceTable(Evidence(np.eye(3)), labelled((0, 1, 1)), roles=False).names
    like = [
        f"{name} by texts within {within}{order}"
        for within in ("0.1", "0.25")
        for name in (
            "labels of like pairs",
            "number of like pairs",
            "the source with like targets",
            "like sources with the target",
            "over a known step, then a likely one",
            "over a likely step, then a known one",
        )
        for order in ("", ", reversed")
    ]
    paths = [
        f"{name}{order}"
        for name in (
            "paths of two steps",
            "paths of three steps",
            "steps",
            "alike in what they lead to",
            "alike, but not a prerequisite",
            "prerequisite of what is alike, but not of it",
        )
        for order in ("", ", reversed")
    ]
    places = [
        f"{name} by texts within {within}"
        for within in ("0.1", "0.25")
        for name in (
            "like concepts as sources",
            "like concepts as targets",
            "like concepts rather first",
        )
    ]
    about = [
        f"{name}{whose}"
        for name in ("known dependents", "known prerequisites", "level by texts", *places)
        for whose in (" of the source", " of the target", ", difference")
    ]
    symmetric = ["text similarity", "common dependents", "common prerequisites"]
    assert names == [*symmetric, *paths, *like, *about]
