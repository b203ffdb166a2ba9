"""Reading, checking and writing a course folder."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from itertools import chain
from pathlib import Path

from proprl.data.course import ABOUT, Course, build_course
from proprl.data.folder.answers_file import ANSWERS_FILE, read_answers_table
from proprl.data.folder.course_toml import METADATA_FILE, read_metadata, render_metadata
from proprl.data.folder.features_file import FEATURES_FILE, read_features, render_features
from proprl.data.tables.cells import TABLES, arrange, frame_table
from proprl.data.tables.csv_json_parquet import FORMATS, RENDERERS, read_table
from proprl.data.tables.findings import Findings
from proprl.data.tables.table_checks import RepeatedPairs, validate
from proprl.errors import CourseError, OutputError, Problem, ProprlError

_TABLE_FILES = {table: [f"{table}.{ending}" for ending in FORMATS] for table in TABLES}
_TABLE_FILES["answers"] = [ANSWERS_FILE]  # lines are added to it, which only CSV allows
_COURSE_FILES = {METADATA_FILE, FEATURES_FILE, *chain.from_iterable(_TABLE_FILES.values())}


def read_course(path: str | os.PathLike[str], *, repeated_pairs: RepeatedPairs = "error") -> Course:
    """Return the course in this folder; raise one `CourseError` that lists every problem.

    With `repeated_pairs` "keep", a labelled pair may stand in several rows: see
    `Course.from_tables`.
    """
    return _read(Path(path), _findings(path), repeated_pairs)


def check_course(
    path: str | os.PathLike[str], *, repeated_pairs: RepeatedPairs = "error"
) -> tuple[list[Problem], list[Problem]]:
    """Return the errors and the warnings that reading this folder gives; raise neither."""
    findings = _findings(path)
    with suppress(CourseError):  # it carries the errors that `findings` has too
        _read(Path(path), findings, repeated_pairs)
    return findings.in_order()


def course_with_answers(course: Course, path: Path) -> Course:
    """Return a course with the answers of a file in place of its own, if that is there."""
    findings = Findings(f"the answers in {str(path)!r}")
    found = read_answers_table(path, findings) if path.exists() else None
    tables = {"concepts": frame_table(course.concepts, "the course", findings)}
    if found is not None:
        tables["answers"] = arrange(found, "answers", {}, findings)
    checked = {name: table for name, table in tables.items() if table is not None}
    frames = validate(checked, frozenset(checked), findings)
    findings.raise_errors()
    warnings = (*course.warnings, *findings.in_order()[1])
    return replace(course, answers=frames.get("answers"), warnings=warnings)


def _findings(path: str | os.PathLike[str]) -> Findings:
    return Findings(f"the course folder {str(path)!r}")


def _read(folder: Path, findings: Findings, repeated_pairs: RepeatedPairs) -> Course:
    try:
        present = {entry.name for entry in folder.iterdir()}
    except OSError as error:
        findings.report(str(folder), f"must be a course folder: {error.strerror or error}")
        raise CourseError(findings.source, findings.errors) from error
    has_metadata = _is_file(folder, METADATA_FILE, findings)
    texts, renamed = read_metadata(folder / METADATA_FILE, findings) if has_metadata else ({}, {})
    tables = {}
    for name in TABLES:
        file = _chosen_file(folder, name, findings)
        read = read_answers_table if name == "answers" else read_table
        table = None if file is None else read(folder / file, findings)
        if table is not None:
            tables[name] = arrange(table, name, renamed.get(name, {}), findings)
    features = None
    if _is_file(folder, FEATURES_FILE, findings):
        features = read_features(folder / FEATURES_FILE, findings)
    _warn_of_lookalikes(present, findings)
    return build_course(
        dict.fromkeys(ABOUT, "") | {"name": folder.resolve().name} | texts,
        tables,
        frozenset(name for name in TABLES if not present.isdisjoint(_TABLE_FILES[name])),
        features,
        FEATURES_FILE,
        findings,
        repeated_pairs,
    )


def _chosen_file(folder: Path, table: str, findings: Findings) -> str | None:
    """Return the file that holds this table, if there is one; report a second one."""
    files = [name for name in _TABLE_FILES[table] if _is_file(folder, name, findings)]
    for other in files[1:]:
        findings.report(other, f"there is {files[0]} too: keep one file for {table}")
    return files[0] if files else None


def _is_file(folder: Path, name: str, findings: Findings) -> bool:
    path = folder / name
    if path.exists() and not path.is_file():
        findings.report(name, "must be a file, not a folder or a device")
    return path.is_file()


def _warn_of_lookalikes(present: set[str], findings: Findings) -> None:
    """Warn of files that are not read although their name resembles one that would be."""
    stems = {name.partition(".")[0]: name for name in (METADATA_FILE, FEATURES_FILE)}
    stems |= {table: files[0] for table, files in _TABLE_FILES.items()}
    for name in sorted(present - _COURSE_FILES):
        near = get_close_matches(name.partition(".")[0].lower(), stems, n=1, cutoff=0.8)
        if near and "." in name:
            expected = f"this file is not read; did you mean {stems[near[0]]}?"
            findings.report(name, expected, warning=True)


def write_course(
    course: Course,
    path: str | os.PathLike[str],
    *,
    format: str = "csv",
    overwrite: bool = False,
) -> None:
    """Write the course as a folder that `read_course` reads back the same.

    `format` is "csv", "parquet" or "jsonl"; answers are always CSV. The folder appears whole or
    not at all. With `overwrite` it replaces a course folder that is there; a folder with anything
    else in it is never replaced.
    """
    if format not in RENDERERS:
        raise ProprlError(f"unknown format {format!r}: it is one of {', '.join(RENDERERS)}")
    target = Path(path).resolve()
    _refuse_to_destroy(target, overwrite)
    token = secrets.token_hex(4)
    staging = target.with_name(f".{target.name}.{token}.tmp")
    aside = target.with_name(f".{target.name}.{token}.old")
    try:
        staging.mkdir(parents=True)
        about = render_metadata({key: getattr(course, key) for key in ABOUT})
        (staging / METADATA_FILE).write_bytes(about)
        for table, frame in course.tables().items():
            ending = "csv" if table == "answers" else format
            (staging / f"{table}.{ending}").write_bytes(RENDERERS[ending](frame))
        if course.features is not None:
            (staging / FEATURES_FILE).write_bytes(render_features(course.features))
        if target.exists():
            target.rename(aside)
        try:
            staging.rename(target)
        except OSError:
            if aside.exists():
                aside.rename(target)
            raise
        shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _refuse_to_destroy(target: Path, overwrite: bool) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise OutputError(f"cannot write {target}: a file of that name is there")
    present = {entry.name for entry in target.iterdir()}
    if present and not overwrite:
        raise OutputError(f"cannot write {target}: the folder is not empty; use overwrite=True")
    foreign = sorted(present - _COURSE_FILES)
    if foreign:
        raise OutputError(
            f"cannot overwrite {target}: it holds what is no part of a course, such as "
            f"{foreign[0]!r}; move that away or choose another folder"
        )
