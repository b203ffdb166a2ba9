"""How a long computation tells its caller where it stands."""

from __future__ import annotations


class Progress:
    """What a long computation calls; it says nothing. A progress bar overrides what it shows."""

    def begin(self, task: str, total: int, done: int = 0) -> None:
        """Announce `total` steps, of which `done` are behind us already."""

    def step(self, count: int = 1, **shown: float) -> None:
        """Report `count` steps done, with the numbers worth showing."""

    def note(self, text: str, seconds_left: float | None = None) -> None:
        """Tell what is under way, and how long all of it will take where steps do not show it."""

    def end(self) -> None:
        """Report the end, also when it came early."""


SILENT = Progress()
