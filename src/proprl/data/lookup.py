"""Concepts and pairs by what a person calls them: an id, or a name in any case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from proprl.arrays import IntArray
from proprl.data.splits.labelled import LabelledPairs, pair_codes
from proprl.data.tables.csv_json_parquet import open_table
from proprl.errors import ProprlError, UnknownConceptError

NamedPairs: TypeAlias = Any
"""Ordered pairs by name or id: a list of (source, target), or a frame with those columns."""

_ENDS = ("source", "target")


def find_concept(concept: str, ids: Sequence[str], names: Sequence[str]) -> int:
    """Return the row of the concept with this id, else with this name, in any case.

    >>> find_concept("limits", ids=["c1", "c2"], names=["Functions", "Limits"])
    1
    """
    if concept in ids:
        return ids.index(concept)
    rows = [row for row, name in enumerate(names) if name == concept]
    if not rows and isinstance(concept, str):
        wanted = plain_name(concept)
        rows = [row for row, name in enumerate(names) if plain_name(name) == wanted]
    if not rows:
        raise UnknownConceptError(
            f"there is no concept {concept!r} in the course{_suggestion(concept, ids, names)}"
        )
    if len(rows) > 1:
        raise UnknownConceptError(
            f"{len(rows)} concepts are called {concept!r}: use one of their ids, "
            + ", ".join(repr(ids[row]) for row in rows)
        )
    return rows[0]


def finder(ids: Sequence[str], names: Sequence[str]) -> Callable[[str], int]:
    """Return `find_concept` for many: an id, or a name as it is written, costs no search."""
    row_of = {name: row for row, name in enumerate(names)}
    often = Counter(names)
    row_of = {name: row for name, row in row_of.items() if often[name] == 1}
    row_of |= {concept: row for row, concept in enumerate(ids)}

    def row(concept: str) -> int:
        known = row_of.get(concept)
        return find_concept(concept, ids, names) if known is None else known

    return row


def is_known(concept: str, ids: Sequence[str], names: Sequence[str]) -> bool:
    """Return whether `find_concept` would find this, or too many of it.

    >>> is_known(" LIMITS", ids=["c1", "c2"], names=["Functions", "Limits"])
    True
    """
    wanted = plain_name(concept)
    return concept in ids or any(plain_name(name) == wanted for name in names)


def plain_name(name: str) -> str:
    r"""Return a name without what two writers of it may do differently: case and white space.

    >>> plain_name(" Neural\tNetworks ")
    'neural networks'
    """
    return " ".join(name.casefold().split())


def _suggestion(concept: object, ids: Sequence[str], names: Sequence[str]) -> str:
    originals = {plain_name(text): text for text in (*ids, *names)}  # a name outranks an equal id
    nearest = get_close_matches(plain_name(str(concept)), originals, n=3)
    if not nearest:
        return ""
    return "; did you mean " + " or ".join(repr(originals[text]) for text in nearest) + "?"


def pair_rows(pairs: NamedPairs, ids: Sequence[str], names: Sequence[str]) -> IntArray:
    """Return named pairs as rows (m, 2); unknown names are an error that suggests the nearest.

    >>> pair_rows([("Limits", "s")], ids=["l", "s"], names=["Limits", "Series"]).tolist()
    [[0, 1]]
    """
    row = finder(ids, names)
    rows = [(row(str(source)), row(str(target))) for source, target in _iterate(pairs)]
    for source, target in rows:
        if source == target:
            raise ProprlError(f"{names[source]} is paired with itself; give two concepts")
    return np.array(rows, dtype=np.int64).reshape(-1, 2)


def _iterate(pairs: NamedPairs) -> Iterator[Any]:
    """Go through pairs given as a sequence of two, or as a frame with source and target."""
    if hasattr(pairs, "columns"):
        missing = [column for column in _ENDS if column not in list(pairs.columns)]
        if missing:
            raise ProprlError(
                f"the table of pairs lacks the column {missing[0]!r}; found {list(pairs.columns)}"
            )
        yield from zip(list(pairs["source"]), list(pairs["target"]), strict=True)
        return
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise ProprlError(f"pairs are a list of (source, target) or a frame, not {pairs!r}")
    for position, pair in enumerate(pairs):
        if isinstance(pair, str) or not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
            raise ProprlError(f"pair {position} is {pair!r}; expected (source, target)")
        yield pair


def pair_table(rows: IntArray, ids: Sequence[str], names: Sequence[str]) -> pl.DataFrame:
    """Return a table of pairs by id and by name: rows (m, 2) -> source, target and their names."""
    columns = {
        f"{end}{suffix}": [values[row] for row in rows[:, k].tolist()]
        for suffix, values in (("", ids), ("_name", names))
        for k, end in enumerate(_ENDS)
    }
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


def background_rows(
    pairs: NamedPairs, known: LabelledPairs, ids: Sequence[str], names: Sequence[str]
) -> IntArray:
    """Return pairs without a label as rows, each once; one with a known label is an error."""
    rows = np.unique(pair_rows(pairs, ids, names), axis=0)
    labelled = np.isin(pair_codes(rows), pair_codes(known.pairs))
    if labelled.any():
        source, target = rows[np.argmax(labelled)].tolist()
        raise ProprlError(
            f"{labelled.sum()} of {len(rows)} background pairs have a label to learn from, such as "
            f"{names[source]} → {names[target]}: background is for pairs without one; leave them "
            "out"
        )
    return rows


def read_pairs(path: Path, ids: Sequence[str], names: Sequence[str]) -> pl.DataFrame:
    """Return the table in a file, whose sources and targets are concepts known by id or name.

    Everything that is wrong is in one `CourseError`, with the rows.
    """
    table, findings = open_table(path)
    if not len(table.rows):
        findings.report(table.file, "has a header and no rows: there is nothing to score")
    find = finder(ids, names)
    ends: list[list[int | None]] = []
    for column in _ENDS:
        if column not in table.frame.columns:
            expected = f"must have the column {column}; it has: {', '.join(table.frame.columns)}"
            findings.report(table.file, expected)
            continue
        ends.append([])
        for row, concept in zip(table.rows.tolist(), table.frame[column], strict=True):
            try:
                ends[-1].append(find(concept or ""))
            except UnknownConceptError as error:
                findings.report(table.file, str(error), row=row, column=column, value=concept)
                ends[-1].append(None)
    if not findings.errors:
        for row, name, *pair in zip(table.rows.tolist(), table.frame["target"], *ends, strict=True):
            if pair[0] == pair[1]:
                expected = "is paired with itself: give two concepts"
                findings.report(table.file, expected, row=row, column="target", value=name)
    findings.raise_errors()
    return table.frame
