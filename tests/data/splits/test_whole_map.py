"""The protocol `whole-map`: what is known, what is asked, and that nobody chose it."""

from __future__ import annotations

import hashlib
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelled_by_hand import is_disjoint
from proprl.data.bundled import load_course
from proprl.data.course import Course
from proprl.data.lookup import plain_name
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.whole_map import (
    FIFTH_BELOW,
    QUARTER_BELOW,
    Known,
    WholeMapTask,
    direct_steps_task,
    labels_as_people_draw_them,
    pair_digest,
    pair_digests,
    whole_map_task,
)
from proprl.errors import SplitError


def annotated_course(n: int = 14, share: float = 0.3, seed: int = 0) -> Course:
    """Every ordered pair of n concepts is annotated; positives lead to later concepts."""
    rng = np.random.default_rng(seed)
    pairs = list(permutations(range(n), 2))
    labels = [int(a < b and rng.random() < 2 * share) for a, b in pairs]
    ids = [f"c{row}" for row in range(n)]
    return Course.from_tables(
        concepts=pl.DataFrame({"id": ids, "name": [f"Concept {row}" for row in range(n)]}),
        pairs=pl.DataFrame(
            {
                "source": [ids[a] for a, _ in pairs],
                "target": [ids[b] for _, b in pairs],
                "label": labels,
            }
        ),
    )


def rows(pairs: np.ndarray) -> set[tuple[int, int]]:
    return {(a, b) for a, b in pairs.tolist()}


def labelled(*triples: tuple[int, int, int]) -> LabelledPairs:
    table = np.array(triples)
    return LabelledPairs(table[:, :2], table[:, 2])


# The digests below were made by `printf 'derivatives\tlimits' | sha256sum`.
DIGESTS = {
    ("Limits", "Derivatives"): "7b76b059a24ee36a",
    ("Neural  Networks", "graph theory"): "c2cca94f1b93916e",
    ("Straße", "Ärger"): "be5176f30f50774a",  # case-folded: strasse, ärger
}


@pytest.mark.parametrize(("names", "expected"), DIGESTS.items())
def test_the_hash_is_that_of_the_plain_sorted_names(names: tuple[str, str], expected: str) -> None:
    assert pair_digest(*names).hex().startswith(expected)
    assert pair_digest(*reversed(names)) == pair_digest(*names)


def test_case_and_white_space_do_not_change_the_hash() -> None:
    assert plain_name("  Neural\n Networks ") == "neural networks"
    assert pair_digest("LIMITS", " derivatives ") == pair_digest("Limits", "Derivatives")


def test_digests_of_many_pairs_are_those_of_each() -> None:
    names = ["b", "A", "c"]
    expected = [hashlib.sha256(text).digest()[:3] for text in (b"a\tb", b"b\tc", b"a\tb")]
    found = pair_digests(names, np.array([[0, 1], [0, 2], [1, 0]]))
    assert found.tobytes() == b"".join(expected)


def test_four_names_worked_out_by_hand() -> None:
    """First three bytes: a-b 137 72 145, a-c 207 49 174, b-c 241 173 229, a-d 114 23 36.

    Only a-d has an even first byte: development. Its third byte is even: known.
    """
    ids = list("abcd")
    six = [(a, b) for a, b in permutations("abcd", 2) if {a, b} not in ({"b", "d"}, {"c", "d"})]
    course = Course.from_tables(
        concepts=pl.DataFrame({"id": ids, "name": ids}),
        pairs=pl.DataFrame(
            {
                "source": [a for a, _ in six],
                "target": [b for _, b in six],
                "label": [int(a < b) for a, b in six],
            }
        ),
    )
    task = whole_map_task(course, part="test")
    assert rows(task.known.pairs) == {(0, 3), (3, 0)}
    assert rows(task.asked.pairs) == {(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)}
    assert rows(task.annotated.positives) == {(0, 1), (0, 2), (0, 3), (1, 2)}
    inner = whole_map_task(course, part="development")
    assert inner.known == task.known  # a-d is known inside development too
    assert len(inner.asked) == 0
    assert whole_map_task(course, part="test", share="fifth").known == task.known  # 23 < 102


def halves(course: Course, task: WholeMapTask) -> tuple[np.ndarray, np.ndarray]:
    return pair_digests(course.names, task.known.pairs), pair_digests(
        course.names, task.asked.pairs
    )


@given(seed=st.integers(0, 50), draw=st.integers(0, 2), share=st.sampled_from(["half", "fifth"]))
@settings(max_examples=20)
def test_bits_divide_as_written(seed: int, draw: int, share: Known) -> None:
    course = annotated_course(seed=seed)
    known, asked = halves(course, whole_map_task(course, part="test", draw=draw, share=share))
    assert (known[:, 0] & 1 == 0).all()
    assert (asked[:, 0] & 1 == 1).all()
    assert share == "half" or (known[:, 1] < FIFTH_BELOW).all()
    known, asked = halves(course, whole_map_task(course, part="development", draw=draw))
    assert (known[:, 0] & 1 == 0).all()
    assert (asked[:, 0] & 1 == 0).all()
    assert (known[:, 2] & 1 == 0).all()
    assert (asked[:, 2] & 1 == 1).all()


def test_a_quarter_known_speaks_of_a_quarter_of_the_concepts() -> None:
    """Of 30 concepts those count whose own digest begins with a byte below 64."""
    course = annotated_course(n=30, share=0.2)
    names = [plain_name(name).encode() for name in course.names]
    few = {
        row for row, name in enumerate(names) if hashlib.sha256(name).digest()[0] < QUARTER_BELOW
    }
    half, quarter = (
        whole_map_task(course, part="test", share=share) for share in ("half", "quarter")
    )
    assert 3 <= len(few) <= 15
    assert {row for pair in rows(quarter.known.pairs) for row in pair} <= few
    within = {pair for pair in rows(half.known.positives) if set(pair) <= few}
    assert rows(quarter.known.positives) == within
    assert quarter.asked == half.asked


def test_development_sees_nothing_of_the_test_half() -> None:
    course = annotated_course()
    test = rows(whole_map_task(course, part="test").asked.pairs)
    task = whole_map_task(course, part="development")
    assert not test & (rows(task.known.pairs) | rows(task.asked.pairs))
    assert not test & rows(task.annotated.pairs)
    assert not task.in_view[tuple(np.array(sorted(test)).T)].any()
    assert task.in_view[tuple(task.annotated.pairs.T)].all()


def test_both_orders_of_a_pair_are_asked_together() -> None:
    asked = rows(whole_map_task(annotated_course(), part="test").asked.pairs)
    assert asked == {(b, a) for a, b in asked}


def test_draws_differ_in_negatives_only_and_are_repeated_exactly() -> None:
    course = annotated_course(n=20, share=0.1)
    tasks = [whole_map_task(course, part="test", draw=draw) for draw in (0, 0, 1)]
    assert tasks[0].known == tasks[1].known != tasks[2].known
    assert rows(tasks[0].known.positives) == rows(tasks[2].known.positives)
    assert tasks[0].asked == tasks[2].asked


def test_a_fifth_known_asks_the_same_pairs_with_fewer_labels() -> None:
    course = annotated_course(n=20)
    half, fifth = (whole_map_task(course, part="test", share=share) for share in ("half", "fifth"))
    assert fifth.asked == half.asked
    assert rows(fifth.known.positives) < rows(half.known.positives)


def test_labels_are_positives_and_as_many_negatives_half_of_them_turned_round() -> None:
    """4 positives; their 4 reverses and 8 other pairs are annotated 0: 2 and 2 are taken."""
    positives = [(0, 1), (1, 2), (2, 3), (3, 4)]
    others = [(0, 3), (3, 0), (0, 4), (4, 0), (1, 4), (4, 1), (0, 2), (2, 0)]
    annotated = labelled(
        *[(a, b, 1) for a, b in positives],
        *[(b, a, 0) for a, b in positives],
        *[(a, b, 0) for a, b in others],
    ).distinct()
    for draw in range(3):
        drawn = labels_as_people_draw_them(annotated, draw)
        negatives = rows(drawn.pairs[drawn.labels == 0])
        assert rows(drawn.positives) == set(positives)
        assert len(negatives) == 4
        assert len(negatives & {(b, a) for a, b in positives}) == 2


def test_too_few_reverses_are_filled_up_with_others() -> None:
    """Of the reverses only (1, 0) is annotated 0; (2, 1) is a positive of its own."""
    annotated = labelled(
        (0, 1, 1), (1, 2, 1), (2, 1, 1), (2, 3, 1),
        (1, 0, 0), (0, 2, 0), (0, 3, 0), (1, 3, 0), (2, 0, 0),
    )  # fmt: skip
    drawn = labels_as_people_draw_them(annotated, 0)
    negatives = rows(drawn.pairs[drawn.labels == 0])
    assert len(negatives) == 4
    assert (1, 0) in negatives


def test_too_few_others_are_filled_up_with_reverses() -> None:
    annotated = labelled((0, 1, 1), (1, 2, 1), (1, 0, 0), (2, 1, 0)).distinct()
    assert labels_as_people_draw_them(annotated, 0) == annotated


def test_without_positives_there_is_nothing_to_know() -> None:
    with pytest.raises(SplitError, match="known part of the map has 0 positive"):
        labels_as_people_draw_them(labelled((0, 1, 0)), 0)


def test_a_tenth_of_the_labels_is_validation() -> None:
    task = whole_map_task(annotated_course(n=24), part="test")
    split = task.split()
    assert rows(split.train.pairs) | rows(split.validation.pairs) == rows(task.known.pairs)
    assert len(split.validation) == pytest.approx(len(task.known) / 10, abs=1)
    assert split.test == task.asked
    assert is_disjoint(split, reverse=True)


def test_open_pairs_follow_in_neither_order_from_known_positives() -> None:
    """0 → 1 → 2 is known: 0-2 follows, and its reverse is decided with it."""
    task = WholeMapTask(
        concepts=4,
        known=labelled((0, 1, 1), (1, 2, 1), (2, 1, 0)),
        asked=labelled((0, 2, 1), (2, 0, 0), (0, 3, 1), (3, 0, 0)),
        annotated=labelled((0, 1, 1), (1, 2, 1), (0, 2, 1), (0, 3, 1)),
        in_view=np.ones((4, 4), dtype=np.bool_),
    )
    assert task.open().tolist() == [False, False, True, True]
    assert np.argwhere(task.follows()).tolist() == [[0, 1], [0, 2], [1, 2]]


def test_direct_steps_are_judged_by_what_follows_from_all_of_them() -> None:
    """a → b → c and c → d, the last in test: a-c follows from known ones, a-d only from all."""
    course = Course.from_tables(
        concepts=pl.DataFrame({"id": list("abcd"), "name": list("abcd")}),
        pairs=pl.DataFrame(
            {
                "source": ["a", "b", "c", "d"],
                "target": ["b", "c", "d", "b"],
                "label": [1, 1, 1, 0],
                "split": ["train", "validation", "test", "train"],
            }
        ),
    )
    task = direct_steps_task(course)
    assert rows(task.known.pairs) == {(0, 1), (1, 2), (3, 1)}
    assert rows(task.asked.positives) == {(0, 2), (2, 3), (0, 3)}
    assert rows(task.asked.pairs) == {(0, 2), (2, 0), (2, 3), (3, 2), (0, 3), (3, 0)}


def test_campus_asks_only_what_no_label_says() -> None:
    course = load_course("campus")
    task = direct_steps_task(course)
    assert len(task.known) == 234 + 190 + 48 + 40
    assert len(task.annotated.positives) == 270
    unordered = len({frozenset(pair) for pair in rows(task.known.pairs)})
    assert len(task.asked) == 158 * 157 - 2 * unordered


def test_a_part_that_is_none_is_refused() -> None:
    with pytest.raises(SplitError, match="development, test"):
        whole_map_task(annotated_course(), part="validation")  # type: ignore[arg-type]
