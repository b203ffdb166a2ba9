"""A public set in which people looked at nearly every pair, as a course."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from proprl.data.course import Course
from proprl.data.public import layouts
from proprl.data.public.resources import read_resources
from proprl.data.public.whole_map_sets import WholeMapSet
from proprl.errors import Problem


@dataclass(frozen=True)
class Annotations:
    """The ordered pairs that people looked at, each once, and what became of the other rows."""

    pairs: pl.DataFrame  # first, second, label; rows (how many said so), labels (how many differ)
    left_out: dict[str, int]  # reason → rows, by the names of `MapCounts`

    @property
    def repeats(self) -> int:
        """The number of rows whose pair stands in an earlier one."""
        return int((self.pairs["rows"] - 1).sum())

    @property
    def contradictions(self) -> pl.DataFrame:
        """The pairs whose rows carry both labels."""
        return self.pairs.filter(pl.col("labels") > 1)


def load_whole_map(public: WholeMapSet, folder: Path) -> Course:
    """Return the set as a course: the topics that were annotated, and every annotated pair once.

    A concept's id is the number of its topic. There are no transitions, and concepts are in the
    resources whose texts mention their names.
    """
    topics = layouts.read_topics(folder / public.topics, public.separator)
    annotations = sort_out(topics, layouts.read_annotations(folder / public.annotations))
    spoken_of = {*annotations.pairs["first"], *annotations.pairs["second"]}
    resources, notes = read_resources(folder, public.texts)
    course = Course.from_tables(
        name=public.name,
        description=public.title,
        subject=public.subject,
        language="en",
        concepts=topics.filter(pl.col("id").is_in(spoken_of)),
        resources=resources,
        pairs=annotations.pairs.select(source="first", target="second", label="label"),
    )
    notes += _notes(public, topics, annotations)
    return replace(course, warnings=(*notes, *course.warnings))


def sort_out(topics: pl.DataFrame, rows: pl.DataFrame) -> Annotations:
    """Return each annotated ordered pair once, in the order of its first row.

    Topics whose names differ only in case are one, and the first of them is it: annotators looked
    at the later ones too, and answered otherwise now and then, so what they said of those is left
    out and not merged. A pair that any of its rows calls a prerequisite is one.
    """
    known = topics["id"]
    first_of_name = topics.filter(pl.col("name").str.to_lowercase().is_first_distinct())["id"]
    left_out = {}
    for reason, kept in (
        ("without_label", pl.col("label").is_not_null()),
        ("without_name", _both_in(known)),
        ("of_later_namesakes", _both_in(first_of_name)),
        ("with_itself", pl.col("first") != pl.col("second")),
    ):
        before = len(rows)
        rows = rows.filter(kept)
        left_out[reason] = before - len(rows)
    pairs = rows.group_by("first", "second", maintain_order=True).agg(
        label=pl.col("label").max(), rows=pl.len(), labels=pl.col("label").n_unique()
    )
    return Annotations(pairs, left_out)


def _both_in(ids: pl.Series) -> pl.Expr:
    return pl.col("first").is_in(ids.implode()) & pl.col("second").is_in(ids.implode())


_REASONS = {
    "without_label": "without a label",
    "without_name": "about a number without a name",
    "of_later_namesakes": "about a topic that has the name of an earlier one",
    "with_itself": "about a topic and itself",
}


def _notes(public: WholeMapSet, topics: pl.DataFrame, annotations: Annotations) -> list[Problem]:
    """Return what a reader should know of the annotations before trusting them."""
    file = public.annotations
    name_of = dict(topics.select("id", "name").iter_rows())
    told = [
        f"rows {_REASONS[reason]} are not read; there are {count}"
        for reason, count in annotations.left_out.items()
        if count
    ]
    if annotations.repeats:
        told.append(f"each pair is read once; rows that repeat one: {annotations.repeats}")
    notes = [Problem(file, None, None, None, line) for line in told]
    for first, second in annotations.contradictions.select("first", "second").iter_rows():
        both = f"{name_of[first]} → {name_of[second]}"
        expected = "this pair carries both labels: it is read as a prerequisite"
        notes.append(Problem(file, None, None, both, expected))
    return notes + _doubts(public.topics, public.doubtful_names, name_of)


def _doubts(file: str, numbers: Iterable[int], name_of: dict[str, str]) -> list[Problem]:
    expected = "annotators saw another topic under this number: labels with it do not fit its name"
    return [Problem(file, None, "id", f"{n}: {name_of[str(n)]}", expected) for n in numbers]
