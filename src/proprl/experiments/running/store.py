"""Many runs: the longest start first, results are kept as they end, and no run is done twice."""

from __future__ import annotations

import json
import math
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from proprl.errors import SplitError
from proprl.experiments.running.execute import course_of
from proprl.experiments.running.protocols import scored_part, split_of
from proprl.experiments.running.run import Result, Run
from proprl.experiments.running.workers import executed
from proprl.features.gather import feature_source
from proprl.features.reader import resolve_reader
from proprl.files import write_text
from proprl.models.needs import check_inputs, offered_inputs
from proprl.models.networks.scorer import NetworkScorer
from proprl.models.registry import method, method_settings
from proprl.progress import SILENT, Progress

# Rough guesses for runs of which nothing is known yet: seconds on one core and 400 concepts. They
# order the first runs. A guess is replaced as soon as a run of its kind has ended.
_NETWORK_AS_PUBLISHED = 120.0
_NETWORK = 15.0
_CLASSICAL = 2.0


@dataclass(frozen=True)
class RunStore:
    """A folder with one file per result."""

    folder: Path

    def get(self, key: str) -> Result | None:
        """Give a kept result; None where there is none, or where its file is damaged."""
        try:
            found: Result = json.loads((self.folder / f"{key}.json").read_text())
        except (OSError, ValueError):
            return None
        return found

    def put(self, key: str, result: Result) -> None:
        """Keep a result, whole or not at all."""
        write_text(self.folder / f"{key}.json", json.dumps(_without_nan(result), indent=1))


class Pace:
    """The seconds that runs take, learned from those that are done."""

    def __init__(self, results: Iterable[Result] = ()) -> None:
        self._seconds: defaultdict[tuple[str, ...], list[float]] = defaultdict(list)
        for result in results:
            self.learn(result)

    def learn(self, result: Result) -> None:
        """Learn from how long a run took."""
        seconds = result["train_seconds"] + result["score_seconds"]
        for kind in _kinds(Run(**result["run"])):
            self._seconds[kind].append(seconds)

    def expect(self, run: Run) -> float:
        """Give the mean time of the runs most like this one; a rough guess where there is none."""
        for kind in _kinds(run):
            if kind in self._seconds:
                return fmean(self._seconds[kind])
        if not issubclass(method(run.method), NetworkScorer):
            return _CLASSICAL
        return _NETWORK_AS_PUBLISHED if run.preset == "paper" else _NETWORK

    def longest_first(self, runs: Mapping[str, Run]) -> dict[str, Run]:
        """Order runs so that no core is left with a long one at the end."""
        return dict(sorted(runs.items(), key=lambda item: -self.expect(item[1])))

    def seconds_left(
        self, runs: Mapping[str, Run], started: Mapping[str, float], jobs: int
    ) -> float:
        """Give how long these runs will take; `started` holds when those under way began."""
        now = time.monotonic()
        rest = [max(0.0, self.expect(runs[k]) - (now - started.get(k, now))) for k in runs]
        return max(sum(rest) / jobs, *rest, 0.0)


def run_all(
    runs: Sequence[Run],
    store: RunStore,
    *,
    root: str | None = None,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> list[Result]:
    """Give the result of every run, in order; runs that were kept are not done again.

    Before the first run starts, all are checked: method, settings, course, protocol, data and
    encoder. A kill loses no more than the runs under way.
    """
    _check(runs, root)
    keys = [run.key(course_of(run.course, run.alignment, root).fingerprint) for run in runs]
    results = {key: store.get(key) for key in keys}
    pace = Pace(result for result in results.values() if result is not None)
    missing = {key: run for key, run in zip(keys, runs, strict=True) if results[key] is None}
    todo = pace.longest_first(missing)
    started: dict[str, float] = {}

    def tell() -> None:
        if under_way := [str(todo[key]) for key in started if key in todo]:
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
    """Raise an error if any run cannot be done; no text is encoded for that."""
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


def _kinds(run: Run) -> tuple[tuple[str, ...], ...]:
    """Give the kinds of run that this one belongs to, the narrowest first."""
    alike = (run.method, run.preset)
    return (*alike, run.course, f"{run.label_share:g}"), (*alike, run.course), alike


def _without_nan(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, dict):
        return {k: _without_nan(v) for k, v in value.items()}
    return value
