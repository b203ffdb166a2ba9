"""A printed table fits the terminal, and no word of it is broken."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from proprl.cli import console
from proprl.cli.console import print_table
from proprl.cli.tables import FRAME, parts

WORDS = st.text("abc", min_size=1, max_size=12)
TEXTS = st.lists(WORDS, min_size=1, max_size=15).map(" ".join)
WIDTH = 80


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a terminal of 80 columns shows."""
    written = io.StringIO()
    monkeypatch.setattr(console, "out", Console(file=written, width=WIDTH, color_system=None))
    return written


@given(st.integers(1, 14).flatmap(lambda n: st.lists(st.lists(TEXTS, min_size=n, max_size=n))))
def test_every_table_fits_and_no_column_is_narrower_than_its_longest_word(
    rows: list[list[str]],
) -> None:
    heads = [f"column {i}" for i in range(len(rows[0]) if rows else 3)]
    found = parts(heads, rows, WIDTH)
    for part in found:
        assert sum(part.widths) + FRAME * len(part.widths) + 1 <= WIDTH
        for column, width in zip(part.columns, part.widths, strict=True):
            words = " ".join([heads[column], *(row[column] for row in rows)]).split()
            assert width >= max(map(len, words))
    shown = [column for part in found for column in part.columns]
    assert set(shown) == set(range(len(heads)))


def test_a_table_with_room_to_spare_folds_nothing() -> None:
    assert parts(("name", "about"), [("campus", "a small course")], WIDTH)[0].widths == (6, 14)


def test_what_is_too_wide_goes_on_below_with_the_name_of_each_row(printed: io.StringIO) -> None:
    heads = ["method", *(f"measure {i}" for i in range(8))]
    rows = [[name, *["0.551 (0.502 to 0.593)"] * 8] for name in ("Sequitur", "Trees on evidence")]
    print_table("A wide table", heads, rows)
    said = printed.getvalue()
    assert max(map(len, said.splitlines())) <= WIDTH
    assert said.count("0.551 (0.502 to 0.593)") == 16
    assert said.count("│ Trees on evidence") == said.count("┃ method") > 1
    assert said.count("A wide table") == 1


def test_rows_that_two_columns_tell_apart_keep_both() -> None:
    figure = "0.551 (0.502 to 0.593)"
    rows = [(course, known, *[figure] * 5) for course in "ab" for known in "cd"]
    found = parts(("set", "known", *"vwxyz"), rows, WIDTH)
    assert [part.columns for part in found] == [(0, 1, 2, 3), (0, 1, 4, 5), (0, 1, 6)]


def test_no_table_is_left_with_a_single_column() -> None:
    rows = [("name", *["x" * 14] * 5)]
    found = parts(("method", *"abcde"), rows, WIDTH)
    assert [part.columns for part in found] == [(0, 1, 2, 3), (0, 4, 5)]


def test_a_word_wider_than_the_terminal_is_broken_and_not_lost(printed: io.StringIO) -> None:
    print_table(None, ("file", "found"), [("pairs.csv", "x" * 200)])
    lines = printed.getvalue().splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert sum(line.count("x") for line in lines) == 200


def test_a_name_in_brackets_is_no_style(printed: io.StringIO) -> None:
    print_table("[bold]", ("name",), [("[red]",)])
    assert "[bold]" in printed.getvalue()
    assert "[red]" in printed.getvalue()
