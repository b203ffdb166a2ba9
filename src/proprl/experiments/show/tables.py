"""Tables: results grouped into cells, and tables as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proprl.experiments.running.run import Result


@dataclass(frozen=True)
class Table:
    """Rows for people to read."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[object]]

    def section(self, about: str = "") -> str:
        """Give the table below its title, with a text about it between them."""
        return f"## {self.title}\n\n{about}{markdown_table(self.heads, self.rows).rstrip()}"


def grouped(results: Iterable[Result], *fields: str) -> dict[tuple[Any, ...], list[Result]]:
    """Give results by these fields of their runs, in the order in which they first come.

    >>> grouped([{"run": {"method": "nb", "seed": 0}}], "method", "seed")
    {('nb', 0): [{'run': {'method': 'nb', 'seed': 0}}]}
    """
    found: dict[tuple[Any, ...], list[Result]] = {}
    for result in results:
        found.setdefault(tuple(result["run"][field] for field in fields), []).append(result)
    return found


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Give a Markdown table.

    >>> print(markdown_table(["method", "AUC"], [["ProPRL", "0.960"]]))
    | method | AUC |
    |---|---|
    | ProPRL | 0.960 |
    <BLANKLINE>
    """
    first, *others = (f"| {' | '.join(map(str, line))} |" for line in (heads, *rows))
    return "\n".join([first, "|---" * len(heads) + "|", *others]) + "\n"


def latex_table(
    heads: Sequence[str], sections: Mapping[str, Iterable[Sequence[object]]], align: str
) -> str:
    r"""Give a tabular (booktabs): rows in sections by title, numbers aligned as `align` says.

    >>> print(latex_table(["method", "AUC"], {"": [["ProPRL", "0.960"]]}, "r"), end="")
    \begin{tabular}{lr}
    \toprule
    method & AUC \\
    \midrule
    ProPRL & 0.960 \\
    \bottomrule
    \end{tabular}
    """
    lines = [rf"\begin{{tabular}}{{l{align * (len(heads) - 1)}}}", r"\toprule", _latex_row(heads)]
    for title, rows in sections.items():
        lines.append(r"\midrule")
        if title:
            lines.append(_latex_row([rf"\multicolumn{{{len(heads)}}}{{l}}{{{title}}}"]))
        lines += map(_latex_row, rows)
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Give rows as CSV: numbers with six decimals, nothing for None or NaN.

    >>> print(csv_text(["method", "auc", "paper"], [["nb", 0.5, None]]), end="")
    method,auc,paper
    nb,0.500000,
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(map(_csv_cell, row) for row in rows)
    return buffer.getvalue()


def _latex_row(cells: Sequence[object]) -> str:
    return " & ".join(map(str, cells)) + r" \\"


def _csv_cell(value: object) -> object:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.6f}" if isinstance(value, float) else value
