"""The README's promises: its Python example runs, its commands and files exist."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from proprl.cli import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.mark.slow
def test_the_python_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = blocks("python")
    exec(compile(example, "README.md", "exec"), {})
    said = capsys.readouterr().out
    assert "Limits" in said
    assert "Gradient descent" in said
    assert (tmp_path / "campus.proprl" / "model.json").exists()


def test_the_commands_shown_exist(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = {
        tuple(re.match(r"\$ proprl (course \w+|\w+)", line)[1].split())  # type: ignore[index]
        for block in blocks("console")
        for line in block.splitlines()
        if line.startswith("$ proprl")
    }
    assert len(shown) >= 4
    for command in shown:
        monkeypatch.setattr(sys, "argv", ["proprl", *command, "--help"])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code in (0, None)
        assert "Usage:" in capsys.readouterr().out


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", *Path(ROOT).glob("docs/*.md")])
def test_links_between_pages_lead_somewhere(page: str | Path) -> None:
    path = ROOT / page
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
        assert (path.parent / target).exists(), f"{path.name} links to {target}"
