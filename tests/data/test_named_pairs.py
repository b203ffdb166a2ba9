"""Pairs as people name them."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest

from proprl.data import LabelledPairs
from proprl.data.named_pairs import NamedPairs, background_rows, pair_table
from proprl.errors import ProprlError, UnknownConceptError

IDS, NAMES = ("l", "d", "s"), ("Limits", "Derivatives", "Series")
KNOWN = LabelledPairs([[0, 1]], [1])  # type: ignore[arg-type]


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame])
def test_background_may_be_a_frame(frame: type) -> None:
    table = frame({"source": ["Series", "d"], "target": ["limits", "l"]})
    assert background_rows(table, KNOWN, IDS, NAMES).tolist() == [[1, 0], [2, 0]]


def test_a_pair_counts_once_whatever_it_is_called() -> None:
    pairs = [("s", "l"), ("Series", "Limits"), ("d", "s"), ("s", "l")]
    assert background_rows(pairs, KNOWN, IDS, NAMES).tolist() == [[1, 2], [2, 0]]


def test_no_background_is_no_rows() -> None:
    assert background_rows([], KNOWN, IDS, NAMES).shape == (0, 2)


@pytest.mark.parametrize(
    ("pairs", "kind", "message"),
    [
        ([("Limits", "d"), ("s", "d")], ProprlError, r"1 of 2 .* such as Limits → Derivatives"),
        ([("s", "Series")], ProprlError, "Series is paired with itself"),
        ([("s", "Serie")], UnknownConceptError, "did you mean 'Series'"),
        ("all", ProprlError, "not 'all'"),
        ([("s", "d", "l")], ProprlError, "pair 0 is"),
        (pl.DataFrame({"target": ["s"]}), ProprlError, "lacks the column 'source'"),
    ],
)
def test_what_is_no_background_is_named(
    pairs: NamedPairs, kind: type[ProprlError], message: str
) -> None:
    with pytest.raises(kind, match=message):
        background_rows(pairs, KNOWN, IDS, NAMES)


def test_the_reverse_of_a_label_is_no_label() -> None:
    assert background_rows([("d", "l")], KNOWN, IDS, NAMES).tolist() == [[1, 0]]


def test_a_table_names_ids_and_names_and_may_be_empty() -> None:
    rows = background_rows([("d", "s")], KNOWN, IDS, NAMES)
    assert pair_table(rows, IDS, NAMES).rows() == [("d", "s", "Derivatives", "Series")]
    assert pair_table(rows[:0], IDS, NAMES).schema["source"] == pl.String
