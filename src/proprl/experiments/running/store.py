"""Many runs: kept as they end, shared between processes, and never done twice."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proprl.errors import SplitError
from proprl.experiments.running.execute import course_of
from proprl.experiments.running.pace import Pace
from proprl.experiments.running.protocols import scored_part, split_of
from proprl.experiments.running.run import Run
from proprl.experiments.running.workers import executed
from proprl.features.gather import feature_source
from proprl.features.reader import resolve_reader
from proprl.files import write_text
from proprl.models.needs import check_inputs, offered_inputs
from proprl.models.registry import method, method_settings
from proprl.progress import SILENT, Progress


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

    Everything that can be wrong with a run is found before the first one starts: its words
    (method, settings, course, protocol), the data it needs, the encoder. Killed half-way, it
    loses at most the runs under way.
    """
    _check(runs, root)
    keys = [run.key(course_of(run.course, run.alignment, root).fingerprint) for run in runs]
    results = {key: store.get(key) for key in keys}
    pace = Pace(result for result in results.values() if result is not None)
    missing = {key: run for key, run in zip(keys, runs, strict=True) if results[key] is None}
    todo = pace.longest_first(missing)
    started: dict[str, float] = {}

    def tell() -> None:
        under_way = [str(todo[key]) for key in started if key in todo]
        if under_way:
            progress.note(" · ".join(under_way), pace.seconds_left(todo, started, jobs))

    def on_start(key: str) -> None:
        started[key] = time.monotonic()
        tell()

    progress.begin("runs", len(runs), done=sum(key not in todo for key in keys))
    try:
        with closing(executed(dict(todo), root, jobs, on_start)) as ended:
            for key, result in ended:
                store.put(key, result)
                pace.learn(result)
                del todo[key]
                progress.step(keys.count(key))
                tell()
    finally:
        progress.end()
    return [store.get(key) or {} for key in keys]


def _check(runs: Sequence[Run], root: str | None) -> None:
    """Find what is wrong with any of the runs; no text is encoded for that."""
    for run in runs:
        resolve_reader(method_settings(run.method, run.preset, **run.changes).read_by)
    for run in {(r.method, r.course, r.alignment, r.encoder): r for r in runs}.values():
        course = course_of(run.course, run.alignment, root)
        needs = method(run.method).needs
        check_inputs(run.method, needs, offered_inputs(course, needs, run.encoder), run.course)
        feature_source(course, run.encoder)
    for run in {(r.course, r.alignment, r.protocol, r.fold, r.part): r for r in runs}.values():
        split = split_of(run, course_of(run.course, run.alignment, root))
        if not len(scored_part(run, split)):
            raise SplitError(f"{run.course} has no {run.part} pairs under {run.protocol}")


def _without_nan(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, dict):
        return {k: _without_nan(v) for k, v in value.items()}
    return value
