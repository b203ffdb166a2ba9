"""What the labels of other pairs say: ways through them.

Five concepts: 0 leads to 1 and 3, both lead to 2, 2 leads to 4. Not prerequisites: 3 of 4, 4 of 1.
"""

from __future__ import annotations

import numpy as np
import pytest

from proprl.arrays import FloatArray
from proprl.data.splits.labelled import LabelledPairs
from proprl.pairs.labels import LONGEST, label_columns, label_matrix

N = 5
YES = [(0, 1), (0, 3), (1, 2), (3, 2), (2, 4)]
NO = [(3, 4), (4, 1)]
KNOWN = LabelledPairs(np.array(YES + NO), np.array([1] * len(YES) + [0] * len(NO)))
NOBODY_ALIKE = np.eye(N, dtype=np.float32)
FAR = LONGEST + 1.0


def value(name: str, a: int, b: int, near: FloatArray | None = None) -> float:
    columns = label_columns(KNOWN, {} if near is None else {"texts": near}, N)
    place = [column.name for column in columns.columns].index(name)
    return float(columns.rows(np.array([[a, b]]))[0, place])


@pytest.mark.parametrize(
    ("name", "matrix"),
    [
        # By 1 and by 3; nothing else has two ways.
        ("known ways of two steps", {(0, 2): 2, (1, 4): 1, (3, 4): 1}),
        ("known ways of three steps", {(0, 4): 2}),
        # 1 and 3 lead to the same, and so each has a share of the other's way; so has each itself.
        (
            "alike in what they lead to",
            {(0, 1): 1, (0, 3): 1, (1, 2): np.sqrt(2), (3, 2): np.sqrt(2), (2, 4): 1},
        ),
        # 1 leads where 3 leads, and 3 is not needed before 4: nor, by itself, is 3.
        ("alike, but not a prerequisite", {(1, 4): np.log(2), (3, 4): np.log(2)}),
        # 4 is not needed before 1, which needs what 3 needs. And 3 is not needed before 4.
        (
            "prerequisite of what is alike, but not of it",
            {(4, 3): np.log(2), (4, 1): np.log(2), (3, 4): np.log(2)},
        ),
        ("common dependents", {(1, 3): 1, (3, 1): 1}),
        ("common prerequisites", {(1, 3): 1, (3, 1): 1}),
    ],
)
def test_ways_through_known_prerequisites(name: str, matrix: dict[tuple[int, int], float]) -> None:
    found = {
        (a, b): value(name, a, b)
        for a in range(N)
        for b in range(N)
        if a != b and value(name, a, b) != 0
    }
    assert found == pytest.approx(matrix)


def test_steps_are_those_of_the_shortest_way() -> None:
    expected = [
        [FAR, 1, 2, 1, 3],
        [FAR, FAR, 1, FAR, 2],
        [FAR, FAR, FAR, FAR, 1],
        [FAR, FAR, 1, FAR, 2],
        [FAR, FAR, FAR, FAR, FAR],
    ]
    found = [[value("known steps", a, b) for b in range(N)] for a in range(N)]
    assert found == expected
    assert value("known steps, turned round", 4, 0) == 3


def test_ways_longer_than_the_longest_are_none() -> None:
    chain = np.array([(i, i + 1) for i in range(LONGEST + 1)])
    columns = label_columns(LabelledPairs(chain, np.ones(len(chain), dtype=int)), {}, LONGEST + 2)
    steps = columns.rows(np.array([[0, LONGEST], [0, LONGEST + 1]]))
    place = [column.name for column in columns.columns].index("known steps")
    assert steps[:, place].tolist() == [LONGEST, LONGEST + 1]


def test_concepts_know_how_much_follows_from_them() -> None:
    dependents = [value("known dependents of the first", a, (a + 1) % N) for a in range(N)]
    prerequisites = [value("known prerequisites of the first", a, (a + 1) % N) for a in range(N)]
    np.testing.assert_allclose(np.expm1(dependents), [4, 2, 1, 2, 0], rtol=1e-6)
    np.testing.assert_allclose(np.expm1(prerequisites), [0, 1, 3, 1, 4], rtol=1e-6)


def test_without_labels_there_are_the_same_columns_and_they_say_nothing() -> None:
    near = {"texts": NOBODY_ALIKE}
    empty = label_columns(LabelledPairs.empty(), near, N)
    assert empty.columns == label_columns(KNOWN, near, N).columns
    assert {column.kind for column in empty.columns} == {"labels"}
    rows = empty.rows(np.array([[0, 1], [4, 2]]))
    steps = ["known steps" in column.name for column in empty.columns]
    assert (rows[:, steps] == FAR).all()
    assert not rows[:, np.logical_not(steps)].any()


def test_a_label_that_is_given_twice_counts_once() -> None:
    twice = KNOWN.joined(KNOWN)
    np.testing.assert_array_equal(
        label_matrix(twice, 1, N).toarray(), label_matrix(KNOWN, 1, N).toarray()
    )
    assert sorted(np.argwhere(label_matrix(KNOWN, 0, N).toarray()).tolist()) == [[3, 4], [4, 1]]
