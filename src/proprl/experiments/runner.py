"""Many runs: kept as they end, shared between processes, and never done twice."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from proprl.experiments.runs import Run, course_of, execute
from proprl.files import write_text
from proprl.models.registry import method_settings
from proprl.training.progress import SILENT, Progress


@dataclass(frozen=True)
class RunStore:
    """A folder with one file per result."""

    folder: Path

    def get(self, key: str) -> dict[str, Any] | None:
        """Give a kept result; None where there is none, or a damaged one."""
        try:
            found: dict[str, Any] = json.loads((self.folder / f"{key}.json").read_text())
        except (OSError, ValueError):
            return None
        return found

    def put(self, key: str, result: dict[str, Any]) -> None:
        """Keep a result, whole or not at all."""
        write_text(self.folder / f"{key}.json", json.dumps(_without_nan(result), indent=1))


def run_all(
    runs: Sequence[Run],
    store: RunStore,
    *,
    root: str | None = None,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> list[dict[str, Any]]:
    """Give the result of every run, in order; runs that were kept are not done again.

    Everything that can be wrong with a run's words (method, settings, course, protocol) is
    found before the first one starts. Killed half-way, it loses at most the runs under way.
    """
    keys = [_checked_key(run, root) for run in runs]
    todo = {key: run for key, run in zip(keys, runs, strict=True) if store.get(key) is None}
    done = sum(key not in todo for key in keys)
    progress.begin("runs", len(runs), done=done)
    try:
        for key, result in _executed(todo, root, jobs):
            store.put(key, result)
            progress.step(keys.count(key))
    finally:
        progress.end()
    return [store.get(key) or {} for key in keys]


def _checked_key(run: Run, root: str | None) -> str:
    method_settings(run.method, run.preset, **run.changes)
    return run.key(course_of(run.course, run.alignment, root).fingerprint)


def _executed(
    todo: dict[str, Run], root: str | None, jobs: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    if jobs <= 1:
        for key, run in todo.items():
            yield key, execute(run, root)
        return
    # Spawned, not forked: torch's threads do not survive a fork.
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        futures = {pool.submit(execute, run, root): key for key, run in todo.items()}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _without_nan(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, dict):
        return {k: _without_nan(v) for k, v in value.items()}
    return value


def metric_values(results: Iterable[dict[str, Any]], metric: str) -> list[float]:
    """Give one metric of many results; a result without it (one class only) is left out."""
    values = (result["metrics"][metric] for result in results)
    return [float(value) for value in values if value is not None]
