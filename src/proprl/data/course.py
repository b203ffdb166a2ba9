"""A course: concepts and whatever is known about them, validated as a whole."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl
from scipy.sparse import coo_array

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.data.checking.course_tables import RepeatedPairs, validate
from proprl.data.checking.findings import Findings
from proprl.data.checking.tables import TABLES, Table, arrange, frame_records
from proprl.data.folder.features_file import check_features
from proprl.data.lookup import find_concept
from proprl.data.mentions import mention_incidence, names_in_texts
from proprl.data.splits.labelled import LabelledPairs
from proprl.errors import CourseError, Problem
from proprl.graphs.matrices import count_transitions


def concept_text(name: str, description: str) -> str:
    """Return what to read about a concept.

    >>> concept_text("Limits", "Where a function tends to.")
    'Limits. Where a function tends to.'
    """
    return f"{name}. {description}" if description.strip() else name


@dataclass(frozen=True, eq=False)
class Course:
    """Concepts with their resources, learners' behaviour and expert labels, checked once.

    Make one with `read_course`, `load_course` or `Course.from_tables`; the constructor itself
    checks nothing. Rows of `concepts` number the concepts everywhere in proprl. Tables that the
    course does not have are None. Columns beyond those listed are kept as text.
    """

    name: str
    description: str
    language: str
    licence: str
    concepts: pl.DataFrame  # id, name, description ("" where missing)
    resources: pl.DataFrame | None = None  # id, title, text ("" where missing)
    concept_resources: pl.DataFrame | None = None  # concept, resource
    resource_links: pl.DataFrame | None = None  # source is a prerequisite of target
    interactions: pl.DataFrame | None = None  # learner, concept, time (seconds, or UTC)
    transitions: pl.DataFrame | None = None  # source, target, weight > 0
    pairs: pl.DataFrame | None = None  # source, target, label; split, origin, chance where given
    features: FloatArray | None = None  # (n, d)
    subject: str = ""  # such as "computer science": tells a reader which of its meanings a name has
    warnings: tuple[Problem, ...] = ()

    @classmethod
    def from_tables(
        cls,
        *,
        concepts: Any,
        pairs: Any = None,
        resources: Any = None,
        concept_resources: Any = None,
        resource_links: Any = None,
        interactions: Any = None,
        transitions: Any = None,
        features: Any = None,
        name: str = "course",
        description: str = "",
        subject: str = "",
        language: str = "",
        licence: str = "",
        repeated_pairs: RepeatedPairs = "error",
    ) -> Course:
        """Return a course made of polars or pandas frames, checked as files are.

        Raises one `CourseError` with every problem; a problem's row counts from 1. With
        `repeated_pairs` "keep", a labelled pair may stand in several rows, with both labels and
        in several parts: every row is kept and each repeat is a warning.

        >>> course = Course.from_tables(
        ...     concepts=pl.DataFrame({"id": ["f", "l"], "name": ["Functions", "Limits"]}),
        ...     pairs=pl.DataFrame({"source": ["f"], "target": ["l"], "label": [1]}),
        ... )
        >>> len(course), course.row("Limits")
        (2, 1)
        """
        frames = {
            "concepts": concepts,
            "resources": resources,
            "concept_resources": concept_resources,
            "resource_links": resource_links,
            "interactions": interactions,
            "transitions": transitions,
            "pairs": pairs,
        }
        texts = {
            "name": name,
            "description": description,
            "subject": subject,
            "language": language,
            "licence": licence,
        }
        return _course_of_frames(frames, texts, features, repeated_pairs)

    def __len__(self) -> int:
        """Return the number of concepts."""
        return len(self.concepts)

    def __repr__(self) -> str:
        counts = [f"{len(frame)} {table}" for table, frame in self.tables().items()]
        return f"Course({self.name!r}: {', '.join(counts)})"

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tables that the course has, by name."""
        tables = {table: getattr(self, table) for table in TABLES}
        return {table: frame for table, frame in tables.items() if frame is not None}

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The id of each concept, in order."""
        return tuple(self.concepts["id"])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each concept, in order."""
        return tuple(self.concepts["name"])

    @cached_property
    def _row_of(self) -> Mapping[str, int]:
        return {concept: row for row, concept in enumerate(self.ids)}

    def row(self, concept: str) -> int:
        """Return the row of a concept given by id or by name."""
        row = self._row_of.get(concept)
        return find_concept(concept, self.ids, self.names) if row is None else row

    def concept_texts(self) -> list[str]:
        """Return what to read about each concept: its name, and its description if it has one."""
        described = zip(self.names, self.concepts["description"], strict=True)
        return [concept_text(name, description) for name, description in described]

    def named_in(self) -> SparseMatrix:
        """Return which concept is named in the text about which other one, (n × n): 1 where it is.

        "Recurrent neural networks" names "Neural networks", and so may a description.
        """
        return names_in_texts(self.names, self.concept_texts())

    def labelled_pairs(self) -> LabelledPairs:
        """Return the labelled pairs as rows of concepts."""
        if self.pairs is None:
            expected = "this needs labelled pairs: add pairs.csv with columns source, target, label"
            raise CourseError(self.name, [Problem("pairs.csv", None, None, None, expected)])
        ends = np.stack(
            [self._rows(self.pairs["source"]), self._rows(self.pairs["target"])], axis=1
        )
        said = [column for column in ("origin", "chance") if column in self.pairs.columns]
        given = {column: self.pairs[column].to_numpy() for column in said}
        return LabelledPairs(ends, self.pairs["label"].to_numpy(), **given)

    def split_column(self) -> list[str] | None:
        """Return the part that the course gives each labelled pair; None where it gives none."""
        if self.pairs is None or "split" not in self.pairs.columns:
            return None
        return self.pairs["split"].to_list()

    def incidence_source(self) -> Literal["given", "mention"] | None:
        """Return where `incidence` comes from; None where there are no resources."""
        if self.resources is None:
            return None
        return "mention" if self.concept_resources is None else "given"

    def incidence(self) -> SparseMatrix | None:
        """Return which concept belongs to which resource, M (n × m): 1 where it does."""
        if self.resources is None:
            return None
        if self.concept_resources is None:
            return mention_incidence(self.names, self._resource_texts())
        rows = self._rows(self.concept_resources["concept"])
        columns = _positions(self.concept_resources["resource"], self.resources["id"])
        shape = (len(self), len(self.resources))
        return coo_array((np.ones(len(rows)), (rows, columns)), shape=shape).tocsr()

    def _resource_texts(self) -> list[str]:
        if self.resources is None:
            return []
        # The full stop keeps a name from being found half in the title, half in the text.
        return [
            f"{title}\n.\n{text}"
            for title, text in self.resources.select("title", "text").iter_rows()
        ]

    def resource_link_matrix(self) -> SparseMatrix | None:
        """Return which resource is a prerequisite of which other, (m × m): 1 where it is."""
        if self.resources is None or self.resource_links is None:
            return None
        m, ids = len(self.resources), self.resources["id"]
        ends = tuple(_positions(self.resource_links[end], ids) for end in ("source", "target"))
        return coo_array((np.ones(len(self.resource_links)), ends), shape=(m, m)).tocsr()

    def transition_matrix(self) -> SparseMatrix | None:
        """Return how strongly each concept leads to each other one, B_out (n × n)."""
        n = len(self)
        if self.transitions is not None:
            ends = self._rows(self.transitions["source"]), self._rows(self.transitions["target"])
            weights = self.transitions["weight"].to_numpy()
            return coo_array((weights, ends), shape=(n, n)).tocsr()
        if self.interactions is None:
            return None
        # Events at the same time stay in the order in which they are listed.
        events = self.interactions.sort("learner", "time", maintain_order=True)
        learners = events["learner"].rle_id().to_numpy()
        return count_transitions(learners, self._rows(events["concept"]), n)

    def _rows(self, concepts: pl.Series) -> IntArray:
        return np.fromiter(map(self._row_of.__getitem__, concepts), np.int64, len(concepts))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of tables, features and subject: equal for equal content, whatever the files."""
        digest = hashlib.sha256()
        for table, frame in self.tables().items():
            for column in sorted(frame.columns):
                _add(digest, f"{table}.{column}".encode())
                _add_column(digest, frame[column])
        if self.subject:  # decides what a language model reads
            _add(digest, f"subject {self.subject}".encode())
        if self.features is not None:
            _add(digest, f"features {self.features.shape}".encode())
            _add(digest, self.features.astype("<f8").tobytes())
        return digest.hexdigest()


def _course_of_frames(
    frames: Mapping[str, Any],
    texts: Mapping[str, str],
    features: Any,
    repeated_pairs: RepeatedPairs,
) -> Course:
    """Check frames by the name of their table, and make a course of them."""
    given = {t: frame for t, frame in frames.items() if t == "concepts" or frame is not None}
    findings = Findings(f"the course {texts['name']!r}")
    tables = {}
    for table, frame in given.items():
        records = frame_records(frame, table, findings)
        if records is not None:
            tables[table] = arrange(records, table, {}, findings)
    return build_course(
        texts, tables, frozenset(given), features, "features", findings, repeated_pairs
    )


def build_course(
    texts: Mapping[str, str],
    tables: Mapping[str, Table],
    present: frozenset[str],
    features: Any,
    features_file: str,
    findings: Findings,
    repeated_pairs: RepeatedPairs,
) -> Course:
    """Return the course if nothing is wrong; else raise one `CourseError` with everything."""
    frames = validate(tables, present, findings, repeated_pairs)
    checked = None
    if features is not None:
        n = len(frames["concepts"]) if "concepts" in frames else None
        checked = check_features(features, n, features_file, findings)
    errors, warnings = findings.in_order()
    if errors:
        raise CourseError(findings.source, errors)
    given: dict[str, Any] = {**texts, **frames}
    return Course(**given, features=checked, warnings=tuple(warnings))


def _positions(ids: pl.Series, among: pl.Series) -> IntArray:
    """Return where each id stands among all of them."""
    position_of = {known: position for position, known in enumerate(among)}
    return np.fromiter(map(position_of.__getitem__, ids), np.int64, len(ids))


def _add(digest: Any, content: bytes) -> None:
    """Add content with its length, so that no two lists of contents run together alike."""
    digest.update(len(content).to_bytes(8, "little"))
    digest.update(content)


def _add_column(digest: Any, column: pl.Series) -> None:
    if column.dtype == pl.String:
        _add(digest, column.str.len_bytes().to_numpy().astype("<i8").tobytes())
        _add(digest, "".join(column).encode())
    else:
        is_moment = isinstance(column.dtype, pl.Datetime)  # counted in microseconds
        values = column.to_physical().to_numpy()
        kind = "<f8" if values.dtype.kind == "f" else "<i8"
        _add(digest, b"moment" if is_moment else kind.encode())
        _add(digest, values.astype(kind).tobytes())
