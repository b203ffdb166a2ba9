"""Questions as a spreadsheet, and its answers read back: all of them, or none."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from proprl.curriculum.questions import Question
from proprl.data.answers import NO, REVERSED, YES
from proprl.data.folder.answers_file import Answer
from proprl.data.splits.labelled import ASKED, DRAWN
from proprl.data.tables.cells import Table
from proprl.data.tables.csv_json_parquet import read_table, write_table
from proprl.data.tables.findings import Findings

WORDS = {"y": YES, "n": NO, "r": REVERSED} | {word: word for word in (YES, NO, REVERSED)}
NEEDED = ("answer", "first_id", "then_id", "question")
FORMULA = ("=", "+", "-", "@")
"""A cell that begins like this is a formula to a spreadsheet: it gets an apostrophe before it."""


def write_sheet(questions: Sequence[Question], path: Path) -> None:
    """Write questions as CSV, with an empty column for the answers."""
    rows = [
        {
            "first": question.source,
            "then": question.target,
            "answer": "",
            "why": question.why,
            "first_id": question.source_id,
            "then_id": question.target_id,
            "question": _mark(
                question.source_id, question.target_id, question.origin, question.chance
            ),
        }
        for question in questions
    ]
    columns = ("first", "then", "answer", "why", "first_id", "then_id", "question")
    safe = [{name: _plain_cell(text) for name, text in row.items()} for row in rows]
    write_table(pl.DataFrame(safe, dict.fromkeys(columns, pl.String)), path)


def read_sheet(path: Path, ids: Sequence[str], who: str) -> tuple[list[Answer], int]:
    """Return the answers of a filled-in sheet, and how many questions were left open.

    Everything that is wrong is in one `CourseError`, with row, column and remedy.
    """
    findings = Findings(f"the spreadsheet {str(path)!r}")
    table = None
    if path.suffix != ".csv":
        findings.report(path.name, "must be a .csv file: save the spreadsheet as CSV")
    else:
        table = read_table(path, findings)
    answers: dict[tuple[str, str], Answer] = {}
    left = 0
    if table is not None and _has_columns(table, findings):
        for number, row in zip(table.rows.tolist(), table.frame.iter_rows(named=True), strict=True):
            answer = _answer(table.file, number, row, ids, who, findings)
            left += answer is None
            if answer is not None:
                pair = answer.source, answer.target
                if answers.setdefault(pair, answer) != answer:
                    expected = "this question has another answer above: keep one of the two"
                    findings.report(table.file, expected, row=number, column="answer")
    findings.raise_errors()
    return [*answers.values()], left


def _has_columns(table: Table, findings: Findings) -> bool:
    there = table.frame.columns
    missing = [column for column in NEEDED if column not in there]
    if missing:
        remedy = "save it as CSV with commas" if len(there) == 1 else "keep all that --out wrote"
        expected = f"this column is missing; {remedy}"
        findings.report(table.file, expected, column=missing[0])
    return not missing


def _answer(
    file: str,
    number: int,
    row: dict[str, str | None],
    ids: Sequence[str],
    who: str,
    findings: Findings,
) -> Answer | None:
    """Return the answer of a row; None where there is none, or something is wrong."""
    first, then, mark = (_without_apostrophe(row[name] or "") for name in NEEDED[1:])
    given = (row["answer"] or "").strip().lower()
    for column, concept in (("first_id", first), ("then_id", then)):
        if concept not in ids:
            expected = "there is no such concept in the course: is this its spreadsheet?"
            findings.report(file, expected, row=number, column=column, value=concept)
            return None
    picked = _picked(mark)
    if picked is None or mark != _mark(first, then, *picked):
        expected = (
            "this pair was never asked, or the row was changed: leave it as --out wrote it, and "
            "write labels of your own into pairs.csv"
        )
        findings.report(file, expected, row=number, column="question", value=mark)
        return None
    if given and given not in WORDS:
        expected = f"must be {YES}, {NO} or {REVERSED}, or empty"
        findings.report(file, expected, row=number, column="answer", value=row["answer"])
    return Answer(first, then, WORDS[given], who, *picked) if given in WORDS else None


def _mark(first: str, then: str, origin: str, chance: float | None) -> str:
    """Return what shows that a pair was asked: how it was picked, and a check sum.

    >>> _mark("limits", "series", "drawn", 0.01)
    'drawn 0.01 435a22a3'
    """
    how = origin if chance is None else f"{origin} {chance!r}"
    content = "\t".join((first, then, how))
    return f"{how} {hashlib.sha256(content.encode()).hexdigest()[:8]}"


def _picked(mark: str) -> tuple[str, float | None] | None:
    """Return how a pair was picked, as its mark says; None where that cannot be read."""
    match mark.split():
        case [origin, _] if origin == ASKED:
            return ASKED, None
        case [origin, chance, _] if origin == DRAWN:
            try:
                return DRAWN, float(chance)
            except ValueError:
                return None
    return None


def _plain_cell(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA) else text


def _without_apostrophe(text: str) -> str:
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA) else text
