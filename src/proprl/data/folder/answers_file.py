"""answers.csv: one line for each answer, added and never changed.

A crash can cut the last line off. It then does not count, and everything before it does.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from proprl.data.splits.labelled import DRAWN
from proprl.data.tables.cells import Table
from proprl.data.tables.csv_json_parquet import csv_cell, parse_table
from proprl.data.tables.findings import Findings
from proprl.errors import OutputError
from proprl.files import write_bytes

ANSWERS_FILE = "answers.csv"
COLUMNS = ("source", "target", "answer", "who", "when", "origin", "chance")


@dataclass(frozen=True)
class Answer:
    """What somebody said of one ordered pair of concepts, by their ids."""

    source: str
    target: str
    answer: str  # one of ANSWERS
    who: str
    origin: str
    chance: float | None = None  # of a drawn pair

    def line(self, when: datetime) -> bytes:
        """Return the answer as a line of the file.

        A chance stands in quotes: were it cut off, nobody could mistake the rest for a number.
        """
        moment = when.astimezone(UTC).isoformat(timespec="seconds")
        cells = (self.source, self.target, self.answer, " ".join(self.who.split()))
        chance = "" if self.chance is None else f'"{self.chance!r}"'
        return (",".join(map(csv_cell, (*cells, moment, self.origin))) + f",{chance}\n").encode()


def read_answers_table(path: Path, findings: Findings) -> Table | None:
    """Return the table of answers; None where there is none yet. A damaged last line is a warning.

    A line is damaged if it cannot be read. Words that cannot be understood are errors, as in every
    table, and so is damage before the last line.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        findings.report(path.name, f"cannot be read: {error.strerror or error}")
        return None
    whole, damaged, row = _parted(path.name, content)
    if damaged:
        findings.report(
            path.name,
            "this last line is damaged, as by a crash while it was written: it does not count; "
            "answer again, or mend the line",
            row=row,
            value=damaged.decode("utf-8", "replace").replace("\0", ""),
            warning=True,
        )
    table = parse_table(path.name, whole, findings) if whole.strip() else None
    return table if table is not None and (len(table.rows) or findings.errors) else None


def _parted(file: str, content: bytes) -> tuple[bytes, bytes, int]:
    """Return the content without a damaged last line, that line, and its number."""
    ended = content.rstrip(b"\r\n")
    start, row = ended.rfind(b"\n") + 1, ended.count(b"\n") + 1
    found = Findings(file)
    if start:
        parse_table(file, content, found)
    cut_off = start and content.endswith(f"{DRAWN},".encode())  # just before its chance
    if cut_off or (found.errors and all(problem.row == row for problem in found.errors)):
        return content[:start], ended[start:], row
    return content, b"", row


class AnswersFile:
    """A file that answers are added to, each on disk before the next question."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.taken_out = self._mended()
        """A damaged last line that made room for further ones; "" if there was none."""

    def _mended(self) -> str:
        """Make the file end with a whole line: what comes next must not be added to half of one."""
        if not self.path.exists():
            return ""
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise OutputError(f"cannot read {self.path}: {error.strerror or error}") from error
        whole, damaged, _ = _parted(self.path.name, content)
        if whole and not whole.endswith(b"\n"):
            whole += b"\n"
        if whole != content:
            write_bytes(self.path, whole)
        return damaged.decode("utf-8", "replace").replace("\0", "")

    def add(self, answer: Answer) -> None:
        """Write one answer; where that fails the file is as it was, and an error says so."""
        if not self.path.exists() or not self.path.stat().st_size:
            write_bytes(self.path, (",".join(COLUMNS) + "\n").encode())
        line, before = answer.line(datetime.now(UTC)), self.path.stat().st_size
        try:
            with self.path.open("ab", buffering=0) as file:
                _write_all(file.fileno(), line)
                os.fsync(file.fileno())
        except OSError as error:
            with suppress(OSError):
                os.truncate(self.path, before)
            raise OutputError(
                f"cannot write {self.path}: {error.strerror or error}. The last answer is not "
                "kept; all before it are"
            ) from error


def _write_all(descriptor: int, line: bytes) -> None:
    """Write a line; a disk that takes only a part of it is full."""
    while line:
        line = line[os.write(descriptor, line) :]
