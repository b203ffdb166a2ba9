"""Files of pairs that a model is asked about, and of its answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from proprl.data.checking.findings import Findings
from proprl.data.checking.tables import Records
from proprl.data.folder.readers import FORMATS, read_table
from proprl.data.folder.writers import RENDERERS
from proprl.data.lookup import find_concept
from proprl.errors import CourseError, OutputError, UnknownConceptError
from proprl.files import write_bytes


def read_pairs(path: Path, ids: Sequence[str], names: Sequence[str]) -> pl.DataFrame:
    """Give the table in a file, whose sources and targets are concepts known by id or name.

    Everything that is wrong is in one `CourseError`, with the rows.
    """
    findings = Findings(str(path))
    if path.suffix.removeprefix(".") not in FORMATS:
        findings.error(str(path), f"must end in one of .{', .'.join(FORMATS)}")
        raise CourseError(findings.source, findings.errors)
    records = read_table(path, findings)
    if records is None:
        raise CourseError(findings.source, findings.errors)
    if not len(records.rows):
        findings.error(records.file, "has a header and no rows: there is nothing to score")
    known = set(ids)
    for column in ("source", "target"):
        if column not in records.columns:
            found = ", ".join(records.columns)
            findings.error(records.file, f"must have the column {column}; it has: {found}")
            continue
        for row, concept in zip(records.rows, records.columns[column].text, strict=True):
            if concept not in known:
                _look_up(concept, ids, names, (records.file, int(row), column), findings)
    if not findings.errors:
        _refuse_self_pairs(records, ids, names, findings)
    if findings.errors:
        raise CourseError(findings.source, findings.in_order()[0])
    return pl.DataFrame({name: column.text for name, column in records.columns.items()})


def _refuse_self_pairs(
    records: Records, ids: Sequence[str], names: Sequence[str], findings: Findings
) -> None:
    ends = [records.columns[column].text for column in ("source", "target")]
    for row, source, target in zip(records.rows, *ends, strict=True):
        if find_concept(source, ids, names) == find_concept(target, ids, names):
            expected = "is paired with itself: give two concepts"
            findings.error(records.file, expected, row=int(row), column="target", value=target)


def _look_up(
    concept: str | None,
    ids: Sequence[str],
    names: Sequence[str],
    where: tuple[str, int, str],
    findings: Findings,
) -> None:
    file, row, column = where
    try:
        find_concept(concept or "", ids, names)
    except UnknownConceptError as error:
        findings.error(file, str(error), row=row, column=column, value=concept)


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write a frame as .csv, .parquet or .jsonl, by the name's ending, whole or not at all."""
    check_table_name(path)
    write_bytes(path, RENDERERS[path.suffix.removeprefix(".")](frame))


def check_table_name(path: Path) -> None:
    """Refuse a name whose ending says no known format."""
    if path.suffix.removeprefix(".") not in RENDERERS:
        raise OutputError(f"cannot write {path}: the name must end in .{', .'.join(RENDERERS)}")
