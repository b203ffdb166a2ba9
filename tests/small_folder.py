"""A course folder of three concepts, and where its problems stand."""

from __future__ import annotations

from pathlib import Path

from proprl.errors import Problem

CONCEPTS = b"id,name\nf,Functions\nl,Limits\nd,Derivatives\n"
PAIRS = b"source,target,label\nf,l,1\nl,d,1\nd,f,0\n"


def make_folder(path: Path, **tables: bytes) -> Path:
    """A folder of CSV files with these bytes; sound concepts unless they are given."""
    for table, content in ({"concepts": CONCEPTS} | tables).items():
        (path / f"{table}.csv").write_bytes(content)
    return path


def places(problems: list[Problem]) -> list[tuple[str, int | None, str | None]]:
    return [(problem.file, problem.row, problem.column) for problem in problems]
