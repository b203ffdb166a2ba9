"""Pairs of concepts as people name them, and as rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from proprl.arrays import IntArray
from proprl.data.lookup import find_concept
from proprl.data.splits.grouping import pair_codes
from proprl.data.splits.labelled import LabelledPairs
from proprl.errors import ProprlError

NamedPairs: TypeAlias = Any
"""Ordered pairs by name or id: a list of (source, target), or a frame with those columns."""

COLUMNS = ("source", "target", "source_name", "target_name")


def pair_rows(pairs: NamedPairs, ids: Sequence[str], names: Sequence[str]) -> IntArray:
    """Return named pairs as rows (m, 2); unknown names are an error that suggests the nearest.

    >>> pair_rows([("Limits", "s")], ids=["l", "s"], names=["Limits", "Series"]).tolist()
    [[0, 1]]
    """
    row_of_id = {concept: row for row, concept in enumerate(ids)}

    def row(concept: object) -> int:
        known = row_of_id.get(str(concept))
        return find_concept(str(concept), ids, names) if known is None else known

    rows = [(row(source), row(target)) for source, target in _iterate(pairs)]
    for source, target in rows:
        if source == target:
            raise ProprlError(f"{names[source]} is paired with itself; give two concepts")
    return np.array(rows, dtype=np.int64).reshape(-1, 2)


def pair_table(rows: IntArray, ids: Sequence[str], names: Sequence[str]) -> pl.DataFrame:
    """Return a table of pairs by id and by name: rows (m, 2) -> source, target and their names."""
    first, second = rows[:, 0].tolist(), rows[:, 1].tolist()
    return pl.DataFrame(
        {
            "source": [ids[i] for i in first],
            "target": [ids[j] for j in second],
            "source_name": [names[i] for i in first],
            "target_name": [names[j] for j in second],
        },
        schema=dict.fromkeys(COLUMNS, pl.String),
    )


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


def _iterate(pairs: NamedPairs) -> Iterator[Any]:
    """Go through pairs given as a sequence of two, or as a frame with source and target."""
    if hasattr(pairs, "columns"):
        missing = [column for column in ("source", "target") if column not in list(pairs.columns)]
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
