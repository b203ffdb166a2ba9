"""Named numbers about ordered pairs: where each stands, and how it is called."""

from __future__ import annotations

import numpy as np

from proprl.pairs.columns import Column, Columns

# What the numbers are about does not matter here; where they end up does.
LIKE = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])
MOVES = np.array([[0.0, 10.0, 20.0], [30.0, 0.0, 40.0], [50.0, 60.0, 0.0]])
COUNT = np.array([7.0, 5.0, 4.0])


def gathered() -> Columns:
    return (
        Columns.of("resources", about_concepts={"count": COUNT})
        + Columns.of("moves", directed={"moves": MOVES})
        + Columns.of("texts", symmetric={"likeness": LIKE})
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
    assert Columns.of("texts").columns == []
    assert Columns.of("texts").rows(np.array([[0, 1], [1, 0]])).shape == (2, 0)
