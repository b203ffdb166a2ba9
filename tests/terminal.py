"""A terminal for tests: commands run in this process, and what they said is remembered."""

from __future__ import annotations

import sys

import pytest

from proprl.cli import main


class Terminal:
    """Runs a command in this process and remembers what it said."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __call__(self, *words: object, expect: int = 0) -> str:
        self.monkeypatch.setattr(sys, "argv", ["proprl", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        said = self.capsys.readouterr()
        self.error = said.err
        assert (end.value.code or 0) == expect, said.out + said.err
        assert "Traceback" not in said.err
        return said.out
