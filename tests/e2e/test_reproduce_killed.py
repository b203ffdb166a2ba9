"""`proprl reproduce` in real processes: killed, interrupted, and continued."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from planted import planted_course
from proprl.data import write_course

pytestmark = pytest.mark.slow

METHODS, SEEDS = ("nb", "rf", "proprl"), 3
RUNS = len(METHODS) * SEEDS
RESULT = "table1-published.md"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course so small that a run takes seconds."""
    planted = planted_course(concepts=30, pairs=120, transitions=100, features=8, seed=3)
    assert planted.pairs is not None
    parts = pl.Series("split", [*["train"] * 8, "validation", "test"] * 12)
    folder = tmp_path_factory.mktemp("courses") / "planted"
    write_course(replace(planted, pairs=planted.pairs.with_columns(parts)), folder)
    return folder


def start(course: Path, out: Path) -> subprocess.Popen[str]:
    """Start the command in a group of its own, as a terminal does."""
    words = ["table1", "--course", str(course), "--out", str(out), "--encoder", "wordllama"]
    words += [word for method in METHODS for word in ("--method", method)]
    return subprocess.Popen(
        [*(sys.executable, "-m", "proprl", "reproduce", *words), "--seeds", str(SEEDS), "--jobs=2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(course: Path, out: Path) -> None:
    process = start(course, out)
    _, error = process.communicate(timeout=300)
    assert process.returncode == 0, error


def kept(out: Path) -> dict[str, int]:
    """When each result was written."""
    return {path.name: path.stat().st_mtime_ns for path in (out / "runs").glob("*.json")}


def wait_for_results(process: subprocess.Popen[str], out: Path, count: int) -> None:
    deadline = time.monotonic() + 200
    while len(kept(out)) < count:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline, "the runs take too long"
        time.sleep(0.02)


def group_has_ended(group: int) -> bool:
    """Whether no process of the group is left; the kernel needs a moment to clear them away."""
    for _ in range(500):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def test_after_kill_9_nothing_that_was_done_is_done_again(course: Path, tmp_path: Path) -> None:
    killed, undisturbed = tmp_path / "killed", tmp_path / "undisturbed"
    process = start(course, killed)
    wait_for_results(process, killed, 2)
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert group_has_ended(process.pid)
    done = kept(killed)
    assert 2 <= len(done) < RUNS
    assert not (killed / RESULT).exists()
    finish(course, killed)
    after = kept(killed)
    assert len(after) == RUNS
    assert {name: after[name] for name in done} == done
    finish(course, undisturbed)
    assert (killed / RESULT).read_text() == (undisturbed / RESULT).read_text()


def test_ctrl_c_ends_every_process_and_says_how_to_go_on(course: Path, tmp_path: Path) -> None:
    process = start(course, tmp_path)
    wait_for_results(process, tmp_path, 1)
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to all processes of the group
    said, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in error
    assert "what is done is kept: the same command goes on from there" in error
    assert "Stopped." in error
    assert not said
    assert group_has_ended(process.pid)


def test_workers_end_with_a_main_process_that_is_killed_alone(course: Path, tmp_path: Path) -> None:
    process = start(course, tmp_path)
    wait_for_results(process, tmp_path, 1)
    process.kill()  # not the group: nobody tells the workers
    process.wait()
    assert group_has_ended(process.pid)
