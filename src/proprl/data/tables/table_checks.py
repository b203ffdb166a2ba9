"""What each table of a course must hold, and how the tables belong together.

What is more about labelled pairs stands in `pair_checks`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Literal, get_args

import numpy as np
import polars as pl

from proprl.data.tables.answer_checks import check_answers
from proprl.data.tables.cells import TABLES, Table
from proprl.data.tables.checks import Check, blank, numbers
from proprl.data.tables.findings import Findings
from proprl.data.tables.pair_checks import check_pairs
from proprl.errors import ProprlError

RepeatedPairs = Literal["error", "keep"]
"""Whether a labelled pair may stand in several rows: public benchmarks have such rows."""


def validate(
    tables: Mapping[str, Table],
    present: frozenset[str],
    findings: Findings,
    repeated_pairs: RepeatedPairs = "error",
) -> dict[str, pl.DataFrame]:
    """Return each table with its final types; what is wrong stands in `findings` afterwards.

    `present` names the tables that were given, even if they could not be read: such a table was
    reported already, and is not missing. With `repeated_pairs` "keep", a labelled pair
    that stands in several rows is a warning, whatever its labels and parts.
    """
    if repeated_pairs not in get_args(RepeatedPairs):
        raise ProprlError(f'repeated_pairs is "error" or "keep", not {repeated_pairs!r}')
    file_of = {name: tables[name].file if name in tables else name for name in TABLES}
    if "concepts" not in present:
        findings.report(
            "concepts.csv", "this table is missing: every course needs one, with columns id, name"
        )
    frames = {
        name: _CHECKS[name](Check(tables[name], tables, findings, repeated_pairs == "keep"))
        for name in TABLES
        if name in tables
    }
    if {"interactions", "transitions"} <= present:
        findings.report(
            file_of["transitions"],
            f"there is {file_of['interactions']} too: remove one of the two; "
            "transitions are either counted from interactions or given",
        )
    for table in ("concept_resources", "resource_links"):
        if table in present and "resources" not in present:
            findings.report(file_of[table], "needs the table of resources: add resources.csv")
    return frames


def _concepts(check: Check) -> pl.DataFrame:
    check.filled("id", "name")
    check.unique("id", what="this id stands")
    check.unique("name", what="another concept with this name stands", warning=True)
    check.misspelt_columns(TABLES["concepts"])
    return _with_topics(_with_text(check.frame, "description"))


def _with_topics(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with topics without outer spaces, and without the column if it is blank."""
    if "topic" not in frame.columns:
        return frame
    topics = frame["topic"].str.strip_chars()
    return frame.drop("topic") if (topics == "").all() else frame.with_columns(topics)


def _resources(check: Check) -> pl.DataFrame:
    check.filled("id", "title")
    check.unique("id", what="this id stands")
    return _with_text(check.frame, "text")


def _with_text(frame: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return the frame with this as its third column, empty where it was not given."""
    if column in frame.columns:
        return frame
    return frame.insert_column(2, pl.Series(column, [""] * len(frame), dtype=pl.String))


def _concept_resources(check: Check) -> pl.DataFrame:
    check.filled("concept", "resource")
    check.known("concept", "concepts")
    check.known("resource", "resources")
    check.unique("concept", "resource", what="this link stands")
    return check.frame


def _resource_links(check: Check) -> pl.DataFrame:
    check.ends("resources")
    check.unique("source", "target", what="this link stands")
    return check.frame


def _interactions(check: Check) -> pl.DataFrame:
    check.filled("learner", "concept", "time")
    check.known("concept", "concepts")
    return check.frame.with_columns(_times(check))


def _transitions(check: Check) -> pl.DataFrame:
    check.ends()
    check.unique("source", "target", what="this transition stands")
    weight = numbers(check.frame["weight"])
    faulty = ~(weight.is_finite() & (weight > 0)).fill_null(False) & ~blank(check.frame["weight"])
    check.filled("weight")
    check.report(faulty, "must be a finite number greater than 0", column="weight")
    return check.frame.with_columns(weight)


def _times(check: Check) -> pl.Series:
    """Return seconds as floats, or moments in UTC: whichever the column holds."""
    cells = check.frame["time"]
    number = numbers(cells)
    moments: list[datetime | None] = [None] * len(cells)
    others = (number.is_null() & ~blank(cells)).fill_null(False).arg_true()
    for position, text in zip(others, cells.gather(others), strict=True):
        moments[position] = _moment(text.strip())
    moment = pl.Series("time", moments, dtype=pl.Datetime("us"))
    is_number, is_moment = number.is_finite().fill_null(False), moment.is_not_null()
    faulty = ~is_number & ~is_moment & ~blank(cells)
    check.report(faulty, "must be a number of seconds or an ISO date and time", column="time")
    if is_number.any() and is_moment.any():
        fewer = is_number if is_number.sum() <= is_moment.sum() else is_moment
        first_of_fewer = pl.Series(np.arange(len(cells)) == fewer.arg_max())
        expected = (
            f"all times must be of one kind: {is_number.sum()} rows hold a number, "
            f"{is_moment.sum()} a date"
        )
        check.report(first_of_fewer, expected, column="time")
    return moment if is_moment.any() else number


def _moment(text: str) -> datetime | None:
    """Return the moment in UTC, without a time zone; a text that names none is taken as UTC."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
    except (ValueError, OverflowError):
        return None


_CHECKS: Mapping[str, Callable[[Check], pl.DataFrame]] = {
    "concepts": _concepts,
    "resources": _resources,
    "concept_resources": _concept_resources,
    "resource_links": _resource_links,
    "interactions": _interactions,
    "transitions": _transitions,
    "pairs": check_pairs,
    "answers": check_answers,
}
