"""The page that leads to all results names what there is, and commands that there are."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

from proprl.experiments.catalogue import EXPERIMENTS

FOLDER = Path(__file__).parents[3] / "docs" / "results"
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")


def test_every_page_and_every_table_of_numbers_is_led_to() -> None:
    named = {*re.findall(r"\]\(([^)/]+)\)", PAGE), "ours-*-wordllama.*", "README.md"}
    there = [path.name for path in FOLDER.iterdir() if path.suffix in (".md", ".csv")]
    assert len(there) > 20
    assert [name for name in there if not any(fnmatch(name, one) for one in named)] == []


def test_every_command_is_one_that_there_is() -> None:
    commands = set(re.findall(r"`reproduce ([a-z0-9-]+)", PAGE))
    assert commands == set(EXPERIMENTS)
