"""Run the tests that are likeliest to fail, within half a minute: `make quick`.

    python tools/quick_tests.py [--list]       only list what would run

1. Tests that failed last time.
2. Tests of what was changed since the branch left main, or in the working tree. They are found by
   path: those of `src/proprl/pairs/table.py` are `tests/pairs/test_table.py`, else `tests/pairs`,
   and the examples in its docstrings.
3. Where neither gives any: unit tests that fit no model.

What `make test` leaves out is left out here too. After 25 seconds no further test is begun.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
LAST_FAILED = ".pytest_cache/v/cache/lastfailed"
WITHOUT_MODELS = (
    "tests/graphs",
    "tests/evaluation",
    "tests/pairs",
    "tests/curriculum",
    "tests/cli",
    "tests/tools",
)
QUICK = "not slow and not browser and not publicdata and not reader"
SECONDS = 25.0


def choose(root: Path, changed: Iterable[str], failed: Iterable[str]) -> list[str]:
    """Give what to run: failed tests first, then those of changed files, else the unit tests."""
    again = [test for test in failed if still_there(root, test)]
    of_changed = [test for path in changed for test in covering(root, path)]
    return list(dict.fromkeys([*again, *of_changed])) or [*WITHOUT_MODELS]


def covering(root: Path, changed: str) -> list[str]:
    """Give the tests of a changed file, as paths; none where its path does not tell."""
    path = PurePosixPath(changed)
    if path.suffix != ".py":
        return []
    if path.parts[0] == "tests":
        return [changed] if path.name.startswith("test_") and (root / path).exists() else []
    mirrored = mirror(path)
    if mirrored is None:
        return []
    examples = [changed] if path.parts[0] == "src" and (root / path).exists() else []
    if (root / mirrored).exists():
        return [mirrored.as_posix(), *examples]
    folder = mirrored.parent
    # All of `tests` would be the whole suite.
    whole = folder != PurePosixPath("tests") and (root / folder).is_dir()
    return [folder.as_posix(), *examples] if whole else examples


def mirror(path: PurePosixPath) -> PurePosixPath | None:
    """Give where the tests of a file of the library or the tools would stand.

    >>> mirror(PurePosixPath("src/proprl/pairs/table.py")).as_posix()
    'tests/pairs/test_table.py'
    """
    for source, tests in (("src/proprl", "tests"), ("tools", "tests/tools")):
        if path.is_relative_to(source):
            inside = path.relative_to(source)
            return PurePosixPath(tests, inside.parent, f"test_{inside.name}")
    return None


def still_there(root: Path, test: str) -> bool:
    """Whether a test that failed was neither removed nor renamed since."""
    path, _, names = test.partition("::")
    if not (root / path).is_file():
        return False
    name = names.rpartition("::")[2]
    return not names or f"def {name}(" in (root / path).read_text(encoding="utf-8")


def failed_tests(root: Path) -> list[str]:
    """Give the tests that failed last time; all cases of a test, all examples of a file."""
    try:
        found = json.loads((root / LAST_FAILED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    by_name = (test.partition("::" if test.startswith("src/") else "[")[0] for test in found)
    return list(dict.fromkeys(by_name))


def changed_files(root: Path) -> list[str]:
    """Give what differs from where the branch left main, untracked files included."""
    left_main = _git(root, "merge-base", "HEAD", "main") or ["HEAD"]
    changed = _git(root, "diff", "--name-only", left_main[0])
    return sorted({*changed, *_git(root, "ls-files", "--others", "--exclude-standard")})


def _git(root: Path, *words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


class TimeLimit:
    """Begins no test after so many seconds; a plugin of pytest."""

    def __init__(self, seconds: float) -> None:
        self.ends = time.monotonic() + seconds
        self.left_out = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> bool | None:  # noqa: ARG002 (pytest's name)
        """Say that a test is done with, without running it, once the time is over."""
        if time.monotonic() < self.ends:
            return None
        self.left_out += 1
        return True


def main(words: Sequence[str]) -> int:
    os.chdir(ROOT)
    chosen = choose(ROOT, changed_files(ROOT), failed_tests(ROOT))
    print("Chosen:", *chosen, flush=True)
    if "--list" in words:
        return 0
    limit = TimeLimit(SECONDS)
    result = pytest.main(["-q", "-m", QUICK, *chosen], plugins=[limit])
    if limit.left_out:
        print(f"{limit.left_out} tests were left out after {SECONDS:.0f} seconds: run make test")
    return 0 if result == pytest.ExitCode.NO_TESTS_COLLECTED else int(result)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
