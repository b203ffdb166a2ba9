"""The progress bar: what a watcher sees, and what a log file gets."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from proprl.cli import console
from proprl.cli.progress_bar import ProgressBar


def shown(monkeypatch: pytest.MonkeyPatch, *, terminal: bool, width: int = 80) -> str:
    written = io.StringIO()
    err = Console(file=written, force_terminal=terminal, width=width, color_system=None)
    monkeypatch.setattr(console, "err", err)
    bar = ProgressBar()
    bar.begin("runs", 225, done=36)
    bar.step()
    bar.note("proprl on mooc, seed 3 · dgcpl on [ucd], seed 0", seconds_left=2462)
    bar.end()
    return written.getvalue().replace("\x1b[?25h", "").strip()  # the cursor comes back


def test_it_shows_what_is_done_how_long_it_takes_and_what_is_under_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    last = shown(monkeypatch, terminal=True, width=120).splitlines()[-1]
    assert "37/225" in last
    assert "0:41:02 left" in last
    assert "proprl on mooc, seed 3 · dgcpl on [ucd], seed 0" in last


def test_on_a_narrow_terminal_the_end_of_the_note_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    last = shown(monkeypatch, terminal=True).splitlines()[-1]
    assert "37/225 0:41:02 left proprl on mooc, seed 3" in last
    assert "…" in last


def test_a_log_file_gets_nothing_from_what_is_soon_done(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not shown(monkeypatch, terminal=False)


def test_a_log_file_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProgressBar, "LINE_EVERY", 0.0)
    assert shown(monkeypatch, terminal=False).splitlines()[-1] == (
        "runs 37 of 225, 0:41:02 left  proprl on mooc, seed 3 · dgcpl on [ucd], seed 0"
    )
