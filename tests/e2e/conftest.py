"""What the end-to-end tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from terminal import Terminal


@pytest.fixture
def proprl_(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Terminal:
    """A terminal in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return Terminal(monkeypatch, capsys)
