"""`proprl course audit`, as a user types it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from proprl.cli import main

Run = Callable[..., str]


@pytest.fixture
def audit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Run:
    """Run the command, check its exit code and give what it said, errors included."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words: object, expect: int = 0) -> str:
        monkeypatch.setattr(sys, "argv", ["proprl", "course", "audit", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        assert (end.value.code or 0) == expect, said.out + said.err
        assert "Traceback" not in said.err
        return said.out + said.err

    return run


@pytest.fixture
def leaky(tmp_path: Path) -> Path:
    """A course folder with a test row that stands in train, and [brackets] in a name."""
    folder = tmp_path / "leaky"
    folder.mkdir()
    (folder / "concepts.csv").write_text("id,name\na,Arrays [x]\nb,Binary search\nc,Counting\n")
    rows = ["a,b,1,train", "b,c,0,train", "a,b,1,test", "c,b,0,test"]
    (folder / "pairs.csv").write_text("\n".join(["source,target,label,split", *rows]) + "\n")
    return folder


def test_help_explains_itself(audit: Run) -> None:
    assert "Example: proprl course audit" in audit("--help")


def test_a_leak_is_shown_with_its_meaning_and_an_example(audit: Run, leaky: Path) -> None:
    text = audit(leaky)
    assert "error: test rows that stand in train" in text
    assert "1 of 2" in text
    assert "Arrays [x] → Binary search" in text
    assert "keep each pair in one part" in text
    assert "Not looked at: label shift" in text
    assert "1 error." in text


def test_scripts_get_json(audit: Run, leaky: Path) -> None:
    document = json.loads(audit(leaky, "--json"))
    found = document["findings"]["test_rows_in_train"]
    assert (found["severity"], found["count"], found["total"]) == ("error", 1, 2)
    assert found["examples"] == ["Arrays [x] → Binary search"]


def test_strict_fails_on_errors_only(audit: Run, leaky: Path) -> None:
    audit(leaky, "--strict", expect=1)
    assert json.loads(audit(leaky, "--strict", "--json", expect=1))["errors"] == 1
    assert "No errors." in audit("campus", "--strict")


def test_a_broken_folder_is_refused_with_its_problems(audit: Run, leaky: Path) -> None:
    with (leaky / "pairs.csv").open("a") as file:
        file.write("a,nothing,1,test\n")
    assert "is not an id in concepts.csv" in audit(leaky, expect=1)


def test_wrong_use(audit: Run, leaky: Path, tmp_path: Path) -> None:
    assert "there is no course 'nowhere'" in audit("nowhere", expect=1)
    assert "public sets only" in audit(leaky, "--alignment", "published", expect=2)
    assert "public sets only" in audit("campus", "--data", tmp_path, expect=2)
    assert "proprl course fetch mooc" in audit("mooc", "--data", tmp_path / "none", expect=1)


@pytest.mark.publicdata
@pytest.mark.parametrize(
    ("words", "leaks", "shift"),
    [
        (["mooc"], (22, 38, 22), 0),
        (["mooc", "--alignment", "published"], (23, 38, 22), 0),
        (["ucd"], (19, 46, 27), 0),
        (["lecturebank"], (16, 33, 21), 0),
        (["lecturebank", "--alignment", "published"], (16, 33, 21), 1),
    ],
)
def test_the_public_sets(
    audit: Run, words: list[str], leaks: tuple[int, int, int], shift: int
) -> None:
    root = Path(os.environ.get("PROPRL_DATA", Path(__file__).parents[3] / "shared" / "data"))
    if not root.is_dir() and not os.environ.get("PROPRL_CI"):
        pytest.skip("the public data is not here: set PROPRL_DATA")
    findings = json.loads(audit(*words, "--data", root, "--json"))["findings"]
    kinds = ("test_rows_in_train", "test_reversed_negatives", "test_reversed_positives")
    assert tuple(findings[kind]["count"] for kind in kinds) == leaks
    assert findings["label_shift"]["details"]["shift"] == shift
