"""course.toml: what a course is called, and what its files call their columns."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from proprl.data.course import ABOUT
from proprl.data.tables.cells import TABLES
from proprl.data.tables.csv_json_parquet import decode
from proprl.data.tables.findings import Findings

METADATA_FILE = "course.toml"

Renamed = dict[str, dict[str, str]]
"""For each table, what its file calls the columns: our name → the file's."""


def read_metadata(path: Path, findings: Findings) -> tuple[dict[str, str], Renamed]:
    """Return the texts of course.toml and the names of columns, as far as they can be read."""
    try:
        content = tomllib.loads(decode(path.name, path.read_bytes(), findings))
    except OSError as error:
        findings.report(path.name, f"cannot be read: {error.strerror or error}")
        return {}, {}
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        row = int(line[1]) if line else None
        findings.report(path.name, f"is not valid TOML: {error}", row=row)
        return {}, {}
    for key in content.keys() - {*ABOUT, "columns"}:
        near = get_close_matches(key, (*ABOUT, "columns"), n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        expected = f"this key is not known and not used{hint}"
        findings.report(path.name, expected, column=key, warning=True)
    texts = {}
    for key in ABOUT:
        value = content.get(key)
        if isinstance(value, str):
            texts[key] = value
        elif value is not None:
            findings.report(path.name, "must be text", column=key, value=str(value))
    return texts, _column_names(path.name, content.get("columns", {}), findings)


def _column_names(file: str, content: Any, findings: Findings) -> Renamed:
    """Return the usable renamings of [columns.TABLE]."""
    if not isinstance(content, dict):
        expected = 'must be sections such as [columns.pairs] with source = "name in the file"'
        findings.report(file, expected, column="columns", value=str(content))
        return {}
    renamed = {}
    for table, names in content.items():
        where = f"columns.{table}"
        if table not in TABLES:
            expected = f"this section is not used: the tables are {', '.join(TABLES)}"
            findings.report(file, expected, column=where, warning=True)
        elif not isinstance(names, dict):
            findings.report(file, "must be a section of names", column=where, value=str(names))
        else:
            renamed[table] = _table_columns(file, table, names, findings)
    return renamed


def _table_columns(
    file: str, table: str, names: Mapping[str, Any], findings: Findings
) -> dict[str, str]:
    known = TABLES[table].required + TABLES[table].optional
    usable: dict[str, str] = {}
    for column, heading in names.items():
        where = f"columns.{table}.{column}"
        if column not in known:
            expected = f"this key is not used: the columns are {', '.join(known)}"
            findings.report(file, expected, column=where, warning=True)
        elif not isinstance(heading, str) or not heading.strip():
            findings.report(file, "must be the name of a column", column=where, value=str(heading))
        elif heading.strip() in usable.values():
            expected = "this column is read as another already: name each column once"
            findings.report(file, expected, column=where, value=heading)
        else:
            usable[column] = heading.strip()
    for column in TABLES[table].required:
        if column not in usable and column in usable.values():
            expected = f"{column!r} is read as another column: say which column is {column!r}"
            findings.report(file, expected, column=f"columns.{table}")
            return {}
    return usable


def render_metadata(texts: Mapping[str, str]) -> bytes:
    """Return the content of a course.toml with these texts."""
    return "".join(f"{key} = {_toml_text(texts[key])}\n" for key in ABOUT).encode()


def _toml_text(text: str) -> str:
    # A JSON string is a TOML string, but for the one control character that JSON leaves bare.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
