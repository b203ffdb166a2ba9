"""A course: concepts and whatever is known about them, validated as a whole."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict, Unpack

import numpy as np
import polars as pl
from scipy.sparse import coo_array

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.data.answers import with_answers
from proprl.data.folder.features_file import check_features
from proprl.data.lookup import find_concept
from proprl.data.mentions import BETWEEN, mention_incidence, names_in_texts
from proprl.data.splits.labelled import ORIGINS, PARTS, LabelledPairs
from proprl.data.tables.cells import TABLES, Table, arrange, frame_table
from proprl.data.tables.findings import Findings
from proprl.data.tables.table_checks import RepeatedPairs, validate
from proprl.errors import CourseError, Problem
from proprl.graphs.matrices import count_transitions


class About(TypedDict, total=False):
    """What may be said of a course in words."""

    name: str
    description: str
    subject: str
    language: str
    licence: str


ABOUT = tuple(About.__annotations__)


def concept_text(name: str, description: str) -> str:
    """Return what to read about a concept.

    >>> concept_text("Limits", "Where a function tends to.")
    'Limits. Where a function tends to.'
    """
    return f"{name}. {description}" if description.strip() else name


def title_and_text(resources: pl.DataFrame) -> list[str]:
    """Return what each resource says: its title, and its text."""
    said = resources.select("title", "text").iter_rows()
    return [f"{title}{BETWEEN}{text}" for title, text in said]


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
    concepts: pl.DataFrame  # id, name, description ("" where missing); topic where given
    resources: pl.DataFrame | None = None  # id, title, text ("" where missing)
    concept_resources: pl.DataFrame | None = None  # concept, resource
    resource_links: pl.DataFrame | None = None  # source is a prerequisite of target
    interactions: pl.DataFrame | None = None  # learner, concept, time (seconds, or UTC)
    transitions: pl.DataFrame | None = None  # source, target, weight > 0
    pairs: pl.DataFrame | None = None  # source, target, label; split, origin, chance where given
    answers: pl.DataFrame | None = None  # source, target, answer, who, when, origin; chance
    features: FloatArray | None = None  # (n, d)
    subject: str = ""  # such as "computer science": tells a reader which of its meanings a name has
    warnings: tuple[Problem, ...] = ()

    @classmethod
    def from_tables(
        cls,
        *,
        concepts: Any,
        pairs: Any = None,
        answers: Any = None,
        resources: Any = None,
        concept_resources: Any = None,
        resource_links: Any = None,
        interactions: Any = None,
        transitions: Any = None,
        features: Any = None,
        repeated_pairs: RepeatedPairs = "error",
        **about: Unpack[About],
    ) -> Course:
        """Return a course made of polars or pandas frames, checked as files are.

        Raises one `CourseError` with every problem; a problem's row counts from 1. With
        `repeated_pairs` "keep", a labelled pair may stand in several rows, with both labels and
        in several parts: every row is kept and each repeat is a warning. What the course is
        `about` are its name, description, subject, language and licence.

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
            "answers": answers,
        }
        texts = dict.fromkeys(ABOUT, "") | {"name": "course"} | dict(about)
        findings = Findings(f"the course {texts['name']!r}")
        given = {name for name, frame in frames.items() if name == "concepts" or frame is not None}
        tables = {}
        for name in TABLES:
            table = frame_table(frames[name], name, findings) if name in given else None
            if table is not None:
                tables[name] = arrange(table, name, {}, findings)
        return build_course(
            texts, tables, frozenset(given), features, "features", findings, repeated_pairs
        )

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

    @property
    def topics(self) -> tuple[str, ...]:
        """The topic of each concept, "" where it has none; () where the course names no topics.

        They order a map for people. No method learns from them.
        """
        return tuple(self.concepts["topic"]) if "topic" in self.concepts.columns else ()

    def row(self, concept: str) -> int:
        """Return the row of a concept given by id or by name."""
        return find_concept(concept, self.ids, self.names)

    def concept_texts(self) -> list[str]:
        """Return what to read about each concept: its name, and its description if it has one."""
        described = zip(self.names, self.concepts["description"], strict=True)
        return [concept_text(name, description) for name, description in described]

    def named_in(self) -> SparseMatrix:
        """Return which concept is named in the text about which other one, (n × n): 1 where it is.

        "Recurrent neural networks" names "Neural networks", and so may a description.
        """
        return names_in_texts(self.names, self.concept_texts())

    @cached_property
    def labels(self) -> pl.DataFrame | None:
        """The labelled pairs as `pairs` says and answers leave them; None without either."""
        return self.pairs if self.answers is None else with_answers(self.pairs, self.answers)

    def labelled_pairs(self) -> LabelledPairs:
        """Return the labelled pairs as rows of concepts."""
        labels = self.labels
        if labels is None:
            expected = "this needs labelled pairs: add pairs.csv with columns source, target, label"
            raise CourseError(self.name, [Problem("pairs.csv", None, None, None, expected)])
        said = [column for column in ("origin", "chance") if column in labels.columns]
        given = {column: labels[column].to_numpy() for column in said}
        ends = np.stack(self._ends(labels), axis=1)
        return LabelledPairs(ends, labels["label"].to_numpy(), **given)

    def split_column(self) -> list[str] | None:
        """Return the part that the course gives each labelled pair; None where it gives none."""
        if self.labels is None or "split" not in self.labels.columns:
            return None
        return self.labels["split"].to_list()

    def incidence(self) -> SparseMatrix | None:
        """Return which concept belongs to which resource, M (n × m): 1 where it does."""
        if self.resources is None:
            return None
        if self.concept_resources is None:
            return mention_incidence(self.names, title_and_text(self.resources))
        rows = _positions(self.concept_resources["concept"], self.concepts)
        columns = _positions(self.concept_resources["resource"], self.resources)
        return _matrix((rows, columns), (len(self), len(self.resources)))

    def resource_link_matrix(self) -> SparseMatrix | None:
        """Return which resource is a prerequisite of which other, (m × m): 1 where it is."""
        if self.resources is None or self.resource_links is None:
            return None
        source, target = (
            _positions(self.resource_links[end], self.resources) for end in ("source", "target")
        )
        return _matrix((source, target), (len(self.resources), len(self.resources)))

    def transition_matrix(self) -> SparseMatrix | None:
        """Return how strongly each concept leads to each other one, B_out (n × n)."""
        n = len(self)
        if self.transitions is not None:
            weights = self.transitions["weight"].to_numpy()
            return _matrix(self._ends(self.transitions), (n, n), weights)
        if self.interactions is None:
            return None
        # Events at the same time stay in the order in which they are listed.
        events = self.interactions.sort("learner", "time", maintain_order=True)
        learners = events["learner"].rle_id().to_numpy()
        return count_transitions(learners, _positions(events["concept"], self.concepts), n)

    def _ends(self, frame: pl.DataFrame) -> tuple[IntArray, IntArray]:
        """Return the rows of the concepts that stand as source and as target."""
        concepts = self.concepts
        return _positions(frame["source"], concepts), _positions(frame["target"], concepts)

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


def build_course(
    texts: Mapping[str, Any],
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
    findings.raise_errors()
    given: dict[str, Any] = {**texts, **frames}
    return Course(**given, features=checked, warnings=tuple(findings.in_order()[1]))


def _positions(ids: pl.Series, table: pl.DataFrame) -> IntArray:
    """Return the row in which a table has each of these ids."""
    position_of = {known: position for position, known in enumerate(table["id"])}
    return np.fromiter(map(position_of.__getitem__, ids), np.int64, len(ids))


def _matrix(
    places: tuple[IntArray, IntArray], shape: tuple[int, int], values: FloatArray | None = None
) -> SparseMatrix:
    """Return a sparse matrix with these values, or with ones, at these places."""
    values = np.ones(len(places[0])) if values is None else values
    return coo_array((values, places), shape=shape).tocsr()


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


def course_facts(course: Course) -> dict[str, str | int | None]:
    """Return what a course holds, for people and for scripts; None for what it lacks."""
    B, M = course.transition_matrix(), course.incidence()
    events, pairs = course.interactions, course.labels
    rows = {table: len(frame) for table, frame in course.tables().items()}
    linked_by = "mention" if course.concept_resources is None else "given"
    facts: dict[str, str | int | None] = {
        "name": course.name,
        "subject": course.subject or None,
        "language": course.language or None,
        "licence": course.licence or None,
        "concepts": len(course),
        "resources": rows.get("resources"),
        "links_of_concepts_and_resources": None if M is None else int(M.nnz),
        "links_by": None if M is None else linked_by,
        "learners": None if events is None else events["learner"].n_unique(),
        "interactions": rows.get("interactions"),
        "transitions": None if B is None else int(B.nnz),
        "features": None if course.features is None else course.features.shape[1],
        "labelled_pairs": None if pairs is None else len(pairs),
        "positives": None if pairs is None else int(pairs["label"].sum()),
    }
    if pairs is not None and "origin" in pairs.columns:
        origins = pairs["origin"].to_list()
        facts |= {f"{origin}_pairs": origins.count(origin) for origin in ORIGINS}
    if course.answers is not None:
        facts["answers"] = rows["answers"]
    parts = course.split_column()
    return facts if parts is None else facts | {part: parts.count(part) for part in PARTS}
