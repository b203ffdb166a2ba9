"""Tables of text with known columns: what every file and every frame is turned into.

Everything is text at first, so that CSV, JSON lines, Parquet and frames share one set of checks.
Reported here are column names that cannot be used, missing columns and unreadable cells. An empty
cell is ""; a null is a cell that was reported, which later checks leave alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from proprl.arrays import IntArray
from proprl.data.tables.findings import Findings


class TableSpec(NamedTuple):
    """The columns that a table must and may have; further columns are kept as text."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()


TABLES: Mapping[str, TableSpec] = {
    "concepts": TableSpec(("id", "name"), ("description", "topic")),
    "resources": TableSpec(("id", "title"), ("text",)),
    "concept_resources": TableSpec(("concept", "resource")),
    "resource_links": TableSpec(("source", "target")),
    "interactions": TableSpec(("learner", "concept", "time")),
    "transitions": TableSpec(("source", "target", "weight")),
    "pairs": TableSpec(("source", "target", "label"), ("split", "origin", "chance")),
    "answers": TableSpec(("source", "target", "answer"), ("who", "when", "origin", "chance")),
}


@dataclass(frozen=True)
class Table:
    """The rows of one file or frame, every column text."""

    file: str
    frame: pl.DataFrame
    rows: IntArray  # the number of each row, as a person who looks at the file counts
    nested: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """The positions of cells that hold a list, an object or bytes, by column."""
    headings: Mapping[str, str] = field(default_factory=dict)
    """What the file calls a column, by our name of it."""


def text_table(
    file: str,
    headings: Sequence[str],
    columns: Sequence[pl.Series | list[Any]],
    rows: IntArray,
    findings: Findings,
    *,
    header_row: int | None = None,
) -> Table:
    """Return a table of these columns; what is no text yet becomes text."""
    texts, nested = {}, {}
    names = _usable_headings(file, header_row, headings, findings)
    for name, values in zip(names, columns, strict=True):
        if name is None:
            continue
        cells, nested[name], broken = (
            (values, [], []) if isinstance(values, pl.Series) else _text_column(values)
        )
        with_nul = cells.str.contains("\0", literal=True).fill_null(False).arg_true().to_list()
        for unusable, expected in (
            (broken, "must be valid Unicode text"),
            (with_nul, "must not hold a NUL character: remove it"),
        ):
            cells = _without(cells, unusable, file, rows, name, expected, findings)
        texts[name] = cells
    return Table(file, pl.DataFrame(texts), rows, nested)


def _without(
    cells: pl.Series,
    unusable: Sequence[int],
    file: str,
    rows: IntArray,
    heading: str,
    expected: str,
    findings: Findings,
) -> pl.Series:
    """Return the cells with a null for each that cannot be used, and report it."""
    if not unusable:
        return cells
    kept = cells.to_list()
    for position in unusable:
        findings.report(
            file, expected, row=int(rows[position]), column=heading, value=kept[position]
        )
        kept[position] = None
    return pl.Series(kept, dtype=pl.String)


def _usable_headings(
    file: str, row: int | None, names: Sequence[str], findings: Findings
) -> list[str | None]:
    """Return the column names without outer spaces; None, and a problem, for unusable ones."""
    usable: list[str | None] = []
    for number, name in enumerate(names, start=1):
        stripped = name.strip()
        fault = None
        if not stripped:
            fault = f"column {number} has no name: name it or remove it"
        elif "\0" in stripped or not _is_unicode(stripped):
            fault = f"the name of column {number} is not plain text: rename it"
        elif stripped in usable:
            fault = "two columns have this name: rename or remove one"
        if fault:
            shown = stripped.encode("utf-8", "replace").decode()
            findings.report(file, fault, row=row, column=shown or None)
        usable.append(None if fault else stripped)
    return usable


def frame_table(frame: Any, file: str, findings: Findings) -> Table | None:
    """Return the table in a polars or pandas frame, or in anything with columns like theirs."""
    if not all(hasattr(frame, needed) for needed in ("__len__", "__getitem__", "columns")):
        findings.report(file, "must be a polars or pandas frame", value=type(frame).__name__)
        return None
    names = list(frame.columns)
    rows = np.arange(1, len(frame) + 1, dtype=np.int64)
    reported = pl.Series([None] * len(frame), dtype=pl.String)
    columns = [  # a name that stands twice gives no single column
        _frame_column(frame[name]) if names.count(name) == 1 else reported for name in names
    ]
    return text_table(file, [str(name) for name in names], columns, rows, findings)


def _frame_column(values: Any) -> pl.Series | list[Any]:
    """Return a frame's column as text where polars knows how, else as a list of values."""
    if not isinstance(values, pl.Series):
        return list(values)
    if isinstance(values.dtype, pl.Datetime):
        return datetime_text(values).fill_null("")
    if values.dtype.is_nested() or values.dtype in (pl.Binary, pl.Duration, pl.Object):
        return values.to_list()
    return values.cast(pl.String).fill_null("")


def datetime_text(series: pl.Series) -> pl.Series:
    """Return moments as ISO text in UTC, to the microsecond."""
    if isinstance(series.dtype, pl.Datetime) and series.dtype.time_zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return series.dt.strftime("%Y-%m-%dT%H:%M:%S%.6f")


def _text_column(values: Sequence[Any]) -> tuple[pl.Series, list[int], list[int]]:
    """Return values as text, the positions of nested ones, and those that are not Unicode."""
    texts = [value if type(value) is str else _text(value) for value in values]
    nested = [position for position, text in enumerate(texts) if text is None]
    for position in nested:
        texts[position] = json.dumps(values[position], ensure_ascii=False, default=str)
    try:
        return pl.Series(texts, dtype=pl.String), nested, []
    except UnicodeEncodeError:  # half a surrogate pair somewhere: polars holds UTF-8 only
        broken = [i for i, text in enumerate(texts) if text is not None and not _is_unicode(text)]
        for position in broken:
            texts[position] = None
        return pl.Series(texts, dtype=pl.String), nested, broken


def _text(value: Any) -> str | None:
    """Return one value as text: "" where it is missing, None where it is no single value."""
    if isinstance(value, list | tuple | set | dict | bytes | np.ndarray | pl.Series):
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    try:
        missing = value is None or bool(value != value)
    except TypeError:  # pandas.NA refuses to be true or false
        missing = True
    if missing:
        return ""
    return value.isoformat() if isinstance(value, date) else str(value)


def _is_unicode(text: str) -> bool:
    return text.encode("utf-8", "replace").decode() == text


def arrange(table: Table, name: str, renamed: Mapping[str, str], findings: Findings) -> Table:
    """Return the table under our column names; report columns and cells that do not fit.

    `renamed` maps our names to the file's, where they differ. A required column that is missing
    is reported and stands in as nulls, so that the other columns are still checked.
    """
    spec, rows, found = TABLES[name], table.rows, table.frame.columns
    standard = (*spec.required, *spec.optional)
    taken = renamed.values()
    headings = {c: renamed.get(c, c) for c in standard if c in renamed or c not in taken}
    ours = {heading: column for column, heading in headings.items()}
    frame: dict[str, pl.Series] = {}
    for column, heading in headings.items():
        if heading not in found and (column in spec.required or column in renamed):
            expected = (
                f"this column is missing; the columns found are: {', '.join(found) or 'none'}"
            )
            findings.report(table.file, expected, column=heading)
            frame[column] = pl.Series([None] * len(rows), dtype=pl.String)
    for heading in found:
        column = ours.get(heading, heading)
        if column in headings and heading not in ours:  # our name, but another column is read
            expected = (
                f"course.toml reads {headings[heading]!r} as {heading!r}, yet there is a column "
                "of that name too: rename or remove one"
            )
            findings.report(table.file, expected, column=heading)
            continue
        nested = table.nested.get(heading, ()) if column in standard else ()
        expected = "must be one text or number"
        frame[column] = _without(
            table.frame[heading], nested, table.file, rows, heading, expected, findings
        )
    if not len(rows):
        findings.report(table.file, "the table is empty: it needs at least one row")
    order = [c for c in standard if c in frame] + [c for c in frame if c not in standard]
    return Table(table.file, pl.DataFrame({c: frame[c] for c in order}), rows, headings=headings)
