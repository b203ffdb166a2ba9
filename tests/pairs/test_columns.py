"""Named numbers about pairs: where each stands, how it is called, and what a course says.

The course, worked out by hand, has three concepts. Texts: 0 and 1 say the same, 2 something else,
and it names 0. Moves: 0 → 1 three times, 0 → 2 once, 1 → 2 twice. Resources: r0 holds 0, r1 holds
0 and 1, r2 holds 1 and 2; r0 comes before r1, and r1 before r2.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from proprl.arrays import FloatArray
from proprl.graphs.evidence import Evidence
from proprl.pairs.columns import FEW_RESOURCES, RARE, Column, Columns, course_columns

# What the numbers are about does not matter here; where they end up does.
LIKE = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])
MOVES = np.array([[0.0, 10.0, 20.0], [30.0, 0.0, 40.0], [50.0, 60.0, 0.0]])
COUNT = np.array([7.0, 5.0, 4.0])


def gathered() -> Columns:
    return (
        Columns("resources", about_concepts={"count": COUNT})
        + Columns("moves", directed={"moves": MOVES})
        + Columns("texts", symmetric={"likeness": LIKE})
    )


def test_a_row_holds_the_numbers_of_its_pair_in_both_orders() -> None:
    rows = gathered().rows(np.array([[0, 2], [2, 1]]))
    np.testing.assert_array_equal(rows, [[2, 20, 50, 7, 4, 3], [3, 60, 40, 4, 5, -1]])
    assert rows.dtype == np.float32


def test_each_column_says_what_it_is_and_of_which_kind() -> None:
    assert gathered().columns == [
        Column("likeness", "texts"),
        Column("moves", "moves"),
        Column("moves, turned round", "moves"),
        Column("count of the first", "resources"),
        Column("count of the second", "resources"),
        Column("count, difference", "resources"),
    ]


def test_no_pairs_have_no_rows_and_no_evidence_has_no_columns() -> None:
    none = np.empty((0, 2), dtype=np.int64)
    assert gathered().rows(none).shape == (0, 6)
    assert Columns("texts").columns == []
    assert Columns("texts").rows(np.array([[0, 1], [1, 0]])).shape == (2, 0)


# What a course says

COURSE = Evidence(
    np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
    transitions=csr_array(np.array([[0.0, 3.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]])),
    incidence=csr_array(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])),
    resource_links=csr_array(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])),
    named_in=csr_array(np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])),
)
OFF_DIAGONAL = ~np.eye(3, dtype=bool)
PAIRS = np.argwhere(OFF_DIAGONAL)
l1, l2, l3 = np.log1p([1.0, 2.0, 3.0])


def visits(step: list[list[float]]) -> FloatArray:
    """The share of time on walks that start anew with chance 0.15 at each of 20 steps."""
    P, where, spent = np.array(step), np.eye(3), np.zeros((3, 3))
    for _ in range(20):
        spent += 0.15 * where
        where = 0.85 * where @ P
    return np.log(spent + where + RARE)


# A walk stays where it is with weight 1. Of 0 that is 1 of 1 + 3 + 1, of 1 it is 1 of 1 + 2.
BY_COUNT = [[1 / 5, 3 / 5, 1 / 5], [0, 1 / 3, 2 / 3], [0, 0, 1]]
BY_LOGARITHM = [
    [1 / (1 + l3 + l1), l3 / (1 + l3 + l1), l1 / (1 + l3 + l1)],
    [0, 1 / (1 + l2), l2 / (1 + l2)],
    [0, 0, 1],
]
AGAINST = [
    [1, 0, 0],
    [l3 / (1 + l3), 1 / (1 + l3), 0],
    [l1 / (1 + l1 + l2), l2 / (1 + l1 + l2), 1 / (1 + l1 + l2)],
]

# Rows are the first of a pair, columns the second; the diagonal is never asked about.
OF_PAIRS: dict[str, FloatArray | list[list[float]]] = {
    "likeness of texts": [[9, 1, -1], [1, 9, -1], [-1, -1, 9]],
    "the second's text names the first": [[9, 0, 1], [0, 9, 0], [0, 0, 9]],
    "moves": [[9, l3, l1], [0, 9, l2], [0, 0, 9]],
    "share of the first's moves": [[9, 3 / 4, 1 / 4], [0, 9, 1], [0, 0, 9]],
    "share of the second's arrivals": [[9, 1, 1 / 3], [0, 9, 2 / 3], [0, 0, 9]],
    "visits on walks": visits(BY_COUNT),
    "visits on walks, moves by logarithm": visits(BY_LOGARITHM),
    "visits on walks against the moves": visits(AGAINST),
    # Of 0's two neighbours, one leads to 2.
    "share of neighbours that lead there": [[9, 0, 1 / 2], [0, 9, 0], [0, 0, 9]],
    "resources together": [[9, l1, 0], [l1, 9, l1], [0, l1, 9]],
    "overlap of resources": [[9, 1 / 3, 0], [1 / 3, 9, 1 / 2], [0, 1 / 2, 9]],
    "share of the first's resources": [[9, 1 / 2, 0], [1 / 2, 9, 1 / 2], [0, 1, 9]],
    # r0 → r1 and r1 → r2 both lead from 0 to 1.
    "steps between resources": [[9, l2, l1], [0, 9, l1], [0, 0, 9]],
}
OF_CONCEPTS: dict[str, list[float]] = {
    "moves away": [np.log(5), l2, 0],
    "arrivals": [0, l3, l3],
    "moves away per arrival": [np.log(5), l2 - l3, -l3],
    "links away": [2, 1, 0],
    "links to it": [0, 1, 2],
    "resources": [l2, l2, l1],
    # Of 0's resources two come before another, and one after; of 1's one and two; of 2's none, one.
    "resources rather first": [
        1 / (3 + FEW_RESOURCES),
        -1 / (3 + FEW_RESOURCES),
        -1 / (1 + FEW_RESOURCES),
    ],
}


def by_name(columns: Columns) -> dict[str, FloatArray]:
    rows = columns.rows(PAIRS)
    return {column.name: rows[:, k] for k, column in enumerate(columns.columns)}


def expected(name: str) -> FloatArray:
    """What the column of this name must hold for `PAIRS`."""
    a, b = PAIRS.T
    base = name.removesuffix(", turned round")
    if base in OF_PAIRS:
        matrix = np.array(OF_PAIRS[base])
        return matrix[a, b] if base == name else matrix[b, a]
    for ending, which in ((" of the first", (1, 0)), (" of the second", (0, 1))):
        if name.endswith(ending):
            values = np.array(OF_CONCEPTS[name.removesuffix(ending)])
            return which[0] * values[a] + which[1] * values[b]
    values = np.array(OF_CONCEPTS[name.removesuffix(", difference")])
    return values[a] - values[b]


@pytest.mark.parametrize("name", [column.name for column in course_columns(COURSE).columns])
def test_each_column_is_as_worked_out_by_hand(name: str) -> None:
    found = by_name(course_columns(COURSE))[name]
    np.testing.assert_allclose(found, expected(name), rtol=1e-6, atol=1e-6)


def test_names_are_told_apart() -> None:
    names = [column.name for column in course_columns(COURSE).columns]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("missing", "kinds"),
    [
        ((), {"texts", "moves", "resources"}),
        (("transitions",), {"texts", "resources"}),
        (("incidence",), {"texts", "moves"}),
        (("transitions", "incidence"), {"texts"}),
    ],
)
def test_what_a_course_lacks_has_no_columns_and_changes_no_other(
    missing: tuple[str, ...], kinds: set[str]
) -> None:
    whole = course_columns(COURSE)
    part = course_columns(replace(COURSE, **dict.fromkeys(missing)))
    assert {column.kind for column in part.columns} == kinds
    assert part.columns == [column for column in whole.columns if column.kind in kinds]
    for name, values in by_name(part).items():
        np.testing.assert_array_equal(values, by_name(whole)[name])


def test_without_an_order_of_resources_they_still_tell_who_is_together() -> None:
    unordered = course_columns(replace(COURSE, resource_links=None))
    names = {column.name for column in unordered.columns if column.kind == "resources"}
    assert "resources together" in names
    assert not any(name.startswith(("steps", "resources rather")) for name in names)


def test_moves_to_itself_are_no_moves_between_concepts() -> None:
    assert COURSE.transitions is not None
    staying = replace(COURSE, transitions=csr_array(COURSE.transitions.toarray() + 5 * np.eye(3)))
    found = by_name(course_columns(staying))
    for name in ("moves", "share of the first's moves", "links away of the first"):
        np.testing.assert_allclose(found[name], expected(name), rtol=1e-6)


def test_a_concept_without_anything_has_numbers_too() -> None:
    lonely = Evidence(
        np.vstack([COURSE.features, [[0.0, 0.0]]]),
        transitions=csr_array(np.pad(COURSE.transitions.toarray(), (0, 1))),
        incidence=csr_array(np.pad(COURSE.incidence.toarray(), ((0, 1), (0, 0)))),
        resource_links=COURSE.resource_links,
    )
    rows = course_columns(lonely).rows(np.array([[0, 3], [3, 0]]))
    assert np.isfinite(rows).all()
