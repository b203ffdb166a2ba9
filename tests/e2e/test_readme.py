"""The README's promises: its Python example and its commands run, its links lead somewhere."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from planted import planted_course
from proprl.data import write_course
from terminal import Terminal

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")

# So that a method's training takes a second: few trees, few epochs, a small network.
FEW_TREES = ["--set", "trees=5", "--encoder", "wordllama"]
SMALL = ["--set", "epochs=1", "--set", "size=8", "--encoder", "wordllama"]
TWO_QUICK_METHODS = ["--course", "my-course", "--method", "nb", "--method", "svm"]
ONE_RUN = ["--seeds", "1", "--jobs", "1", "--encoder", "wordllama"]

RUN: dict[str, list[str]] = {
    "proprl course list": [],
    "proprl course check my-course": [],
    "proprl course audit my-course": [],
    "proprl train my-course --out my.proprl": FEW_TREES,
    "proprl graph my.proprl --out map.html": [],
    'proprl explain my.proprl "Limits" "Derivatives"': [],
    'proprl path my.proprl "Derivatives" --known "Limits"': [],
    'proprl ready my.proprl --known "Limits"': [],
    "proprl place my.proprl": ["--json", "--answers", "known.csv"],
    "proprl ask my-course": ["--json"],
    "proprl export my.proprl --format graphml --out map.graphml": [],
    'proprl predict my.proprl "Limits" "Derivatives"': [],
    "proprl predict my.proprl --all --top 200 --out edges.csv": [],
    'proprl predict my.proprl --new "Splines: smooth pieces" --against all': [],
    "proprl evaluate my.proprl my-course": [],
    "proprl train my-course --model proprl": SMALL,
    "proprl train my-course --model proprl --resume": SMALL,
    "proprl reproduce table1": [*TWO_QUICK_METHODS, *ONE_RUN],
    "proprl reproduce table1 --quick --jobs 2": [*TWO_QUICK_METHODS, *ONE_RUN],
    "proprl reproduce table1 --protocol leak-free --seeds 10 --jobs 2": [
        *TWO_QUICK_METHODS,
        *ONE_RUN,
    ],
}
"""Commands that run here, in this order, and what is added to make them short."""

TRAINS_FOR_MINUTES = "trains for minutes; tests/experiments holds what it does"
NOT_RUN: dict[str, str] = {
    "make demo": "installs; tests/e2e/test_command_line.py runs `proprl demo`",
    "make test": "this test is part of it",
    "make bench": "measures seconds, for minutes",
    "make install-text": "downloads",
    "source .venv/bin/activate": "a word to the shell",
    "proprl course fetch mooc": "downloads; tests/data/public/test_fetching.py fetches small files",
    "proprl train mooc --model proprl --preset paper": "needs public data, and minutes",
    "proprl train my-course --reader FOLDER": "tests/e2e/test_readings.py runs it",
    "proprl reproduce labels --course my-course --method sequitur": TRAINS_FOR_MINUTES,
    "proprl reproduce table2": TRAINS_FOR_MINUTES,
    "proprl reproduce table3": TRAINS_FOR_MINUTES,
    "proprl reproduce figure1": TRAINS_FOR_MINUTES,
    "proprl reproduce case-study": TRAINS_FOR_MINUTES,
    "proprl reproduce hyper": TRAINS_FOR_MINUTES,
    "proprl reproduce whole-map --jobs 2": TRAINS_FOR_MINUTES,
}
"""Commands that do not run here, and why."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def shown() -> set[str]:
    """Every command of the console blocks, and every one within a sentence or a table."""
    lines = [line for block in blocks("console") for line in block.splitlines()]
    assert lines
    assert all(line.startswith("$ ") for line in lines)
    typed = {line[2:].partition(" # ")[0].strip() for line in lines}
    prose = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    return typed | set(re.findall(r"`((?:proprl|make|source) [^`]+)`", prose))


@pytest.fixture
def my_course(tmp_path: Path) -> Path:
    """A small course of which two concepts are called as in the README."""
    course = planted_course(concepts=24, pairs=120, transitions=100, features=8, seed=3)
    called = pl.Series("name", ["Limits", "Derivatives", *course.names[2:]])
    assert course.pairs is not None
    parts = pl.Series("split", [*["train"] * 8, "validation", "test"] * 12)
    course = replace(
        course,
        name="my-course",
        concepts=course.concepts.with_columns(called),
        pairs=course.pairs.with_columns(parts),
        features=None,
    )
    write_course(course, tmp_path / "my-course")
    return tmp_path / "my-course"


def test_every_command_shown_is_run_here_or_says_why_not() -> None:
    assert shown() == {*RUN, *NOT_RUN}


def test_the_commands_run(proprl_: Terminal, my_course: Path) -> None:
    assert my_course.parent == Path.cwd()
    Path("known.csv").write_text("concept,answer\nLimits,y\n")
    said = {}
    for command, short in RUN.items():
        said[command] = proprl_(*shlex.split(command)[1:], *short)
    assert "is a sound course" in said["proprl course check my-course"]
    assert "Saved my.proprl" in said["proprl train my-course --out my.proprl"]
    assert "Limits → Derivatives" in said['proprl predict my.proprl "Limits" "Derivatives"']
    assert len(pl.read_csv("edges.csv")) == 200
    assert (
        "Splines" in said['proprl predict my.proprl --new "Splines: smooth pieces" --against all']
    )
    assert Path("my-course.proprl/model.json").exists()
    assert Path("results/table1-published.md").exists()
    assert Path("results/table1-leak-free.md").exists()


@pytest.mark.parametrize("command", [one for one in NOT_RUN if one.startswith("proprl ")])
def test_the_words_of_the_other_commands_exist(proprl_: Terminal, command: str) -> None:
    words = shlex.split(command)[1:]
    name = words[:2] if words[0] == "course" else words[:1]
    help_text = proprl_(*name, "--help")
    assert [word for word in words if word.startswith("--") and word not in help_text] == []
    if name == ["reproduce"]:
        proprl_(*words, "--data", "nowhere", "--method", "no-such-method", expect=1)
        assert "no-such-method" in proprl_.error


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


PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
PAGES += sorted(str(page.relative_to(ROOT)) for page in ROOT.glob("docs/**/*.md"))


@pytest.mark.parametrize("page", PAGES)
def test_links_between_pages_lead_somewhere(page: str) -> None:
    path = ROOT / page
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_links_within_the_readme_lead_to_a_heading() -> None:
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", README, flags=re.DOTALL), re.M)
    anchors = {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}
    links = set(re.findall(r"\]\(#([^)]+)\)", README))
    assert links
    assert links <= anchors
