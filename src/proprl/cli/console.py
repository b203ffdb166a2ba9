"""How the commands speak: tables for people, JSON for scripts, progress on standard error."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console
from rich.markup import escape as escape
from rich.progress import BarColumn, MofNCompleteColumn, Task, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Column, Table
from rich.text import Text

from proprl.cli.tables import parts
from proprl.errors import CourseError, Problem, ProprlError

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


def report_failure(error: ProprlError, *, as_json: bool) -> None:
    """Print an error on standard error: one shape for scripts, a message for people."""
    if as_json:
        document: dict[str, Any] = {"type": type(error).__name__, "message": str(error)}
        if isinstance(error, CourseError):
            document["problems"] = [problem_json(problem) for problem in error.problems]
        err.print_json(json.dumps({"error": document}))
        return
    err.print(f"[bold red]Error:[/] {escape(str(error))}", soft_wrap=True)


def report_warning(message: Warning | str, *_: object) -> None:
    """Print a Python warning as a line for people, without the place in the code."""
    err.print(f"[yellow]Warning:[/] {escape(str(message))}", soft_wrap=True)


def problem_json(problem: Problem) -> dict[str, object]:
    """Give a problem as a JSON object."""
    return dict(vars(problem))


def clock(seconds: float) -> str:
    """Give seconds as hours, minutes and seconds.

    >>> clock(3723.4)
    '1:02:03'
    """
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"


class _TimeLeft(TimeRemainingColumn):
    """Counts down to the end that was told; without one, what the pace of the steps gives."""

    def render(self, task: Task) -> Text:
        ends = task.fields["ends"]
        if ends is None or task.finished:
            return super().render(task)
        return Text(f"{clock(ends - task.get_time())} left", style="progress.remaining")


class ProgressBar:
    """A progress bar on standard error, with the numbers of the last step; see `Progress`.

    Where there is no terminal (a log file), it is a line now and then instead.
    """

    LINE_EVERY = 60.0  # seconds

    def __init__(self) -> None:
        self.bar: Bar | None = None

    def begin(self, task: str, total: int, done: int = 0) -> None:
        """Show the bar."""
        self.bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(24),
            MofNCompleteColumn(),
            _TimeLeft(),
            # Of what does not fit on the line, the end is left out.
            TextColumn("{task.fields[shown]}", table_column=Column(no_wrap=True, ratio=1)),
            console=err,
            disable=not err.is_terminal,
            expand=True,
        )
        self.task = self.bar.add_task(task, total=total, completed=done, shown="", ends=None)
        self.bar.start()
        self._line_at = self.bar.get_time() + self.LINE_EVERY

    def step(self, count: int = 1, **shown: float) -> None:
        """Move the bar on."""
        if self.bar is not None:
            text = "  ".join(
                f"{name.replace('_', ' ')} {value:.3f}"
                for name, value in shown.items()
                if not math.isnan(value)
            )
            self.bar.update(self.task, advance=count, shown=text)
            self._line()

    def note(self, text: str, seconds_left: float | None = None) -> None:
        """Show what is under way behind the bar, and count the seconds down."""
        if self.bar is not None:
            ends = None if seconds_left is None else self.bar.get_time() + seconds_left
            self.bar.update(self.task, shown=escape(text), ends=ends)
            self._line()

    def end(self) -> None:
        """Leave the bar as it stands."""
        if self.bar is not None:
            self.bar.stop()
            self.bar = None

    def _line(self) -> None:
        """Print how far it is, if nobody watches the bar and the last line is long ago."""
        if self.bar is None or not self.bar.disable or self.bar.get_time() < self._line_at:
            return
        self._line_at = self.bar.get_time() + self.LINE_EVERY
        task = self.bar.tasks[0]
        ends = task.fields["ends"]
        left = "" if ends is None else f", {clock(ends - task.get_time())} left"
        done = f"{task.description} {task.completed:,.0f} of {task.total or 0:,.0f}"
        err.print(f"{done}{left}  {task.fields['shown']}".rstrip(), soft_wrap=True)


def metrics_rows(metrics: Mapping[str, object]) -> list[tuple[str, object, str]]:
    """Give metrics with their meaning in plain words."""
    from proprl.evaluation.metrics import MEANING

    return [(name, value, MEANING.get(name, "")) for name, value in metrics.items()]


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
