"""The public sets: what each is said to hold, and which published files it is made from.

`public_sets.toml` describes them, `public_files.csv` pins their files. In those of the paper
(`BENCHMARKS`), people chose which pairs to label. In the others (`WHOLE_MAPS`), they looked at
nearly every ordered pair, so a whole map can be measured.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from proprl.errors import PublicDataError

_HERE = Path(__file__).parent


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
class PublicSet:
    """A course that can be made from public files."""

    name: str
    title: str
    subject: str
    citation: str
    files: tuple[PublicFile, ...]
    counts: Mapping[str, int]  # how much it holds

    @property
    def facts(self) -> Mapping[str, int]:
        """How many concepts, resources, transitions, labelled pairs and positives it holds."""
        held = {"transitions": 0, **self.counts}
        held["labelled_pairs"] = held["pairs"]
        told = ("concepts", "resources", "transitions", "labelled_pairs", "positives")
        return {what: held[what] for what in told}


@dataclass(frozen=True)
class OtherTopic:
    """Labels in which a name means another topic: those of this name with any of `beside`."""

    name: str
    topic: str
    beside: tuple[str, ...]
    again_beside: tuple[str, ...] = ()
    """With these a label is there more than once, and means `topic` from the second on."""


@dataclass(frozen=True)
class BenchmarkSet(PublicSet):
    """A public set of the paper: labels of chosen pairs, in a published split."""

    folder: str  # its name in the public repositories
    texts: str | None = None  # the file of resource texts, where they are public
    repeated_topics: tuple[tuple[int, str], ...] | None = None
    """None where labels mean the concepts that they name. Else a label means the topic that comes
    next in GKROM's index, in which these have to be put back first."""
    other_topics: tuple[OtherTopic, ...] = ()  # exceptions to that
    released_behaviour_offset: int = 0  # what the released loader adds to clickstream ids

    @property
    def labels_are_out(self) -> bool:
        """Whether all labels mean other concepts than those they name."""
        return self.repeated_topics is not None


@dataclass(frozen=True)
class WholeMapSet(PublicSet):
    """A public set with labels of nearly all ordered pairs of its concepts."""

    topics: str  # the file of numbers and names
    separator: str  # of the columns in that file
    annotations: str  # the file of first, second, label
    texts: str  # the file of resource texts
    doubtful_names: tuple[int, ...] = ()
    """Numbers under which the annotators saw another topic than the file of topics names."""


def _described(kind: str) -> dict[str, dict[str, Any]]:
    """Return what `public_sets.toml` says of the sets of a kind, with their pinned files."""
    with (_HERE / "public_files.csv").open(encoding="utf-8", newline="") as lines:
        pinned = list(csv.DictReader(lines))
    described = tomllib.loads((_HERE / "public_sets.toml").read_text(encoding="utf-8"))[kind]
    for name, said in described.items():
        beginnings = tuple(said["files"])
        said["files"] = [file for file in pinned if file["path"].startswith(beginnings)]
        said["name"] = name
    return described  # type: ignore[no-any-return]


BENCHMARKS: Mapping[str, BenchmarkSet] = TypeAdapter(dict[str, BenchmarkSet]).validate_python(
    _described("benchmarks")
)
WHOLE_MAPS: Mapping[str, WholeMapSet] = TypeAdapter(dict[str, WholeMapSet]).validate_python(
    _described("whole_maps")
)


def find_benchmark(name: str) -> PublicSet:
    """Return the public set of this name; an unknown name lists the known ones."""
    known: dict[str, PublicSet] = {**BENCHMARKS, **WHOLE_MAPS}
    if name not in known:
        raise PublicDataError(
            f"there is no public set {name!r}; the public sets are {', '.join(known)}"
        )
    return known[name]
