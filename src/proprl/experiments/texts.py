"""Tables as text files: Markdown for reading, CSV for computing on."""

from __future__ import annotations

import csv
import io
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


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Give rows as CSV: numbers with six decimals, nothing for None.

    >>> print(csv_text(["method", "auc", "paper"], [["nb", 0.5, None]]), end="")
    method,auc,paper
    nb,0.500000,
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return buffer.getvalue()


def _cell(value: object) -> object:
    return f"{value:.6f}" if isinstance(value, float) else value
