"""A public benchmark set as a course, with its faults repaired or left in."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import polars as pl

from proprl.arrays import FloatArray
from proprl.data.course import Course
from proprl.data.public import layouts
from proprl.data.public.catalogue import (
    BENCHMARKS,
    BenchmarkSet,
    OtherTopic,
    find_benchmark,
)
from proprl.data.public.location import check_files, data_root
from proprl.data.public.resources import numbered, read_resources
from proprl.data.public.whole_map_loading import load_whole_map
from proprl.data.public.whole_map_sets import WholeMapSet
from proprl.errors import Problem, PublicDataError

Alignment = Literal["fixed", "shifted", "published"]
Features = Literal["bert"]
Incidence = Literal["gkrom", "published"]


def load_benchmark(
    name: str,
    root: str | os.PathLike[str] | None = None,
    *,
    alignment: Alignment = "fixed",
    features: Features | None = None,
    incidence: Incidence = "gkrom",
) -> Course:
    """Return a public set as a course, with the published split and every published row.

    A whole map, such as `lecturebank-208`, has no split, each annotated pair once and none of the
    options below.

    `alignment` "fixed" repairs what labels and behaviour of the public data are about, so that they
    speak of the same concepts as names and resources; "published" leaves them as released, and
    "shifted" leaves the one row by which they are out, and repairs the rest.
    `features` "bert" and `incidence` "published" read `bert_embeddings.csv` and
    `Hypergraph_H.csv`, which must be copied into the folder first: they are not fetched. Both were
    released for the released concepts; LectureBank's labels speak of more when "fixed".
    """
    _check_option("alignment", alignment, get_args(Alignment))
    _check_option("features", features, (None, *get_args(Features)))
    _check_option("incidence", incidence, get_args(Incidence))
    public = find_benchmark(name)
    folder = data_root(root)
    given = {
        "alignment": alignment != "fixed",
        "features": features is not None,
        "incidence": incidence != "gkrom",
    }
    if isinstance(public, WholeMapSet):
        _refuse_options(name, [option for option, is_given in given.items() if is_given])
    check_files(public, folder)
    if isinstance(public, WholeMapSet):
        return load_whole_map(public, folder)
    return _load_chosen_pairs(BENCHMARKS[name], folder, alignment, features, incidence)


def _load_chosen_pairs(
    public: BenchmarkSet,
    folder: Path,
    alignment: Alignment,
    features: Features | None,
    incidence: Incidence,
) -> Course:
    """Return a set of the paper as a course."""
    dgcpl, gkrom = folder / "dgcpl" / public.folder, folder / "gkrom" / public.folder
    released = layouts.read_index(dgcpl / "concepts_index.csv")
    pairs = layouts.read_pairs(dgcpl)
    names = released
    if alignment == "fixed" or (alignment == "shifted" and not public.labels_are_out):
        names, pairs = _meant(released, _topics(public, gkrom), public.other_topics, pairs)
    titles = layouts.read_index(gkrom / "resources_index.csv")
    resources, notes = read_resources(folder, public.texts, titles)
    if incidence == "gkrom":
        mentions, foreign = _mentions(gkrom, names)
        notes += foreign
    else:
        H = layouts.read_hypergraph(dgcpl / "Hypergraph_H.csv", (len(released), len(titles)))
        mentions = _matrix_links(H)
    course = Course.from_tables(
        name=public.name,
        description=public.title,
        subject=public.subject,
        language="en",
        concepts=pl.DataFrame(
            {"id": numbered("c", len(names)), "name": [name.replace("_", " ") for name in names]}
        ),
        resources=resources,
        concept_resources=mentions,
        resource_links=_resource_links(gkrom),
        transitions=_transitions(public, dgcpl, len(released), alignment),
        pairs=_pairs(pairs),
        features=_bert(dgcpl, released, names) if features else None,
        repeated_pairs="keep",
    )
    return replace(course, warnings=(*notes, *course.warnings))


def _check_option(option: str, value: str | None, known: tuple[str | None, ...]) -> None:
    if value not in known:
        raise PublicDataError(f"{option} is one of {', '.join(map(repr, known))}, not {value!r}")


def _refuse_options(name: str, options: list[str]) -> None:
    """Raise a `PublicDataError` that names the options, if any, that a whole map does not have."""
    if options:
        raise PublicDataError(
            f"{name!r} has no {' and no '.join(options)} to choose: its annotations are read as "
            "they are, and a concept is in the resources whose texts mention its name; leave "
            f"{' and '.join(options)} out"
        )


def _id(letter: str, number: str) -> pl.Expr:
    return pl.format(letter + "{}", pl.col(number))


def _topics(public: BenchmarkSet, gkrom: Path) -> list[str] | None:
    """Return the topics in the order in which labels count them, if labels are out."""
    if public.repeated_topics is None:
        return None
    topics = layouts.read_index(gkrom / "concepts_index.csv")
    for place, name in public.repeated_topics:
        topics.insert(place, name)
    return topics


def _meant(
    released: list[str],
    topics: list[str] | None,
    others: Iterable[OtherTopic],
    pairs: pl.DataFrame,
) -> tuple[list[str], pl.DataFrame]:
    """Return the names of all concepts, and the pairs as rows of what their labels mean.

    That is the next of the `topics`, if there are any, but for the `others`. What labels mean
    beyond the released concepts comes after them, in the order of the topics.
    """
    means = {name: name for name in released}
    if topics is not None:
        # Of a name that stands there twice, the first is taken: hence from the end.
        means = dict(zip(reversed(topics[:-1]), reversed(topics[1:]), strict=True))
    other = {(each.name, beside): each.topic for each in others for beside in each.beside}
    other_again = {
        (each.name, beside): each.topic for each in others for beside in each.again_beside
    }
    first = pairs.select(pl.struct("start", "end").is_first_distinct()).to_series()

    def meant(column: str, beside: str) -> Iterator[str]:
        for i, j, is_first in zip(pairs[column], pairs[beside], first, strict=True):
            named = released[i], released[j]
            exception = other.get(named) or (None if is_first else other_again.get(named))
            yield exception or means[named[0]]

    start, end = list(meant("start", "end")), list(meant("end", "start"))
    place = {topic: at for at, topic in reversed(list(enumerate(topics or ())))}
    beyond = {*start, *end}.difference(released)
    names = [*released, *sorted(beyond, key=lambda name: (place.get(name, math.inf), name))]
    row_of = {name: row for row, name in enumerate(names)}
    rows = {"start": [row_of[name] for name in start], "end": [row_of[name] for name in end]}
    return names, pairs.with_columns(pl.DataFrame(rows))


def _bert(dgcpl: Path, released: list[str], names: list[str]) -> FloatArray:
    X = layouts.read_bert(dgcpl / "bert_embeddings.csv", released)
    if len(names) > len(released):
        raise PublicDataError(
            f"BERT vectors were released for {len(released)} concepts, but labels speak of "
            f'{len(names) - len(released)} more: read them with alignment="published"'
        )
    return X


def _pairs(pairs: pl.DataFrame) -> pl.DataFrame:
    return pairs.select(
        source=_id("c", "start"), target=_id("c", "end"), label="result", split="split"
    )


def _transitions(public: BenchmarkSet, dgcpl: Path, n: int, alignment: Alignment) -> pl.DataFrame:
    offset = 0 if alignment == "fixed" else public.released_behaviour_offset
    # Index -1 is the last row in the released loader: hence the remainder.
    shifted = layouts.read_clickstream(dgcpl).with_columns((pl.col("head", "tail") + offset) % n)
    return shifted.select(source=_id("c", "head"), target=_id("c", "tail"), weight="readers")


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


def _matrix_links(H: FloatArray) -> pl.DataFrame:
    rows, columns = np.nonzero(H)
    return pl.DataFrame({"row": rows, "column": columns}).select(
        concept=_id("c", "row"), resource=_id("r", "column")
    )


def _resource_links(gkrom: Path) -> pl.DataFrame:
    # In the public files the dependent resource stands first.
    depends = layouts.read_relation(gkrom, "depend_on_r")
    return depends.select(source=_id("r", "second"), target=_id("r", "first"))
