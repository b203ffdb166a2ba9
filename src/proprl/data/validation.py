"""Checking the tables of a course against each other, and giving their columns types.

Every check looks at whole columns and reports each faulty row; none stops another. A null cell
was reported when it was read, and is left alone here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Literal, get_args

import numpy as np
import polars as pl

from proprl.arrays import IntArray
from proprl.data.findings import Findings
from proprl.data.splits import PARTS
from proprl.data.tables import TABLES, Table
from proprl.errors import ProprlError

_LABELS = {"0": 0, "0.0": 0, "1": 1, "1.0": 1}
_TRUTHS = {"false": 0, "true": 1}  # what Parquet and JSON may hold; in CSV they are words

_SPLITS = {part: part for part in PARTS} | dict.fromkeys(("val", "valid", "dev"), "validation")

RepeatedPairs = Literal["error", "keep"]
"""Whether a labelled pair may stand in several rows: public benchmarks have such rows."""

Message = str | Callable[[int], str]
"""What was expected: one sentence, or one per faulty position."""


def validate(
    tables: Mapping[str, Table],
    present: frozenset[str],
    findings: Findings,
    repeated_pairs: RepeatedPairs = "error",
) -> dict[str, pl.DataFrame]:
    """Return each table with its final types; what is wrong stands in `findings` afterwards.

    `present` names the tables that were given, including those that could not be read: they are
    not missing, they are reported already. With `repeated_pairs` "keep", a labelled pair that
    stands in several rows is a warning, whatever its labels and parts.
    """
    if repeated_pairs not in get_args(RepeatedPairs):
        raise ProprlError(f'repeated_pairs is "error" or "keep", not {repeated_pairs!r}')
    keep = repeated_pairs == "keep"
    if "concepts" not in present:
        findings.error(
            "concepts.csv", "this table is missing: every course needs one, with columns id, name"
        )
    frames = {
        name: _CHECKS[name](_Check(tables[name], tables, findings, keep_repeated=keep))
        for name in TABLES
        if name in tables
    }
    if {"interactions", "transitions"} <= present:
        findings.error(
            _file(tables, "transitions"),
            f"there is {_file(tables, 'interactions')} too: remove one of the two, "
            "transitions are either counted from interactions or given",
        )
    for table in ("concept_resources", "resource_links"):
        if table in present and "resources" not in present:
            findings.error(_file(tables, table), "needs the table of resources: add resources.csv")
    return frames


def _file(tables: Mapping[str, Table], name: str) -> str:
    return tables[name].file if name in tables else name


class _Check:
    """One table under examination: its columns, the other tables, and where to report."""

    def __init__(
        self,
        table: Table,
        tables: Mapping[str, Table],
        findings: Findings,
        *,
        keep_repeated: bool = False,
    ) -> None:
        self.table, self.tables, self.findings = table, tables, findings
        self.keep_repeated = keep_repeated  # repeated pairs are warnings
        self.frame = table.frame

    def report(
        self,
        faulty: pl.Series,
        expected: Message,
        *,
        column: str | None = None,
        values: pl.Series | None = None,
        warning: bool = False,
    ) -> None:
        """Report each position where `faulty` is true; a null counts as false."""
        add = self.findings.warn if warning else self.findings.error
        shown = self.frame[column] if values is None and column is not None else values
        heading = None if column is None else self.table.heading(column)
        for position in faulty.fill_null(False).arg_true():
            add(
                self.table.file,
                expected if isinstance(expected, str) else expected(position),
                row=self.row(position),
                column=heading,
                value=None if shown is None else shown[position],
            )

    def row(self, position: int) -> int:
        """Return how a person counts the row at this position."""
        return int(self.table.rows[position])

    def filled(self, *columns: str) -> None:
        """Report blank cells."""
        for column in columns:
            self.report(_blank(self.frame[column]), "must not be empty", column=column)

    def known(self, column: str, table: str) -> None:
        """Report ids that the other table does not have; silent where it has none at all."""
        if table not in self.tables:
            return
        other = self.tables[table]
        ids = other.frame["id"].drop_nulls()
        if len(ids):
            cells = self.frame[column]
            unknown = ~cells.is_in(ids.unique().implode()) & ~_blank(cells)
            self.report(unknown, f"is not an id in {other.file}", column=column)

    def first_positions(self, *columns: str) -> IntArray:
        """Return, for each row, the position of the first row with the same cells."""
        numbered = self.frame.select(columns).with_row_index("position")
        complete = pl.all_horizontal(pl.col(column).is_not_null() for column in columns)
        first = pl.col("position").min().over(columns)
        chosen = pl.when(complete).then(first).otherwise("position").cast(pl.Int64)
        return numbered.select(chosen).to_series().to_numpy()

    def repeated(self, first: IntArray) -> pl.Series:
        """Return where a row repeats an earlier one."""
        return pl.Series(first != np.arange(len(first)), dtype=pl.Boolean)

    def unique(self, *columns: str, what: str, warning: bool = False) -> None:
        """Report rows that repeat an earlier one in these columns."""
        first = self.first_positions(*columns)
        self.report(
            self.repeated(first),
            lambda position: f"{what} in row {self.row(first[position])} already",
            column=columns[0] if len(columns) == 1 else None,
            values=self.joined(*columns),
            warning=warning,
        )

    def joined(self, *columns: str) -> pl.Series:
        """Return the cells of these columns in one text, for people."""
        return self.frame.select(
            pl.concat_str(*columns, separator=" → ", ignore_nulls=True)
        ).to_series()


def _blank(cells: pl.Series) -> pl.Series:
    return cells.str.strip_chars() == ""


def _concepts(check: _Check) -> pl.DataFrame:
    check.filled("id", "name")
    check.unique("id", what="this id stands")
    check.unique("name", what="another concept with this name stands", warning=True)
    return _with_text(check.frame, "description", after="name")


def _resources(check: _Check) -> pl.DataFrame:
    check.filled("id", "title")
    check.unique("id", what="this id stands")
    return _with_text(check.frame, "text", after="title")


def _with_text(frame: pl.DataFrame, column: str, *, after: str) -> pl.DataFrame:
    """Return the frame with this column, empty where it was not given."""
    if column in frame.columns:
        return frame
    position = frame.columns.index(after) + 1
    return frame.insert_column(position, pl.Series(column, [""] * len(frame), dtype=pl.String))


def _concept_resources(check: _Check) -> pl.DataFrame:
    check.filled("concept", "resource")
    check.known("concept", "concepts")
    check.known("resource", "resources")
    check.unique("concept", "resource", what="this link stands")
    return check.frame


def _resource_links(check: _Check) -> pl.DataFrame:
    _ends(check, "resources")
    check.unique("source", "target", what="this link stands")
    return check.frame


def _interactions(check: _Check) -> pl.DataFrame:
    check.filled("learner", "concept", "time")
    check.known("concept", "concepts")
    return check.frame.with_columns(_times(check))


def _transitions(check: _Check) -> pl.DataFrame:
    _ends(check)
    check.unique("source", "target", what="this transition stands")
    weight = _numbers(check.frame["weight"])
    faulty = ~(weight.is_finite() & (weight > 0)).fill_null(False) & ~_blank(check.frame["weight"])
    check.filled("weight")
    check.report(faulty, "must be a finite number greater than 0", column="weight")
    return check.frame.with_columns(weight)


def _pairs(check: _Check) -> pl.DataFrame:
    _ends(check)
    label = _labels(check)
    frame = check.frame.with_columns(label)
    split = _splits(check) if "split" in frame.columns else None
    _report_repeated_pairs(check, label, split)
    _warn_of_mutual_positives(check, label, check.joined("source", "target"))
    if "split" not in frame.columns:
        return frame
    return frame.drop("split") if split is None else frame.with_columns(split)


def _report_repeated_pairs(check: _Check, label: pl.Series, split: pl.Series | None) -> None:
    """Report each row whose pair stands in an earlier row, with that row's label or another."""
    first = check.first_positions("source", "target")
    same = label.eq_missing(label.gather(first))
    repeats = check.repeated(first)

    def stands_already(position: int) -> str:
        message = f"this pair stands in row {check.row(first[position])} already"
        if split is None or split[position] == split[int(first[position])]:
            return message
        return f"{message}, in another part: {split[int(first[position])]}"

    def has_another_label(position: int) -> str:
        return f"this pair has another label in row {check.row(first[position])}"

    pair = check.joined("source", "target")
    kept = check.keep_repeated
    check.report(repeats & same, stands_already, values=pair, warning=kept)
    check.report(repeats & ~same, has_another_label, values=pair, warning=kept)


def _ends(check: _Check, table: str = "concepts") -> None:
    """Check the source and the target of pairs, transitions or links: two rows of a table."""
    check.filled("source", "target")
    check.known("source", table)
    check.known("target", table)
    source, target = check.frame["source"], check.frame["target"]
    itself = (source == target) & ~_blank(source)
    check.report(itself, f"source and target must be two {table}", column="target")


def _labels(check: _Check) -> pl.Series:
    cells = check.frame["label"]
    accepted = _LABELS if check.table.file.endswith(".csv") else _LABELS | _TRUTHS
    label = cells.str.strip_chars().replace_strict(accepted, default=None, return_dtype=pl.Int64)
    expected = "must be 1 (source is a prerequisite of target) or 0"
    check.report(label.is_null() & cells.is_not_null(), expected, column="label")
    return label


def _splits(check: _Check) -> pl.Series | None:
    """Return the part of each pair; None where the column is blank throughout."""
    cells = check.frame["split"]
    if _blank(cells).all() and not cells.has_nulls():
        return None
    words = cells.str.strip_chars().str.to_lowercase()
    split = words.replace_strict(_SPLITS, default=None, return_dtype=pl.String)
    expected = f"must be one of {', '.join(PARTS)}; give it for every pair or for none"
    check.report(split.is_null() & cells.is_not_null(), expected, column="split")
    return split


def _warn_of_mutual_positives(check: _Check, label: pl.Series, pair: pl.Series) -> None:
    positive = check.frame.select("source", "target").with_row_index("position")
    positive = positive.filter((label == 1).fill_null(False), pl.col("source") != pl.col("target"))
    both = positive.join(positive, left_on=["source", "target"], right_on=["target", "source"])
    earlier = {
        later: first
        for later, first in both.select("position", "position_right").iter_rows()
        if first < later
    }
    mutual = pl.Series([position in earlier for position in range(len(label))], dtype=pl.Boolean)
    check.report(
        mutual,
        lambda position: (
            f"row {check.row(earlier[position])} says the reverse: "
            "only one of two concepts can come first"
        ),
        values=pair,
        warning=True,
    )


def _numbers(cells: pl.Series) -> pl.Series:
    return cells.str.strip_chars().cast(pl.Float64, strict=False)


def _times(check: _Check) -> pl.Series:
    """Return seconds as floats, or moments in UTC: whichever the column holds."""
    cells = check.frame["time"]
    number = _numbers(cells)
    moments: list[datetime | None] = [None] * len(cells)
    others = (number.is_null() & ~_blank(cells)).fill_null(False).arg_true()
    for position, text in zip(others, cells.gather(others), strict=True):
        moments[position] = _moment(text.strip())
    moment = pl.Series("time", moments, dtype=pl.Datetime("us"))
    is_number, is_moment = number.is_finite().fill_null(False), moment.is_not_null()
    faulty = ~is_number & ~is_moment & ~_blank(cells)
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


_CHECKS: Mapping[str, Callable[[_Check], pl.DataFrame]] = {
    "concepts": _concepts,
    "resources": _resources,
    "concept_resources": _concept_resources,
    "resource_links": _resource_links,
    "interactions": _interactions,
    "transitions": _transitions,
    "pairs": _pairs,
}
