"""The page about the faults of the public data: its checks run and give what it says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from proprl.experiments.running.execute import execute
from proprl.experiments.running.run import Run
from terminal import Terminal

PAGE = (Path(__file__).parents[2] / "docs" / "benchmark-faults.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.publicdata
def test_the_python_checks_find_the_faults(
    public_data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROPRL_DATA", str(public_data))
    for block, promised in zip(blocks("python"), blocks("text"), strict=True):
        exec(compile(block, "benchmark-faults.md", "exec"), {})
        assert capsys.readouterr().out == promised


@pytest.mark.publicdata
def test_the_commands_find_the_faults(
    public_data: Path, monkeypatch: pytest.MonkeyPatch, proprl_: Terminal
) -> None:
    monkeypatch.setenv("PROPRL_DATA", str(public_data))
    commands = [
        line.partition("#")[0].split()[2:]
        for block in blocks("console")
        for line in block.splitlines()
        if line.startswith("$ proprl course audit")
    ]
    assert len(commands) == 4
    said = [proprl_(*words) for words in commands]
    assert "test rows that stand in train" in said[0]
    assert json.loads(said[1])["findings"]["test_rows_in_train"]["count"] == 23
    for words, finding in ((commands[2], "label_shift"), (commands[3], "behaviour_shift")):
        found = json.loads(proprl_(*words, "--json"))["findings"][finding]
        assert found["severity"] == "error"
        assert found["details"]["shift"] == 1


@pytest.mark.publicdata
@pytest.mark.parametrize(
    ("course", "seen", "right"), [("mooc", 66, 66), ("ucd", 75, 75), ("lecturebank", 60, 58)]
)
def test_a_memoriser_reaches_what_the_page_says(
    course: str, seen: int, right: int, public_data: Path
) -> None:
    found = execute(Run("nb", course, alignment="published", encoder="wordllama"), str(public_data))
    answered = [
        answer == label
        for answer, label in zip(found["memorised"], found["labels"], strict=True)
        if answer is not None
    ]
    assert (len(answered), sum(answered)) == (seen, right)
