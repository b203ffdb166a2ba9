"""Concepts and pairs as people name them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from proprl.data import LabelledPairs
from proprl.data.lookup import NamedPairs, background_rows, find_concept, pair_table, read_pairs
from proprl.errors import CourseError, ProprlError, UnknownConceptError

IDS = ("c1", "c2", "c3", "Limits")
NAMES = ("Limits", "Derivatives", "Straße", "Limit theorems")


def test_an_id_outranks_a_name() -> None:
    assert find_concept("Limits", IDS, NAMES) == 3
    assert find_concept("c1", IDS, NAMES) == 0


@pytest.mark.parametrize("name", ["Derivatives", "derivatives", "DERIVATIVES", " Derivatives  "])
def test_a_name_in_any_case(name: str) -> None:
    assert find_concept(name, IDS, NAMES) == 1


def test_case_is_folded_in_every_language() -> None:
    assert find_concept("STRASSE", IDS, NAMES) == 2


def test_an_exact_name_outranks_a_folded_one() -> None:
    assert find_concept("set", ["a", "b"], ["SET", "set"]) == 1


@pytest.mark.parametrize("name", ["Sets", "sets"])
def test_an_ambiguous_name_lists_the_ids(name: str) -> None:
    with pytest.raises(UnknownConceptError, match=r"2 concepts are called .*'m7', 'm9'"):
        find_concept(name, ["m7", "m8", "m9"], ["Sets", "Maps", "Sets"])


def test_a_misspelling_suggests_the_nearest_name() -> None:
    with pytest.raises(UnknownConceptError, match=r"no concept 'Limts'.*did you mean 'Limits'"):
        find_concept("Limts", ["a", "b"], ["Limits", "Derivatives"])


def test_nothing_near_suggests_nothing() -> None:
    with pytest.raises(UnknownConceptError) as raised:
        find_concept("Gardening", IDS, NAMES)
    assert "did you mean" not in str(raised.value)


def test_a_number_is_no_concept() -> None:
    with pytest.raises(UnknownConceptError, match="no concept 1"):
        find_concept(1, ["1a"], ["One"])  # type: ignore[arg-type]


# --- pairs ---

PAIR_IDS, PAIR_NAMES = ("l", "d", "s"), ("Limits", "Derivatives", "Series")
KNOWN = LabelledPairs([[0, 1]], [1])  # type: ignore[arg-type]


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame])
def test_background_may_be_a_frame(frame: type) -> None:
    table = frame({"source": ["Series", "d"], "target": ["limits", "l"]})
    assert background_rows(table, KNOWN, PAIR_IDS, PAIR_NAMES).tolist() == [[1, 0], [2, 0]]


def test_a_pair_counts_once_whatever_it_is_called() -> None:
    pairs = [("s", "l"), ("Series", "Limits"), ("d", "s"), ("s", "l")]
    assert background_rows(pairs, KNOWN, PAIR_IDS, PAIR_NAMES).tolist() == [[1, 2], [2, 0]]


def test_no_background_is_no_rows() -> None:
    assert background_rows([], KNOWN, PAIR_IDS, PAIR_NAMES).shape == (0, 2)


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
        background_rows(pairs, KNOWN, PAIR_IDS, PAIR_NAMES)


def test_the_reverse_of_a_label_is_no_label() -> None:
    assert background_rows([("d", "l")], KNOWN, PAIR_IDS, PAIR_NAMES).tolist() == [[1, 0]]


def test_a_table_names_ids_and_names_and_may_be_empty() -> None:
    rows = background_rows([("d", "s")], KNOWN, PAIR_IDS, PAIR_NAMES)
    assert pair_table(rows, PAIR_IDS, PAIR_NAMES).rows() == [("d", "s", "Derivatives", "Series")]
    assert pair_table(rows[:0], PAIR_IDS, PAIR_NAMES).schema["source"] == pl.String


def test_a_file_of_pairs_keeps_its_other_columns(tmp_path: Path) -> None:
    file = tmp_path / "asked.csv"
    file.write_text("source,target,why\nLimits,s,first\nseries,d,\n")
    table = read_pairs(file, PAIR_IDS, PAIR_NAMES)
    assert table.rows() == [("Limits", "s", "first"), ("series", "d", "")]


def test_everything_that_is_wrong_with_a_file_of_pairs_is_listed(tmp_path: Path) -> None:
    file = tmp_path / "asked.csv"
    file.write_text("source,target\nLimts,s\nd,l\nd,Gardening\n")
    with pytest.raises(CourseError) as raised:
        read_pairs(file, PAIR_IDS, PAIR_NAMES)
    places = [(problem.row, problem.column, problem.value) for problem in raised.value.problems]
    assert places == [(2, "source", "Limts"), (4, "target", "Gardening")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("source,target\ns,d\nd,Derivatives\n", "row 3, column target: found 'Derivatives'"),
        ("source,goal\ns,d\n", "must have the column target; it has: source, goal"),
        ("source,target\n", "a header and no rows"),
    ],
)
def test_a_file_that_holds_no_pairs(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "asked.csv"
    file.write_text(content)
    with pytest.raises(CourseError, match=message):
        read_pairs(file, PAIR_IDS, PAIR_NAMES)
