"""What `--help` promises."""

from __future__ import annotations

import re

import pytest

from proprl.models.registry import METHODS
from terminal import Terminal


def test_the_methods_that_help_names_exist(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = Terminal(monkeypatch, capsys)("train", "--help")
    named = re.search(r"The method: ([\w, -]+), …", said)
    assert named is not None
    assert set(named[1].split(", ")) <= set(METHODS)
