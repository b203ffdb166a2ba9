"""Pictures are real files, the same each time, whole or not there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from proprl.errors import MissingExtraError
from proprl.experiments.show.figures import COLUMN, new_figure, save_figure
from terminal import Terminal

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def line() -> Figure:
    figure = new_figure(COLUMN, 2, columns=2)
    for axis in figure.axes:
        axis.plot([0, 1, 2], [0.2, 0.4, 0.3], label="ours")
        axis.fill_between([0, 1, 2], [0.1, 0.3, 0.2], [0.3, 0.5, 0.4])
        axis.set_title("α")
    return figure


def test_a_figure_becomes_a_png_and_an_svg(tmp_path: Path) -> None:
    save_figure(line, tmp_path / "case-study")
    png, svg = sorted(tmp_path.iterdir())
    assert (png.name, svg.name) == ("case-study.png", "case-study.svg")
    content = png.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = (int.from_bytes(content[at : at + 4]) for at in (16, 20))
    assert (width, height) == (1020, 600)  # 3.4 by 2 inches, 300 dots to the inch
    assert svg.read_text().startswith("<?xml")
    assert "</svg>" in svg.read_text()


def test_the_same_figure_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("first", "second"):
        save_figure(line, tmp_path / name)
    for ending in ("png", "svg"):
        first, second = (tmp_path / f"{name}.{ending}" for name in ("first", "second"))
        assert first.read_bytes() == second.read_bytes()


def test_nothing_is_left_when_drawing_fails(tmp_path: Path) -> None:
    def broken_while_drawn() -> Figure:
        raise ValueError("no numbers")

    def broken_while_saved() -> Figure:
        figure = line()
        figure.axes[0].set_title("$no end")
        figure.axes[0].set_xlabel(r"$\nonsense$")
        return figure

    for broken in (broken_while_drawn, broken_while_saved):
        with pytest.raises(ValueError):  # noqa: PT011 - the library's own words
            save_figure(broken, tmp_path / "figure")
    assert not list(tmp_path.iterdir())


def test_without_the_library_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"proprl\[plots\]"):
        save_figure(line, tmp_path / "figure")


def test_without_the_library_tables_and_texts_are_still_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    words = "reproduce case-study --course campus --method nb --encoder wordllama --quick"
    terminal = Terminal(monkeypatch, capsys)
    terminal(*words.split(), expect=1)
    assert "proprl[plots]" in terminal.error
    written = {path.name for path in Path("results").iterdir()}
    assert written == {"runs", "case-study.md", "case-study.csv", "case-study.tex"}
