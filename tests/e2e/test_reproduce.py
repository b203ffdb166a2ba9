"""`proprl reproduce` on the bundled course: tables, kept runs, clear errors."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from proprl.cli import main

QUICK = ["--course", "campus", "--method", "nb", "--method", "refd", "--encoder", "wordllama"]


def proprl(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["proprl", *words])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr()
    return int(end.value.code or 0), said.out, said.err


def test_tables_are_written_and_runs_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["reproduce", "table1", *QUICK, "--seeds", "2", "--protocol", "leak-free"]
    code, out, err = proprl(monkeypatch, capsys, *words)
    assert code == 0, err
    assert "Table 1, leak-free: campus" in out
    for ending in ("md", "tex"):
        assert "RefD" in Path(f"results/table1-leak-free.{ending}").read_text()
    kept = sorted(Path("results/runs").iterdir())
    assert len(kept) == 4
    before = [path.stat().st_mtime_ns for path in kept]
    code, out, _ = proprl(monkeypatch, capsys, *words, "--json")
    assert code == 0
    assert len(json.loads(out)) == 4
    assert [path.stat().st_mtime_ns for path in kept] == before


@pytest.mark.slow
def test_the_race_runs_on_any_course_and_names_its_files_after_the_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["--course", "campus", "--method", "sequitur", "--encoder", "wordllama", "--quick"]
    code, out, err = proprl(monkeypatch, capsys, "reproduce", "ours", *words)
    assert code == 0, err
    assert "Background of Sequitur, leak-free" in out
    page = Path("results/ours-leak-free-wordllama.md").read_text()
    assert "| Sequitur, with background | " in page
    assert "texts encoded by `wordllama`" in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["reproduce", "table9"], "known: table1, table2"),
        (["reproduce", "table1", *QUICK, "--method", "magic"], "no method 'magic'"),
        (["reproduce", "table1", *QUICK, "--protocol", "magic"], "known: published"),
        (["reproduce", "table1", "--course", "mooc", "--data", "nowhere"], "nowhere"),
    ],
)
def test_wrong_words_stop_before_any_training(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = proprl(monkeypatch, capsys, *words)
    assert code == 1
    assert message in err
    assert not list(tmp_path.iterdir())
