"""A public set as a course: its faults repaired or left in, and notes on what is not read."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

import polars as pl

from proprl.data.course import Course
from proprl.data.public import layouts
from proprl.data.public.catalogue import BENCHMARKS, BenchmarkSet, WholeMapSet, find_benchmark
from proprl.data.public.public_files import check_files, data_root
from proprl.errors import Problem, PublicDataError

Alignment = Literal["fixed", "shifted", "published"]


def load_benchmark(
    name: str, root: str | os.PathLike[str] | None = None, *, alignment: Alignment = "fixed"
) -> Course:
    """Return a public set as a course, with the published split and every published row.

    `alignment` says what becomes of labels and behaviour that are about other concepts than
    names and resources are:

    - "fixed": they are repaired.
    - "published": they are left as released.
    - "shifted": the one row by which they are out is left, and the rest is repaired.

    A whole map, such as `lecturebank-208`, has no split and no `alignment`, and each annotated
    pair once.
    """
    if alignment not in get_args(Alignment):
        known = ", ".join(map(repr, get_args(Alignment)))
        raise PublicDataError(f"alignment is one of {known}, not {alignment!r}")
    public = find_benchmark(name)
    if isinstance(public, WholeMapSet) and alignment != "fixed":
        raise PublicDataError(
            f"{name!r} has no alignment to choose: its annotations are read as they are; leave "
            "alignment out"
        )
    folder = data_root(root)
    check_files(public, folder)
    if isinstance(public, WholeMapSet):
        return _load_whole_map(public, folder)
    return _load_chosen_pairs(BENCHMARKS[name], folder, alignment)


def _load_chosen_pairs(public: BenchmarkSet, folder: Path, alignment: Alignment) -> Course:
    """Return a set of the paper as a course."""
    dgcpl, gkrom = folder / "dgcpl" / public.folder, folder / "gkrom" / public.folder
    names = layouts.read_index(dgcpl / "concepts_index.csv")
    transitions = _transitions(public, dgcpl, len(names), alignment)
    pairs = layouts.read_pairs(dgcpl)
    if alignment == "fixed" or (alignment == "shifted" and not public.labels_are_out):
        names, pairs = _meant(public, gkrom, names, pairs)
    titles = layouts.read_index(gkrom / "resources_index.csv")
    resources, notes = layouts.read_resources(folder, public.texts, titles)
    mentions, foreign = _mentions(gkrom, names)
    # In the public files the dependent resource stands first.
    depends = layouts.read_relation(gkrom, "depend_on_r")
    course = Course.from_tables(
        name=public.name,
        description=public.title,
        subject=public.subject,
        language="en",
        concepts=pl.DataFrame(
            {
                "id": [f"c{row}" for row in range(len(names))],
                "name": [name.replace("_", " ") for name in names],
            }
        ),
        resources=resources,
        concept_resources=mentions,
        resource_links=depends.select(source=_id("r", "second"), target=_id("r", "first")),
        transitions=transitions,
        pairs=pairs.select(
            source=_id("c", "start"), target=_id("c", "end"), label="result", split="split"
        ),
        repeated_pairs="keep",
    )
    return replace(course, warnings=(*notes, *foreign, *course.warnings))


def _id(letter: str, number: str) -> pl.Expr:
    return pl.format(letter + "{}", pl.col(number))


def _transitions(public: BenchmarkSet, dgcpl: Path, n: int, alignment: Alignment) -> pl.DataFrame:
    offset = 0 if alignment == "fixed" else public.released_behaviour_offset
    # Index -1 is the last row in the released loader: hence the remainder.
    shifted = layouts.read_clickstream(dgcpl).with_columns((pl.col("head", "tail") + offset) % n)
    return shifted.select(source=_id("c", "head"), target=_id("c", "tail"), weight="readers")


def _meant(
    public: BenchmarkSet, gkrom: Path, released: list[str], pairs: pl.DataFrame
) -> tuple[list[str], pl.DataFrame]:
    """Return the names of all concepts, and the pairs as rows of what their labels mean.

    Where labels are out, a label means the topic that comes next in GKROM's index; `other_topics`
    are exceptions. What labels mean beyond the released concepts comes after them, in the order
    of the topics.
    """
    means, topics = {name: name for name in released}, []
    if public.repeated_topics is not None:
        topics = layouts.read_index(gkrom / "concepts_index.csv")
        for place, name in public.repeated_topics:
            topics.insert(place, name)
        # Of a name that stands there twice, the first is taken: hence from the end.
        means = dict(zip(reversed(topics[:-1]), reversed(topics[1:]), strict=True))
    other = {(each.name, b): each.topic for each in public.other_topics for b in each.beside}
    again = {(each.name, b): each.topic for each in public.other_topics for b in each.again_beside}
    first = pairs.select(pl.struct("start", "end").is_first_distinct()).to_series()

    def meant(column: str, beside: str) -> Iterator[str]:
        for i, j, is_first in zip(pairs[column], pairs[beside], first, strict=True):
            named = released[i], released[j]
            exception = other.get(named) or (None if is_first else again.get(named))
            yield exception or means[named[0]]

    start, end = list(meant("start", "end")), list(meant("end", "start"))
    place_of = {topic: place for place, topic in reversed(list(enumerate(topics)))}
    beyond = {*start, *end}.difference(released)
    names = [*released, *sorted(beyond, key=lambda name: (place_of.get(name, math.inf), name))]
    row_of = {name: row for row, name in enumerate(names)}
    rows = {"start": [row_of[name] for name in start], "end": [row_of[name] for name in end]}
    return names, pairs.with_columns(pl.DataFrame(rows))


def _mentions(gkrom: Path, names: list[str]) -> tuple[pl.DataFrame, list[Problem]]:
    """Return which concept is in which resource; GKROM numbers the concepts in its own way."""
    row_of = {name: row for row, name in enumerate(names)}
    index = layouts.read_index(gkrom / "concepts_index.csv")
    contains = layouts.read_relation(gkrom, "r_contain_c")  # resource, concept
    rows = pl.Series("concept", [row_of.get(index[c]) for c in contains["second"]], dtype=pl.Int64)
    links = contains.with_columns(rows).drop_nulls()
    left_out = len(contains) - len(links)
    expected = (
        f"{left_out} of {len(contains)} links are of the {len(set(index) - set(names))} concepts "
        "that the set has no labels for: they are not read"
    )
    notes = [Problem("r_contain_c_data_*.csv", None, None, None, expected)] if left_out else []
    return links.select(concept=_id("c", "concept"), resource=_id("r", "first")), notes


def _load_whole_map(public: WholeMapSet, folder: Path) -> Course:
    """Return a whole map as a course: the topics that were annotated, and each annotated pair once.

    A concept's id is the number of its topic. There are no transitions, and concepts are in the
    resources whose texts mention their names.
    """
    topics = layouts.read_topics(folder / public.topics, public.separator)
    annotations = layouts.read_annotations(folder / public.annotations)
    pairs, told = _sort_out(topics, annotations)
    resources, notes = layouts.read_resources(folder, public.texts)
    course = Course.from_tables(
        name=public.name,
        description=public.title,
        subject=public.subject,
        language="en",
        concepts=topics.filter(pl.col("id").is_in([*pairs["first"], *pairs["second"]])),
        resources=resources,
        pairs=pairs.select(source="first", target="second", label="label"),
    )
    name_of = dict(topics.select("id", "name").iter_rows())
    notes += [Problem(public.annotations, None, None, None, line) for line in told]
    expected = "this pair carries both labels: it is read as a prerequisite"
    notes += [
        Problem(public.annotations, None, None, f"{name_of[one]} → {name_of[other]}", expected)
        for one, other in pairs.filter(pl.col("labels") > 1).select("first", "second").iter_rows()
    ]
    expected = "annotators saw another topic under this number: labels with it do not fit its name"
    notes += [
        Problem(public.topics, None, "id", f"{number}: {name_of[str(number)]}", expected)
        for number in public.doubtful_names
    ]
    return replace(course, warnings=(*notes, *course.warnings))


def _sort_out(topics: pl.DataFrame, rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return each annotated ordered pair once, and what became of the other rows.

    A pair has `label` 1 if any of its rows has, and a count of its different `labels`. Pairs stand
    in the order of their first rows.

    Topics whose names differ only in case are one topic, and the first of them stands for it.
    Annotators looked at the later ones too, and answered otherwise now and then. So what they
    said of those is left out, not merged.
    """
    first_of_name = topics.filter(pl.col("name").str.to_lowercase().is_first_distinct())["id"]
    told = []
    for reason, kept in (
        ("without a label", pl.col("label").is_not_null()),
        ("about a number without a name", _both_in(topics["id"])),
        ("about a topic that has the name of an earlier one", _both_in(first_of_name)),
        ("about a topic and itself", pl.col("first") != pl.col("second")),
    ):
        before, rows = len(rows), rows.filter(kept)
        if len(rows) < before:
            told.append(f"rows {reason} are not read; there are {before - len(rows)}")
    pairs = rows.group_by("first", "second", maintain_order=True).agg(
        label=pl.col("label").max(), labels=pl.col("label").n_unique()
    )
    repeats = len(rows) - len(pairs)
    if repeats:
        told.append(f"each pair is read once; rows that repeat one: {repeats}")
    return pairs, told


def _both_in(ids: pl.Series) -> pl.Expr:
    return pl.col("first").is_in(ids.implode()) & pl.col("second").is_in(ids.implode())
