"""One table under examination: what its checks report, and where.

A null cell was reported when it was read, and is left alone here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import polars as pl

from proprl.arrays import IntArray
from proprl.data.checking.findings import Findings
from proprl.data.checking.tables import Table

Message = str | Callable[[int], str]
"""What was expected: one sentence, or one per faulty position."""


class Check:
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
            self.report(blank(self.frame[column]), "must not be empty", column=column)

    def known(self, column: str, table: str) -> None:
        """Report ids that the other table does not have; silent where it has none at all."""
        if table not in self.tables:
            return
        other = self.tables[table]
        ids = other.frame["id"].drop_nulls()
        if len(ids):
            cells = self.frame[column]
            unknown = ~cells.is_in(ids.unique().implode()) & ~blank(cells)
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


def blank(cells: pl.Series) -> pl.Series:
    """Return where cells hold nothing but white space."""
    return cells.str.strip_chars() == ""


def numbers(cells: pl.Series) -> pl.Series:
    """Return cells as numbers; null where they hold none."""
    return cells.str.strip_chars().cast(pl.Float64, strict=False)


def check_ends(check: Check, table: str = "concepts") -> None:
    """Check the source and the target of pairs, transitions or links: two rows of a table."""
    check.filled("source", "target")
    check.known("source", table)
    check.known("target", table)
    source, target = check.frame["source"], check.frame["target"]
    itself = (source == target) & ~blank(source)
    check.report(itself, f"source and target must be two {table}", column="target")
