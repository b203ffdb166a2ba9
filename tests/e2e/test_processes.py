"""Real processes: killed, interrupted, out of disk."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proprl.data import Course, write_course

pytestmark = pytest.mark.slow

# Long enough to be hit half-way, short enough for a test.
TRAIN = ["train", "planted", "--model", "proprl", "--seed", "7",
         "--set", "size=64", "--set", "epochs=20", "--set", "patience=20"]  # fmt: skip


@pytest.fixture
def workplace(planted: Course, tmp_path: Path) -> Path:
    write_course(planted, tmp_path / "planted")
    return tmp_path


def start(workplace: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "proprl", *words],
        cwd=workplace,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(workplace: Path, *words: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "proprl", *words],
        cwd=workplace,
        capture_output=True,
        text=True,
        timeout=300,
        **options,  # type: ignore[call-overload]
    )


def wait_for(path: Path, changes: int) -> None:
    """Wait until a file has been written so many times."""
    seen: set[int] = set()
    deadline = time.monotonic() + 120
    while len(seen) < changes:
        assert time.monotonic() < deadline, "the training process wrote no checkpoint"
        if path.exists():
            seen.add(path.stat().st_mtime_ns)
        time.sleep(0.005)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def undisturbed(planted: Course, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a model whose training nobody disturbed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    write_course(planted, folder / "planted")
    done = run(folder, *TRAIN, "--out", "whole")
    assert done.returncode == 0, done.stderr
    return contents(folder / "whole")


def test_after_kill_9_resume_ends_with_the_same_bits(
    workplace: Path, undisturbed: dict[str, bytes]
) -> None:
    process = start(workplace, *TRAIN, "--out", "killed")
    wait_for(workplace / "killed" / "checkpoint.safetensors", changes=4)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert not (workplace / "killed" / "model.json").exists()
    done = run(workplace, *TRAIN, "--out", "killed", "--resume")
    assert done.returncode == 0, done.stderr
    assert contents(workplace / "killed") == undisturbed


def test_ctrl_c_says_how_to_resume_and_resuming_works(
    workplace: Path, undisturbed: dict[str, bytes]
) -> None:
    process = start(workplace, *TRAIN, "--out", "stopped")
    wait_for(workplace / "stopped" / "checkpoint.safetensors", changes=3)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "--resume" in said
    assert "Traceback" not in said
    done = run(workplace, *TRAIN, "--out", "stopped", "--resume")
    assert done.returncode == 0, done.stderr
    assert contents(workplace / "stopped") == undisturbed


def test_resume_with_another_seed_is_refused(workplace: Path) -> None:
    process = start(workplace, *TRAIN, "--out", "killed")
    wait_for(workplace / "killed" / "checkpoint.safetensors", changes=1)
    process.kill()
    process.wait()
    other = [word if word != "7" else "8" for word in TRAIN]
    done = run(workplace, *other, "--out", "killed", "--resume")
    assert done.returncode == 1
    assert "seed 7; now seed 8" in done.stderr


def test_a_full_disk_leaves_the_old_model_whole(workplace: Path) -> None:
    quick = ["train", "planted", "--out", "model"]
    assert run(workplace, *quick).returncode == 0
    before = contents(workplace / "model")
    # A limit on the size of files stands for a full disk: writing fails half-way for real.
    done = run(
        workplace,
        *quick,
        "--seed",
        "8",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
        env={**os.environ, "PROPRL_CACHE": str(workplace / "cache")},
    )
    assert done.returncode == 1, done.stderr
    assert "cannot write" in done.stderr
    assert "Traceback" not in done.stderr
    assert contents(workplace / "model") == before


def test_a_full_disk_behind_standard_output_is_one_clear_error(workplace: Path) -> None:
    command = f"{sys.executable} -m proprl course info campus > /dev/full"
    done = subprocess.run(
        ["bash", "-c", command], cwd=workplace, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_before_the_first_epoch_is_clean(workplace: Path) -> None:
    process = start(workplace, *TRAIN, "--out", "stopped")
    maps = Path(f"/proc/{process.pid}/maps")
    while "polars" not in maps.read_text():  # from here on our code is at work
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Stopped." in said
    assert "Traceback" not in said


def test_output_cut_off_by_the_reader_is_no_crash(workplace: Path) -> None:
    command = f"{sys.executable} -m proprl course info campus | head -1"
    done = subprocess.run(
        ["bash", "-c", command], cwd=workplace, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
