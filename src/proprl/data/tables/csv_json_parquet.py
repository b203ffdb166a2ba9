"""The file of one table, read and written: CSV, JSON lines or Parquet.

Damaged files are reported here: bad bytes, rows that are cut or run over, lines that are no JSON.
Reading then goes on, so that one run finds every problem. A reader returns None only where there
is nothing left to check.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from proprl.data.tables.cells import Table, datetime_text, frame_table, text_table
from proprl.data.tables.findings import Findings
from proprl.errors import CourseError, OutputError
from proprl.files import write_bytes

_NEEDS_QUOTES = re.compile(r'[,"\r\n]|^\s|\s$')


def read_table(path: Path, findings: Findings) -> Table | None:
    """Return the table in a file; None, and a problem, where there is none to be had."""
    try:
        content = path.read_bytes()
    except OSError as error:
        findings.report(path.name, f"cannot be read: {error.strerror or error}")
        return None
    return parse_table(path.name, content, findings)


def open_table(path: Path) -> tuple[Table, Findings]:
    """Return the table in a file of its own, and what is wrong with it; none at all is an error."""
    findings = Findings(str(path))
    if path.suffix.removeprefix(".") not in FORMATS:
        findings.report(str(path), f"must end in one of .{', .'.join(FORMATS)}")
    table = None if findings.errors else read_table(path, findings)
    if table is None:
        raise CourseError(findings.source, findings.errors)
    return table, findings


def parse_table(file: str, content: bytes, findings: Findings) -> Table | None:
    """Return the table in a file's bytes; None, and a problem, where there is none to be had."""
    if not content.strip():
        findings.report(file, "the file is empty")
        return None
    return _READERS[Path(file).suffix](file, content, findings)


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write a frame as .csv, .parquet or .jsonl, by the name's ending, whole or not at all."""
    check_table_name(path)
    write_bytes(path, RENDERERS[path.suffix.removeprefix(".")](frame))


def check_table_name(path: Path) -> None:
    """Refuse a name whose ending says no known format."""
    if path.suffix.removeprefix(".") not in FORMATS:
        raise OutputError(f"cannot write {path}: the name must end in .{', .'.join(FORMATS)}")


def decode(file: str, content: bytes, findings: Findings) -> str:
    """Return the text of a file, with a replacement for, and a problem about, each bad line."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        findings.report(file, "is encoded as UTF-16: save the file as UTF-8")
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
                findings.report(file, "holds a NUL byte: remove it", row=row)
        text = text.replace("\0", "")
    return text


def _report_bad_lines(file: str, content: bytes, findings: Findings) -> None:
    expected = "is not valid UTF-8: save the file as UTF-8"
    for row, line in enumerate(content.splitlines(), start=1):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            around = line[max(error.start - 20, 0) : error.end + 20].decode("utf-8", "replace")
            findings.report(file, expected, row=row, value=around)


def _editor_lines(text: str) -> list[str]:
    """Return the lines as an editor counts them, with their ends.

    `str.splitlines` would also split at characters that may stand inside a cell.
    """
    return list(io.StringIO(text, newline=""))


def _read_csv(file: str, content: bytes, findings: Findings) -> Table | None:
    lines = _editor_lines(decode(file, content, findings))
    width, cells, numbers = _csv_cells(file, lines, findings)
    if not numbers:
        findings.report(file, "the file is empty")
        return None
    columns = [pl.Series(cells[width + k :: width], dtype=pl.String) for k in range(width)]
    headings = [cell or "" for cell in cells[:width]]
    rows = np.array(numbers[1:], dtype=np.int64)
    return text_table(file, headings, columns, rows, findings, header_row=numbers[0])


def _csv_cells(
    file: str, lines: list[str], findings: Findings
) -> tuple[int, list[str | None], list[int]]:
    """Return the width of the header, all cells row by row, and the line where each row begins.

    Every row comes out as wide as the header: a damaged one is reported, and cut or filled with
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
        if len(row) == width:
            cells += row
        else:
            remedy = ": put cells that hold commas in double quotes" if len(row) > width else ""
            cut = f"this row has {len(row)} cells but the header has {width}{remedy}"
            fault = fault or cut
            cells += [*row, *[None] * width][:width]
        numbers.append(start + 1)
        if fault:
            findings.report(file, fault, row=start + 1, value=lines[start].rstrip("\r\n"))


def _read_jsonl(file: str, content: bytes, findings: Findings) -> Table | None:
    decoder = json.JSONDecoder(object_pairs_hook=_without_repeats)
    records: dict[int, dict[str, Any]] = {}  # by the number of the line
    for number, line in enumerate(decode(file, content, findings).split("\n"), start=1):
        if not line.strip():
            continue
        fault = "each line must be one JSON object"
        try:
            record = decoder.decode(line)
        except (ValueError, RecursionError) as error:
            fault, record = f"this line is not JSON: {getattr(error, 'msg', error)}", None
        if isinstance(record, dict):
            records[number] = record
        else:
            findings.report(file, fault, row=number, value=line)
    if not records:
        return None  # every line was reported
    headings = list(dict.fromkeys(key for record in records.values() for key in record))
    columns = [[record.get(key) for record in records.values()] for key in headings]
    return text_table(file, headings, columns, np.array(list(records), dtype=np.int64), findings)


def _without_repeats(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; refuse a repeated key, of which json would keep the last only."""
    record = dict(members)
    if len(record) < len(members):
        raise ValueError("a key stands twice in one object")
    return record


def _read_parquet(file: str, content: bytes, findings: Findings) -> Table | None:
    try:
        frame = pl.read_parquet(io.BytesIO(content))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = (str(error).splitlines() or [""])[0]
        findings.report(file, f"is not a readable Parquet file: {reason}")
        return None
    return frame_table(frame, file, findings)


def _render_csv(frame: pl.DataFrame) -> bytes:
    columns = [map(csv_cell, _as_text(series).to_list()) for series in frame]
    lines = [",".join(map(csv_cell, frame.columns))]
    lines += map(",".join, zip(*columns, strict=True))
    return ("\n".join(lines) + "\n").encode()


def csv_cell(text: str) -> str:
    """Return a text as a cell of a CSV file."""
    # Written out because csv.writer leaves a lone carriage return unquoted in Python 3.11.
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text


def _render_jsonl(frame: pl.DataFrame) -> bytes:
    moments = [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.Datetime)]
    plain = frame.with_columns(_as_text(frame[name]) for name in moments)
    encode = json.JSONEncoder(ensure_ascii=False).encode
    return "".join(encode(row) + "\n" for row in plain.iter_rows(named=True)).encode()


def _render_parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def _as_text(series: pl.Series) -> pl.Series:
    if isinstance(series.dtype, pl.Datetime):
        return datetime_text(series)
    return series.cast(pl.String).fill_null("")


_READERS: Mapping[str, Callable[[str, bytes, Findings], Table | None]] = {
    ".csv": _read_csv,
    ".parquet": _read_parquet,
    ".jsonl": _read_jsonl,
}

RENDERERS: Mapping[str, Callable[[pl.DataFrame], bytes]] = {
    "csv": _render_csv,
    "parquet": _render_parquet,
    "jsonl": _render_jsonl,
}

FORMATS = tuple(RENDERERS)
"""The endings that a table's file may have; the first one wins where several are there."""
