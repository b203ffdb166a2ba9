"""The picture of ProPRL's framework is the one that its script draws."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import draw_framework


def test_the_picture_is_what_the_script_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = draw_framework.OUT.read_text(encoding="utf-8")
    monkeypatch.setattr(draw_framework, "OUT", tmp_path / "framework.svg")
    draw_framework.main()
    drawn = draw_framework.OUT.read_text(encoding="utf-8")
    assert drawn == kept
    assert ElementTree.fromstring(drawn).tag.endswith("svg")


def test_letters_after_a_mark_stand_lower_or_higher() -> None:
    line = draw_framework.text(0, 0, "W_{out} v^u")
    assert [part.text for part in ElementTree.fromstring(line)] == ["W", "out", " v", "u"]
