"""Which tests `make quick` runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quick_tests import LAST_FAILED, ROOT, WITHOUT_MODELS, TimeLimit, choose, covering, failed_tests


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with a few files."""
    for file, text in {
        "src/proprl/fitting.py": "",
        "src/proprl/pairs/table.py": "",
        "src/proprl/pairs/near.py": "",
        "src/proprl/models/sequitur/scorer.py": "",
        "tests/pairs/test_table.py": "def test_rows():\n    ...\n",
        "tests/models/sequitur/test_learner.py": "",
        "tests/terminal.py": "",
        "tools/answers.py": "",
        "tests/tools/test_answers.py": "",
    }.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "run"),
    [
        ("src/proprl/pairs/table.py", ["tests/pairs/test_table.py", "src/proprl/pairs/table.py"]),
        ("src/proprl/pairs/near.py", ["tests/pairs", "src/proprl/pairs/near.py"]),
        (
            "src/proprl/models/sequitur/scorer.py",
            ["tests/models/sequitur", "src/proprl/models/sequitur/scorer.py"],
        ),
        ("src/proprl/pairs/removed.py", ["tests/pairs"]),
        ("src/proprl/fitting.py", ["src/proprl/fitting.py"]),
        ("tools/answers.py", ["tests/tools/test_answers.py"]),
        ("tests/pairs/test_table.py", ["tests/pairs/test_table.py"]),
        ("tests/pairs/test_removed.py", []),
        ("tests/terminal.py", []),
        ("benchmarks/train.py", []),
        ("README.md", []),
        ("src/proprl/report/templates/style.css", []),
    ],
)
def test_covering_a_changed_file_are_found_by_its_path(
    changed: str, run: list[str], root: Path
) -> None:
    assert covering(root, changed) == run


def test_what_failed_comes_first_and_nothing_twice(root: Path) -> None:
    failed = ["tests/pairs/test_table.py::test_rows"]
    changed = ["tests/pairs/test_table.py", "src/proprl/pairs/table.py"]
    assert choose(root, changed, failed) == [
        "tests/pairs/test_table.py::test_rows",
        "tests/pairs/test_table.py",
        "src/proprl/pairs/table.py",
    ]


def test_what_failed_and_is_gone_is_not_asked_for(root: Path) -> None:
    gone = ["tests/pairs/test_table.py::test_renamed", "tests/pairs/test_removed.py::test_rows"]
    assert choose(root, ["src/proprl/fitting.py"], gone) == ["src/proprl/fitting.py"]


def test_without_changes_or_failures_unit_tests_run(root: Path) -> None:
    assert choose(root, ["README.md"], []) == [*WITHOUT_MODELS]
    assert all((ROOT / folder).is_dir() for folder in WITHOUT_MODELS)


def test_failed_tests_are_read_from_what_pytest_keeps(root: Path) -> None:
    assert failed_tests(root) == []
    kept = root / LAST_FAILED
    kept.parent.mkdir(parents=True)
    names = ["tests/a.py::test_x[1-a]", "tests/a.py::test_x[2-b]", "src/proprl/b.py::proprl.b.f"]
    kept.write_text(json.dumps(dict.fromkeys(names, True)))
    assert failed_tests(root) == ["tests/a.py::test_x", "src/proprl/b.py"]
    kept.write_text("cut sho")
    assert failed_tests(root) == []


def test_once_the_time_is_over_no_test_is_begun() -> None:
    late, early = TimeLimit(-1), TimeLimit(60)
    assert late.pytest_runtest_protocol(None) is True
    assert early.pytest_runtest_protocol(None) is None
    assert (late.left_out, early.left_out) == (1, 0)
