"""Tables of text with known columns: what every file format and every frame is turned into.

All values are text at first, so that one set of checks serves CSV, JSON lines, Parquet and
frames. An empty cell is ""; a null marks a cell that was already reported as unreadable, which
later checks leave alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import polars as pl

from proprl.arrays import IntArray
from proprl.data.checking.findings import Findings


@dataclass(frozen=True)
class TableSpec:
    """The columns that a table must and may have; further columns are kept as text."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()


TABLES: Mapping[str, TableSpec] = {
    "concepts": TableSpec(("id", "name"), ("description",)),
    "resources": TableSpec(("id", "title"), ("text",)),
    "concept_resources": TableSpec(("concept", "resource")),
    "resource_links": TableSpec(("source", "target")),
    "interactions": TableSpec(("learner", "concept", "time")),
    "transitions": TableSpec(("source", "target", "weight")),
    "pairs": TableSpec(("source", "target", "label"), ("split", "origin", "chance")),
}


@dataclass(frozen=True)
class Column:
    """The cells of one column as text, and the positions of cells that are no plain text."""

    text: pl.Series
    nested: Sequence[int] = ()  # lists, objects, bytes
    broken: Sequence[int] = ()  # not valid Unicode


@dataclass(frozen=True)
class Records:
    """What a reader found in one file, under the file's own column names."""

    file: str
    columns: Mapping[str, Column]
    rows: IntArray  # the number of each record, as a person who looks at the file counts


@dataclass(frozen=True)
class Table:
    """One table under proprl's column names, every column text."""

    file: str
    frame: pl.DataFrame
    rows: IntArray
    headings: Mapping[str, str]  # our name of a column → its name in the file

    def heading(self, column: str) -> str:
        """Return what the file calls this column."""
        return self.headings.get(column, column)


def frame_records(frame: Any, file: str, findings: Findings) -> Records | None:
    """Return the records of a polars or pandas frame, or of anything with columns like theirs."""
    if not all(hasattr(frame, needed) for needed in ("__len__", "__getitem__", "columns")):
        findings.error(file, "must be a polars or pandas frame", value=type(frame).__name__)
        return None
    given = list(frame.columns)
    names = usable_headings(file, None, [str(name) for name in given], findings)
    columns = {}
    for original, name in zip(given, names, strict=True):
        if name is None:
            continue
        values = frame[original]
        if given.count(original) > 1:  # reported above; such a frame gives no single column
            columns[name] = Column(pl.Series([None] * len(frame), dtype=pl.String))
        elif isinstance(values, pl.Series):
            columns[name] = series_column(values)
        else:
            columns[name] = value_column(list(values))
    rows = np.arange(1, len(frame) + 1, dtype=np.int64)
    return Records(file, columns, rows)


def usable_headings(
    file: str, row: int | None, names: Sequence[str], findings: Findings
) -> list[str | None]:
    """Return the column names without outer spaces; None, and a problem, for unusable ones."""
    usable: list[str | None] = []
    for number, name in enumerate(names, start=1):
        stripped = name.strip()
        fault = None
        if not stripped:
            fault = f"column {number} has no name: name it or remove it"
        elif not _is_clean(stripped):
            fault = f"the name of column {number} is not plain text: rename it"
        elif stripped in usable:
            fault = "two columns have this name: rename or remove one"
        if fault:
            shown = stripped.encode("utf-8", "replace").decode()
            findings.error(file, fault, row=row, column=shown or None)
        usable.append(None if fault else stripped)
    return usable


def series_column(series: pl.Series) -> Column:
    """Return a polars column as text."""
    dtype = series.dtype
    if isinstance(dtype, pl.Datetime):
        text = datetime_text(series)
    elif dtype.is_nested() or dtype in (pl.Binary, pl.Duration, pl.Object):
        return value_column(series.to_list())
    else:
        text = series.cast(pl.String)
    return Column(text.fill_null(""))


def datetime_text(series: pl.Series) -> pl.Series:
    """Return moments as ISO text in UTC, to the microsecond."""
    if isinstance(series.dtype, pl.Datetime) and series.dtype.time_zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return series.dt.strftime("%Y-%m-%dT%H:%M:%S%.6f")


def value_column(values: Iterable[Any]) -> Column:
    """Return Python values as a column of text."""
    texts: list[str | None] = []
    nested: list[int] = []
    broken: list[int] = []
    for position, value in enumerate(values):
        text = value if type(value) is str else _text(value)
        if text is None:
            nested.append(position)
            text = json.dumps(value, ensure_ascii=False, default=str)
        texts.append(text)
    try:
        series = pl.Series(texts, dtype=pl.String)
    except UnicodeEncodeError:  # half a surrogate pair somewhere: polars holds UTF-8 only
        broken = [i for i, text in enumerate(texts) if text is not None and not _is_unicode(text)]
        for position in broken:
            texts[position] = None
        series = pl.Series(texts, dtype=pl.String)
    return Column(series, nested, broken)


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
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_clean(text: str) -> bool:
    return "\0" not in text and _is_unicode(text)


def arrange(records: Records, name: str, renamed: Mapping[str, str], findings: Findings) -> Table:
    """Return the records under our column names; report columns and cells that do not fit.

    `renamed` maps our names to the file's, where they differ. A required column that is missing
    is reported and stands in as nulls, so that the other columns are still checked.
    """
    spec = TABLES[name]
    standard = spec.required + spec.optional
    unnamed = [c for c in standard if c not in renamed and c not in renamed.values()]
    headings = {c: c for c in unnamed} | dict(renamed)
    ours = {heading: column for column, heading in headings.items()}
    frame: dict[str, pl.Series] = {}
    for column in standard:
        wanted = column in spec.required or column in renamed
        if wanted and headings[column] not in records.columns:
            _report_missing(records, headings[column], findings)
            frame[column] = pl.Series([None] * len(records.rows), dtype=pl.String)
    for heading, content in records.columns.items():
        if heading in headings and heading not in ours:  # our name, but another column is read
            _report_displaced(records, heading, headings[heading], findings)
        else:
            column = ours.get(heading, heading)
            frame[column] = _readable(records, heading, content, column in standard, findings)
    if not len(records.rows):
        findings.error(records.file, "the table is empty: it needs at least one row")
    present = [c for c in standard if c in frame] + [c for c in frame if c not in standard]
    return Table(records.file, pl.DataFrame({c: frame[c] for c in present}), records.rows, headings)


def _report_missing(records: Records, heading: str, findings: Findings) -> None:
    found = ", ".join(records.columns) or "none"
    findings.error(
        records.file, f"this column is missing; the columns found are: {found}", column=heading
    )


def _report_displaced(records: Records, heading: str, used: str, findings: Findings) -> None:
    findings.error(
        records.file,
        f"course.toml reads {used!r} as {heading!r}, yet there is a column of that name too: "
        "rename or remove one",
        column=heading,
    )


def _readable(
    records: Records, heading: str, content: Column, standard: bool, findings: Findings
) -> pl.Series:
    """Return the column with nulls where a cell cannot be used, each reported."""
    unusable = [(i, "must be valid Unicode text") for i in content.broken]
    if standard:
        unusable += [(i, "must be one text or number") for i in content.nested]
    with_nul = content.text.str.contains("\0", literal=True).fill_null(False).arg_true()
    unusable += [(i, "must not hold a NUL character: remove it") for i in with_nul]
    if not unusable:
        return content.text
    cells = content.text.to_list()
    for position, expected in unusable:
        row = int(records.rows[position])
        findings.error(records.file, expected, row=row, column=heading, value=cells[position])
    for position, _ in unusable:
        cells[position] = None
    return pl.Series(cells, dtype=pl.String)
