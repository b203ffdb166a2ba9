"""The progress bar of the commands, on standard error."""

from __future__ import annotations

import math
from datetime import timedelta

from rich.progress import BarColumn, MofNCompleteColumn, Task, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Column
from rich.text import Text

from proprl.cli import console
from proprl.cli.console import escape
from proprl.progress import Progress


def clock(seconds: float) -> str:
    """Give seconds as hours, minutes and seconds.

    >>> clock(3723.4)
    '1:02:03'
    """
    return str(timedelta(seconds=max(0, round(seconds))))


class _TimeLeft(TimeRemainingColumn):
    """Counts down to the end that was told; without one, what the pace of the steps gives."""

    def render(self, task: Task) -> Text:
        ends = task.fields["ends"]
        if ends is None or task.finished:
            return super().render(task)
        return Text(f"{clock(ends - task.get_time())} left", style="progress.remaining")


class ProgressBar(Progress):
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
            console=console.err,
            disable=not console.err.is_terminal,
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
        console.err.print(f"{done}{left}  {task.fields['shown']}".rstrip(), soft_wrap=True)
