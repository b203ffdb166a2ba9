"""How the commands speak: lines and tables for people, JSON for scripts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence, Sized
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console
from rich.markup import escape as escape
from rich.table import Table
from rich.text import Text

from proprl.cli.tables import parts
from proprl.errors import Problem

if TYPE_CHECKING:
    from proprl.evaluation.metrics import Bin

FILLED, MARK, BAR = "█", "|", 30

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def print_json(value: Any) -> None:
    """Print one JSON document on standard output."""
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def print_table(
    title: str | None, columns: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """Print a table; numbers stand to the right.

    One too wide for the terminal is printed as several, each with the columns that name its rows.
    """
    # As Text, so that "[x]" in a name is not taken for a style.
    heading = None if title is None else Text(title)
    shown = [[_cell(value) for value in row] for row in rows]
    for part in parts(columns, shown, out.width):
        table = Table(title=heading, title_justify="left", title_style="bold", header_style="bold")
        for index, width in zip(part.columns, part.widths, strict=True):
            numeric = bool(shown) and all(_is_number(row[index]) for row in shown)
            side: Literal["right", "left"] = "right" if numeric else "left"
            table.add_column(columns[index], justify=side, overflow="fold", width=width)
        for row in shown:
            table.add_row(*(escape(row[index]) for index in part.columns))
        out.print(table)
        heading = None


def print_problems(problems: Sequence[Problem], title: str) -> None:
    """Print what is wrong with a course, a row for each problem."""
    rows = [(p.file, p.row, p.column, p.value, p.expected) for p in problems]
    print_table(title, ("file", "row", "column", "found", "expected"), rows)


def counted(things: Sized, word: str) -> str:
    """Give "1 problem" or "2 problems"."""
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'}"


def say(text: str, *, aside: bool = False) -> None:
    """Print a line for people on standard output; the terminal wraps it, not we.

    `aside` goes to standard error, where it does not mix with what a script reads. Names that come
    from users go through `escape` first: "[x]" would be taken for a style.
    """
    (err if aside else out).print(text, soft_wrap=True)


def print_reliability(bins: Sequence[Bin]) -> None:
    """Print a bar for each bin: filled as far as pairs came true, marked where they should end."""
    rows = [
        (f"{b.low:.1f} to {b.high:.1f}", b.pairs, b.said, b.came_true, _bar(b.came_true, b.said))
        for b in bins
    ]
    heads = ("probability", "pairs", "said", "came true", f"{FILLED} came true, {MARK} said")
    print_table("Can the probabilities be trusted?", heads, rows)


def _bar(filled: float, mark: float) -> str:
    """Draw a share, and a mark beside it or within it.

    >>> _bar(0.5, 1.0)
    '███████████████··············|'
    """
    bar = [FILLED if k < round(filled * BAR) else "·" for k in range(BAR)]
    bar[min(BAR - 1, int(mark * BAR))] = MARK
    return "".join(bar)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _is_number(cell: str) -> bool:
    return cell == "-" or cell.replace(".", "", 1).removeprefix("-").replace(",", "").isdigit()
