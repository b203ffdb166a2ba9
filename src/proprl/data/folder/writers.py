"""Turning one table into the bytes of a file: CSV, Parquet or JSON lines."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping

import polars as pl

from proprl.data.checking.tables import datetime_text

_NEEDS_QUOTES = re.compile(r'[,"\r\n]|^\s|\s$')


def _render_csv(frame: pl.DataFrame) -> bytes:
    columns = [map(_csv_cell, _as_text(series).to_list()) for series in frame]
    lines = [",".join(map(_csv_cell, frame.columns))]
    lines += map(",".join, zip(*columns, strict=True))
    return ("\n".join(lines) + "\n").encode()


def _csv_cell(text: str) -> str:
    # Written out because csv.writer leaves a lone carriage return unquoted in Python 3.11.
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text


def _render_jsonl(frame: pl.DataFrame) -> bytes:
    moments = [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.Datetime)]
    plain = frame.with_columns(_as_text(frame[name]) for name in moments)
    encode = json.JSONEncoder(ensure_ascii=False).encode
    lines = (encode(row) for row in plain.iter_rows(named=True))
    return "".join(line + "\n" for line in lines).encode()


def _render_parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def _as_text(series: pl.Series) -> pl.Series:
    if isinstance(series.dtype, pl.Datetime):
        return datetime_text(series)
    return series.cast(pl.String).fill_null("")


RENDERERS: Mapping[str, Callable[[pl.DataFrame], bytes]] = {
    "csv": _render_csv,
    "parquet": _render_parquet,
    "jsonl": _render_jsonl,
}
