"""What labelled pairs must hold: labels, parts, origins, and rows that agree with each other."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, pairwise

import polars as pl
import rustworkx as rx

from proprl.data.splits.labelled import CHOSEN, DRAWN, ORIGINS, PARTS
from proprl.data.tables.cells import TABLES
from proprl.data.tables.checks import Check, blank, numbers, repeated

_LABELS = {"0": 0, "0.0": 0, "1": 1, "1.0": 1}
_TRUTHS = {"false": 0, "true": 1}  # what Parquet and JSON may hold; in CSV they are words
_SPLITS = {part: part for part in PARTS} | dict.fromkeys(("val", "valid", "dev"), "validation")


def check_pairs(check: Check) -> pl.DataFrame:
    """Return the labelled pairs, without optional columns that say nothing: blank or usual."""
    check.ends()
    label = _labels(check)
    split = _splits(check) if "split" in check.frame.columns else None
    origin = _origins(check)
    chance = chances(check, origin)
    _report_repeated_pairs(check, label, split)
    _warn_of_mutual_positives(check, label)
    _warn_of_circles(check, label)
    said = {"split": split, "origin": origin, "chance": chance}
    kept = {column: cells for column, cells in said.items() if cells is not None}
    others = [column for column in check.frame.columns if column not in said]
    check.misspelt_columns(TABLES["pairs"])
    standard = ["source", "target", "label"]
    frame = check.frame.select(*others).with_columns(label, **kept)
    return frame.select(*standard, *kept, *(o for o in others if o not in standard))


def _labels(check: Check) -> pl.Series:
    cells = check.frame["label"]
    accepted = _LABELS if check.table.file.endswith(".csv") else _LABELS | _TRUTHS
    label = cells.str.strip_chars().replace_strict(accepted, default=None, return_dtype=pl.Int64)
    expected = "must be 1 (source is a prerequisite of target) or 0"
    check.report(label.is_null() & cells.is_not_null(), expected, column="label")
    return label


def _splits(check: Check) -> pl.Series | None:
    """Return the part of each pair; None where the column is blank throughout."""
    cells = check.frame["split"]
    if blank(cells).all() and not cells.has_nulls():
        return None
    expected = f"must be one of {', '.join(PARTS)}; give it for every pair or for none"
    return words(check, "split", _SPLITS, expected)


def _origins(check: Check) -> pl.Series | None:
    """Return who picked each pair; None where people chose them all."""
    if "origin" not in check.frame.columns:
        return None
    expected = f"must be one of {', '.join(ORIGINS)}, or empty, which means {CHOSEN}"
    origin = words(check, "origin", {o: o for o in ORIGINS} | {"": CHOSEN}, expected)
    return None if (origin == CHOSEN).all() and not origin.has_nulls() else origin


def words(check: Check, column: str, known: Mapping[str, str], expected: str) -> pl.Series:
    """Return what the words of a column mean, in any case; report those that are not known."""
    cells = check.frame[column]
    words = cells.str.strip_chars().str.to_lowercase()
    meant = words.replace_strict(known, default=None, return_dtype=pl.String)
    check.report(meant.is_null() & cells.is_not_null(), expected, column=column)
    return meant


def chances(check: Check, origin: pl.Series | None) -> pl.Series | None:
    """Return the chance by which each pair was drawn, null for the others; None without any."""
    if "chance" not in check.frame.columns:
        if origin is not None:
            needed = "a drawn pair needs its chance of being drawn: add the column chance"
            check.report(origin == DRAWN, needed, column="origin")
        return None
    if origin is None:
        origin = pl.Series("origin", [CHOSEN] * len(check.frame), dtype=pl.String)
    cells = check.frame["chance"]
    chance = numbers(cells).fill_nan(None)  # frames hold NaN where nothing is said
    empty = blank(cells) | (cells.str.strip_chars().str.to_lowercase() == "nan")
    check.report(
        (origin == DRAWN) & empty,
        "must not be empty: a drawn pair needs its chance of being drawn, above 0 and at most 1",
        column="chance",
    )
    check.report(
        (origin != DRAWN) & ~empty,
        lambda position: (
            f"must be empty for a pair that was {origin[position]}: "
            f"only drawn pairs have a chance; empty it, or set origin to {DRAWN}"
        ),
        column="chance",
    )
    possible = ((chance > 0) & (chance <= 1)).fill_null(False)
    wrong = (origin == DRAWN).fill_null(True) & ~empty & ~possible
    check.report(wrong, "must be a number above 0 and at most 1", column="chance")
    return None if chance.is_null().all() else chance


def _report_repeated_pairs(check: Check, label: pl.Series, split: pl.Series | None) -> None:
    """Report each row whose pair stands in an earlier row, with that row's label or another."""
    first = check.first_positions("source", "target")

    def said_before(position: int) -> str:
        earlier = int(first[position])
        if label[position] != label[earlier]:
            return f"this pair has another label in row {check.row(earlier)}"
        message = f"this pair stands in row {check.row(earlier)} already"
        if split is None or split[position] == split[earlier]:
            return message
        return f"{message}, in another part: {split[earlier]}"

    pair = check.joined("source", "target")
    check.report(repeated(first), said_before, values=pair, warning=check.keep_repeated)


def _warn_of_mutual_positives(check: Check, label: pl.Series) -> None:
    positive = check.frame.select("source", "target").with_row_index("position")
    positive = positive.filter((label == 1).fill_null(False), pl.col("source") != pl.col("target"))
    both = positive.join(positive, left_on=["source", "target"], right_on=["target", "source"])
    _warn(
        check,
        {
            later: f"row {check.row(first)} says the reverse: "
            "only one of two concepts can come first"
            for later, first in both.select("position", "position_right").iter_rows()
            if first < later
        },
    )


def _warn_of_circles(check: Check, label: pl.Series) -> None:
    """Warn of one circle in each group of concepts whose labels put each before all others.

    Pairs labelled 1 in both orders are left out: they have a warning of their own.
    """
    ends = list(check.frame.select("source", "target").iter_rows())
    row_of = {
        pair: position
        for position, pair in enumerate(ends)
        if label[position] == 1 and None not in pair
    }
    one_way = [pair for pair in row_of if pair[::-1] not in row_of]
    graph: rx.PyDiGraph[str, None] = rx.PyDiGraph()
    node = {concept: graph.add_node(concept) for concept in dict.fromkeys(chain(*one_way))}
    graph.add_edges_from_no_data([(node[a], node[b]) for a, b in one_way])
    found: dict[int, str] = {}
    for group in rx.strongly_connected_components(graph):
        if len(group) == 1:
            continue
        inside = {graph[place] for place in group}
        last = max(row_of[pair] for pair in one_way if inside.issuperset(pair))
        source, target = ends[last]
        back = rx.dijkstra_shortest_paths(graph, node[target], target=node[source])[node[source]]
        circle = [source, *(graph[place] for place in back)]
        rows = [str(check.row(row_of[step])) for step in pairwise(circle[1:])]
        found[last] = (
            f"with rows {', '.join(rows)} this closes a circle, {' → '.join(circle)}: "
            "only one of them can come first"
        )
    _warn(check, found)


def _warn(check: Check, found: Mapping[int, str]) -> None:
    """Warn of the pairs at these positions."""
    faulty = pl.Series([k in found for k in range(len(check.frame))], dtype=pl.Boolean)
    pair = check.joined("source", "target")
    check.report(faulty, found.__getitem__, values=pair, warning=True)
