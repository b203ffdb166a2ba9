"""Runs in several processes: the same numbers, and a run that fails is named."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest

from proprl.errors import TrainingError
from proprl.experiments.running.execute import execute
from proprl.experiments.running.run import Run
from proprl.experiments.running.store import RunStore, run_all
from proprl.progress import Progress
from quick_runs import quick


@pytest.mark.slow
def test_two_processes_give_the_same_numbers_as_one(tmp_path: Path) -> None:
    runs = [quick(1), quick(2)]
    one = run_all(runs, RunStore(tmp_path / "one"))
    two = run_all(runs, RunStore(tmp_path / "two"), jobs=2)
    assert [r["metrics"] for r in one] == [r["metrics"] for r in two]


def fail_at_seed_7(run: Run, root: str | None) -> dict[str, Any]:
    if run.seed == 7:
        raise TrainingError("the loss is not a number")
    return execute(run, root)


def test_a_run_that_fails_is_named_and_what_is_done_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proprl.experiments.running.workers.execute", fail_at_seed_7)
    with pytest.raises(TrainingError) as failed:
        run_all([quick(1), quick(7, alpha=0.3), quick(2)], RunStore(tmp_path))
    assert str(failed.value) == (
        "proprl on campus, seed 7 failed (preset default, size=16, epochs=2, "
        "batch_size=256, alpha=0.3): the loss is not a number\n"
        "what is done is kept: the same command goes on from there"
    )
    assert [json.loads(path.read_text())["run"]["seed"] for path in tmp_path.iterdir()] == [1]


class Killer(Progress):
    """Kills the first worker as soon as the second run is under way."""

    def note(self, text: str, seconds_left: float | None = None) -> None:  # noqa: ARG002
        if " · " in text:
            min(multiprocessing.active_children(), key=lambda worker: worker.pid or 0).kill()


def test_a_worker_that_is_killed_is_a_clear_error_and_leaves_no_process(tmp_path: Path) -> None:
    with pytest.raises(TrainingError) as lost:
        run_all([quick(1), quick(2)], RunStore(tmp_path), jobs=2, progress=Killer())
    assert "ended from outside" in str(lost.value)
    assert "proprl on campus, seed 1; proprl on campus, seed 2" in str(lost.value)
    assert "what is done is kept" in str(lost.value)
    assert not multiprocessing.active_children()
