"""The files of the public repositories as tables.

Columns, directions and order are those of the files; nothing is repaired here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from proprl.errors import Problem

_PARTS = {"train": "train", "val": "validation", "test": "test"}  # the file's word → ours


def read_index(path: Path) -> list[str]:
    """Return the names of an index file (number, name; no header) in order."""
    return _headless(path, ("number", "name"))["name"].to_list()


def read_topics(path: Path, separator: str) -> pl.DataFrame:
    """Return the topics in order: id (the number, as text) and name.

    A line may have more columns than the others, as a name with commas gives it: its second column
    is the name, as in every other line.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    cells = [line.split(separator) for line in lines if line.strip()]
    return pl.DataFrame(
        {
            "id": [row[0].strip() for row in cells],
            "name": [" ".join(row[1].split()) for row in cells],
        }
    )


def read_annotations(path: Path) -> pl.DataFrame:
    """Return the annotations in order: first, second (ids) and label (null where there is none)."""
    rows = _headless(path, ("first", "second", "label"))
    return rows.with_columns(pl.col("label").cast(pl.Int64))


def read_pairs(folder: Path) -> pl.DataFrame:
    """Return the published pairs in order: start, end, result (1: start before end), split."""
    parts = []
    for word, part in _PARTS.items():
        rows = _numbers(folder / f"{word}.csv", ("start", "end", "result"))
        parts.append(rows.with_columns(split=pl.lit(part)))
    return pl.concat(parts)


def read_clickstream(folder: Path) -> pl.DataFrame:
    """Return the clickstream: head, tail, readers, one row for each edge.

    The first edge of every public file stands in it twice, with two counts; the released loader
    adds them up, and so does this.
    """
    rows = _numbers(folder / "clickStreamLink_data_id.csv", ("head", "tail", "readers"))
    return rows.group_by("head", "tail", maintain_order=True).agg(pl.col("readers").sum())


def read_relation(folder: Path, relation: str) -> pl.DataFrame:
    """Return the rows of a GKROM relation that hold (result 1), each once: first, second."""
    files = [folder / f"{relation}_data_{word}.csv" for word in _PARTS]
    rows = pl.concat(_numbers(file, ("first", "second", "result")) for file in files)
    return rows.filter(pl.col("result") == 1).select("first", "second").unique(maintain_order=True)


def read_resources(
    folder: Path, texts: str | None, titles: Sequence[str] | None = None
) -> tuple[pl.DataFrame, list[Problem]]:
    """Return the resources, and a note on each text that is not read as it stands.

    `texts` is the file of texts in the data folder, if there is one. Without `titles`, the
    resources are those that have a text.
    """
    text_of = dict(_headless(folder / texts, ("title", "text")).iter_rows()) if texts else {}
    titles = list(text_of) if titles is None else list(titles)
    with_nul = [title for title in titles if "\0" in text_of.get(title, "")]
    expected = "NUL characters in the text were read as spaces"
    notes = [Problem(texts or "", None, "text", title, expected) for title in with_nul]
    resources = pl.DataFrame(
        {
            "id": [f"r{number}" for number in range(len(titles))],
            "title": titles,
            "text": [text_of.get(title, "").replace("\0", " ") for title in titles],
        }
    )
    return resources, notes


def _headless(path: Path, columns: tuple[str, ...], *, skip: int = 0) -> pl.DataFrame:
    return pl.read_csv(
        path, has_header=False, skip_rows=skip, new_columns=columns, infer_schema=False
    )


def _numbers(path: Path, columns: tuple[str, ...]) -> pl.DataFrame:
    # Some counts are written as 37.0, so everything is read as a float first.
    return _headless(path, columns, skip=1).cast(pl.Float64).cast(pl.Int64)
