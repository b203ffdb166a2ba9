"""What every public set is: files of public repositories, each pinned.

`public_files.csv` pins every file to a commit of its public repository, a size and a SHA-256.
"""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_PINNED = Path(__file__).with_name("public_files.csv")


@dataclass(frozen=True)
class PublicFile:
    """One file of a public repository, pinned."""

    path: str  # in the data folder
    repository: str  # owner/name
    commit: str
    source: str  # the path in the repository
    size: int
    sha256: str


@dataclass(frozen=True)
class PublicSet(ABC):
    """A course that can be made from public files."""

    name: str
    title: str
    subject: str
    citation: str
    files: tuple[PublicFile, ...]

    @property
    @abstractmethod
    def facts(self) -> Mapping[str, int]:
        """How many concepts, resources, transitions, labelled pairs and positives it holds."""


def pinned(*beginnings: str) -> tuple[PublicFile, ...]:
    """Return the pinned files whose paths begin so."""
    with _PINNED.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["path"].startswith(beginnings)]
    return tuple(PublicFile(**{**row, "size": int(row["size"])}) for row in rows)  # type: ignore[arg-type]
