"""Tables as text files: Markdown for reading, CSV for computing on."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Give a Markdown table.

    >>> print(markdown_table(["method", "AUC"], [["ProPRL", "0.960"]]))
    | method | AUC |
    |---|---|
    | ProPRL | 0.960 |
    <BLANKLINE>
    """
    first, *others = (f"| {' | '.join(line)} |" for line in (heads, *rows))
    return "\n".join([first, "|---" * len(heads) + "|", *others]) + "\n"


def four_digits(row: Iterable[object]) -> list[str]:
    """Give a row as people read it: numbers with four decimals, nothing for None or NaN.

    >>> four_digits(["nb", 0.5, None])
    ['nb', '0.5000', '']
    """
    return [str(_cell(value, decimals=4)) for value in row]


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Give rows as CSV: numbers with six decimals, nothing for None or NaN.

    >>> print(csv_text(["method", "auc", "paper"], [["nb", 0.5, None]]), end="")
    method,auc,paper
    nb,0.500000,
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([_cell(value, decimals=6) for value in row] for row in rows)
    return buffer.getvalue()


def _cell(value: object, *, decimals: int) -> object:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.{decimals}f}" if isinstance(value, float) else value
