"""What can be checked of any table: blank cells, unknown ids, repeated rows.

Every check looks at whole columns and reports each faulty row; none stops another. A null cell
was reported when it was read, and is left alone here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
import polars as pl

from proprl.arrays import IntArray
from proprl.data.tables.cells import Table, TableSpec
from proprl.data.tables.findings import Findings


@dataclass(frozen=True)
class Check:
    """One table under examination, with the other tables and the place to report to."""

    table: Table
    tables: Mapping[str, Table]
    findings: Findings
    keep_repeated: bool  # whether repeated pairs are warnings

    @property
    def frame(self) -> pl.DataFrame:
        """The cells of the table."""
        return self.table.frame

    def report(
        self,
        faulty: pl.Series,
        expected: str | Callable[[int], str],
        *,
        column: str | None = None,
        values: pl.Series | None = None,
        warning: bool = False,
    ) -> None:
        """Report each position where `faulty` is true; a null counts as false.

        What was `expected` is one sentence, or one for each faulty position.
        """
        shown = self.frame[column] if values is None and column is not None else values
        for position in faulty.fill_null(False).arg_true():
            self.findings.report(
                self.table.file,
                expected if isinstance(expected, str) else expected(position),
                row=self.row(position),
                column=None if column is None else self.table.headings.get(column, column),
                value=None if shown is None else shown[position],
                warning=warning,
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
        other = self.tables.get(table)
        if other is None or other.frame["id"].drop_nulls().is_empty():
            return
        cells, ids = self.frame[column], other.frame["id"].drop_nulls()
        unknown = ~cells.is_in(ids.unique().implode()) & ~blank(cells)
        self.report(unknown, f"is not an id in {other.file}", column=column)

    def ends(self, table: str = "concepts") -> None:
        """Check source and target: two different rows of the other table."""
        self.filled("source", "target")
        self.known("source", table)
        self.known("target", table)
        source, target = self.frame["source"], self.frame["target"]
        itself = (source == target) & ~blank(source)
        self.report(itself, f"source and target must be two {table}", column="target")

    def first_positions(self, *columns: str) -> IntArray:
        """Return, for each row, the position of the first row with the same cells."""
        numbered = self.frame.select(columns).with_row_index("position")
        complete = pl.all_horizontal(pl.col(column).is_not_null() for column in columns)
        first = pl.col("position").min().over(columns)
        chosen = pl.when(complete).then(first).otherwise("position").cast(pl.Int64)
        return numbered.select(chosen).to_series().to_numpy()

    def unique(self, *columns: str, what: str, warning: bool = False) -> None:
        """Report rows that repeat an earlier one in these columns."""
        first = self.first_positions(*columns)
        self.report(
            repeated(first),
            lambda position: f"{what} in row {self.row(first[position])} already",
            column=columns[0] if len(columns) == 1 else None,
            values=self.joined(*columns),
            warning=warning,
        )

    def misspelt_columns(self, spec: TableSpec) -> None:
        """Warn of a column that is not used and has nearly the name of an optional one."""
        absent = [column for column in spec.optional if column not in self.frame.columns]
        for column in self.frame.columns:
            used = column in spec.required or column in spec.optional
            nearest = get_close_matches(column.lower(), absent, n=1, cutoff=0.8)
            if nearest and not used:
                expected = f"this column is not used; did you mean {nearest[0]}?"
                self.findings.report(self.table.file, expected, column=column, warning=True)

    def joined(self, *columns: str) -> pl.Series:
        """Return the cells of these columns in one text, for people."""
        return self.frame.select(
            pl.concat_str(*columns, separator=" → ", ignore_nulls=True)
        ).to_series()


def repeated(first: IntArray) -> pl.Series:
    """Return where a row repeats an earlier one, by `Check.first_positions`."""
    return pl.Series(first != np.arange(len(first)), dtype=pl.Boolean)


def blank(cells: pl.Series) -> pl.Series:
    """Return where cells hold nothing but white space."""
    return cells.str.strip_chars() == ""


def numbers(cells: pl.Series) -> pl.Series:
    """Return cells as numbers; null where they hold none."""
    return cells.str.strip_chars().cast(pl.Float64, strict=False)
