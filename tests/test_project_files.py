"""What is written down twice about the project says the same twice."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import proprl

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def recipe(target: str) -> list[str]:
    """The commands of a target in the Makefile."""
    found = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    assert found is not None
    return [line.strip().replace("$(BIN)", ".venv/bin") for line in found[1].splitlines()]


def test_make_help_lists_every_target() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert phony is not None
    listed = re.findall(r"^([a-z-]+):.*## \w", MAKEFILE, re.MULTILINE)
    assert sorted(listed) == sorted(phony[1].split())


def test_before_a_commit_the_checks_of_make_lint_run() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    assert re.findall(r"entry: (.*)", hooks) == recipe("lint")


def test_what_is_pinned_is_what_is_needed_or_tested_with() -> None:
    wanted = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    names = {re.split(r"[\[<>=]", one)[0] for group in wanted for one in group}
    pinned = re.findall(r"^([\w-]+)==", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert set(pinned) <= names


def test_the_citation_names_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [proprl.__version__]


def test_elsewhere_the_same_steps_run_as_here() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert re.findall(r"run: (\S.*)$", workflow, re.MULTILINE)[-1] == ".ci/run"
