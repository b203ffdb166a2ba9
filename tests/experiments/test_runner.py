"""Runs are kept, shared between processes, and continued after a kill."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proprl.errors import ProprlError, UnknownMethodError
from proprl.experiments.runner import RunStore, run_all
from proprl.experiments.runs import Run, execute

QUICK = {"size": 16, "epochs": 2}


def quick(seed: int, **changes: object) -> Run:
    return Run("proprl", "campus", seed=seed, changes={**QUICK, **changes})


def test_the_same_run_gives_the_same_metrics() -> None:
    first, second = execute(quick(1)), execute(quick(1))
    assert first["metrics"] == second["metrics"]
    assert first["metrics"]["pairs"] == 88
    assert first["parameters"] > 1000


def test_a_kept_run_is_not_done_again(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    first = run_all([quick(1), quick(2)], store)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    again = run_all([quick(2), quick(1)], store)
    assert again == first[::-1]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == times


def test_what_determines_a_run_names_it() -> None:
    keys = {
        quick(1).key("data"),
        quick(2).key("data"),
        quick(1).key("other data"),
        quick(1, alpha=0.2).key("data"),
        Run("proprl", "campus", protocol="leak-free", changes=QUICK).key("data"),
    }
    assert len(keys) == 5
    assert quick(1).key("data") == quick(1).key("data")


def test_a_damaged_result_is_done_again(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    (before,) = run_all([quick(1)], store)
    (path,) = tmp_path.iterdir()
    path.write_text(path.read_text()[:40])
    (after,) = run_all([quick(1)], store)
    assert after["metrics"] == before["metrics"]
    assert json.loads(path.read_text())["metrics"] == before["metrics"]


def test_two_processes_give_the_same_numbers_as_one(tmp_path: Path) -> None:
    runs = [quick(1), quick(2)]
    one = run_all(runs, RunStore(tmp_path / "one"))
    two = run_all(runs, RunStore(tmp_path / "two"), jobs=2)
    assert [r["metrics"] for r in one] == [r["metrics"] for r in two]


def test_wrong_words_are_found_before_the_first_run(tmp_path: Path) -> None:
    with pytest.raises(UnknownMethodError):
        run_all([quick(1), Run("magic", "campus")], RunStore(tmp_path))
    with pytest.raises(ProprlError, match="no such setting"):
        run_all([quick(1), quick(1, magic=1)], RunStore(tmp_path))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("protocol", ["leak-free", "new-concepts"])
def test_protocols_run_on_any_labelled_course(protocol: str) -> None:
    found = execute(Run("proprl", "campus", protocol=protocol, fold=1, changes=QUICK))
    assert 0 <= found["metrics"]["auc"] <= 1
    with pytest.raises(ProprlError, match="known: published, leak-free, new-concepts"):
        execute(Run("proprl", "campus", protocol="magic"))
