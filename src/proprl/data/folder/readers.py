"""Reading the file of one table: CSV, Parquet or JSON lines.

A reader reports what is wrong and goes on, so that one run finds every problem. It returns None
only where nothing at all can be read.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from proprl.data.checking.findings import Findings
from proprl.data.checking.tables import (
    Column,
    Records,
    frame_records,
    usable_headings,
    value_column,
)

_BAD_BYTES = "is not valid UTF-8: save the file as UTF-8"


def read_table(path: Path, findings: Findings) -> Records | None:
    """Return the records of a table's file; None, and a problem, where it cannot be read."""
    try:
        content = path.read_bytes()
    except OSError as error:
        findings.error(path.name, f"cannot be read: {error.strerror or error}")
        return None
    if not content.strip():
        findings.error(path.name, "the file is empty")
        return None
    return _READERS[path.suffix](path.name, content, findings)


def decode(file: str, content: bytes, findings: Findings) -> str:
    """Return the text of a file, with a replacement for, and a problem about, each bad line."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        findings.error(file, "is encoded as UTF-16: save the file as UTF-8")
        text = content.decode("utf-16", "replace")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            _report_bad_lines(file, content, findings)
            text = content.decode("utf-8-sig", "replace")
    if "\0" in text:
        for row, line in enumerate(_editor_lines(text), start=1):
            if "\0" in line:
                findings.error(file, "holds a NUL byte: remove it", row=row)
        text = text.replace("\0", "")
    return text


def _report_bad_lines(file: str, content: bytes, findings: Findings) -> None:
    for row, line in enumerate(content.splitlines(), start=1):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            around = line[max(error.start - 20, 0) : error.end + 20].decode("utf-8", "replace")
            findings.error(file, _BAD_BYTES, row=row, value=around)


def _editor_lines(text: str) -> list[str]:
    """Return the lines as an editor counts them, with their ends.

    `str.splitlines` would also split at characters that may stand inside a cell.
    """
    return list(io.StringIO(text, newline=""))


def _read_csv(file: str, content: bytes, findings: Findings) -> Records | None:
    lines = _editor_lines(decode(file, content, findings))
    width, cells, numbers = _csv_cells(file, lines, findings)
    if not numbers:
        findings.error(file, "the file is empty")
        return None
    names = usable_headings(file, numbers[0], [cell or "" for cell in cells[:width]], findings)
    columns = {
        name: Column(pl.Series(cells[width + position :: width], dtype=pl.String))
        for position, name in enumerate(names)
        if name is not None
    }
    return Records(file, columns, np.array(numbers[1:], dtype=np.int64))


def _csv_cells(
    file: str, lines: list[str], findings: Findings
) -> tuple[int, list[str | None], list[int]]:
    """Return the width of the header, all cells row by row, and the line where each row begins.

    Every row comes out as wide as the header: a ragged one is reported and cut, or filled with
    nulls. Blank lines are no rows. One flat list, because a million small ones would keep the
    garbage collector busy for longer than the reading takes.
    """
    if len(max(lines, key=len, default="")) > csv.field_size_limit():
        csv.field_size_limit(sum(map(len, lines)))  # a resource's text may be a whole book
    width = 0
    cells: list[str | None] = []
    numbers: list[int] = []
    offset, reader = 0, csv.reader(lines, strict=True)
    while True:
        start = offset + reader.line_num  # lines before this row
        fault = None
        try:
            row = next(reader)
        except StopIteration:
            return width, cells, numbers
        except csv.Error:
            fault = "a double quote is not closed, or text follows it: double it inside a cell"
            # Read this line without quotes and go on at the next, so that the rest is checked.
            row = next(csv.reader([lines[start]], quoting=csv.QUOTE_NONE))
            offset = start + 1
            reader = csv.reader((lines[i] for i in range(offset, len(lines))), strict=True)
        if not row:
            continue
        width = width or len(row)
        if len(row) != width:
            fault = fault or _ragged(len(row), width)
            cells += [*row, *[None] * width][:width]
        else:
            cells += row
        numbers.append(start + 1)
        if fault:
            findings.error(file, fault, row=start + 1, value=lines[start].rstrip("\r\n"))


def _ragged(found: int, width: int) -> str:
    remedy = ": put cells that hold commas in double quotes" if found > width else ""
    return f"this row has {found} cells but the header has {width}{remedy}"


def _read_jsonl(file: str, content: bytes, findings: Findings) -> Records | None:
    columns: dict[str, list[Any]] = {}
    numbers: list[int] = []
    for number, line in enumerate(decode(file, content, findings).split("\n"), start=1):
        record = _json_object(file, number, line, findings) if line.strip() else None
        if record is None:
            continue
        for key, value in record.items():
            if key not in columns:
                columns[key] = [None] * len(numbers)
            columns[key].append(value)
        numbers.append(number)
        if len(record) < len(columns):
            for values in columns.values():
                values += [None] * (len(numbers) - len(values))
    if not numbers:
        return None  # every line was reported
    names = usable_headings(file, None, list(columns), findings)
    texts = {
        name: value_column(values)
        for name, values in zip(names, columns.values(), strict=True)
        if name is not None
    }
    return Records(file, texts, np.array(numbers, dtype=np.int64))


def _json_object(file: str, number: int, line: str, findings: Findings) -> dict[str, Any] | None:
    fault = "each line must be one JSON object"
    try:
        record = _JSON.decode(line)
    except (ValueError, RecursionError) as error:
        fault, record = f"this line is not JSON: {getattr(error, 'msg', error)}", None
    if isinstance(record, dict):
        return record
    findings.error(file, fault, row=number, value=line)
    return None


def _without_repeats(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; refuse a repeated key, of which json would keep the last only."""
    record = dict(members)
    if len(record) < len(members):
        raise ValueError("a key stands twice in one object")
    return record


_JSON = json.JSONDecoder(object_pairs_hook=_without_repeats)


def _read_parquet(file: str, content: bytes, findings: Findings) -> Records | None:
    try:
        frame = pl.read_parquet(io.BytesIO(content))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = (str(error).splitlines() or [""])[0]
        findings.error(file, f"is not a readable Parquet file: {reason}")
        return None
    return frame_records(frame, file, findings)


_READERS: Mapping[str, Callable[[str, bytes, Findings], Records | None]] = {
    ".csv": _read_csv,
    ".parquet": _read_parquet,
    ".jsonl": _read_jsonl,
}

FORMATS = tuple(suffix.removeprefix(".") for suffix in _READERS)
"""The endings that a table's file may have; the first one wins where several are there."""
