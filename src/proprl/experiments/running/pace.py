"""How long runs take: what starts first, and how much time is left."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean

from proprl.experiments.running.run import Result, Run
from proprl.models.networks.scorer import NetworkScorer
from proprl.models.registry import method

# Rough guesses for runs of which nothing is known yet: seconds on one core and 400 concepts. They
# order the first runs. A guess is replaced as soon as a run of its kind has ended.
_NETWORK_AS_PUBLISHED = 120.0
_NETWORK = 15.0
_CLASSICAL = 2.0


class Pace:
    """The seconds that runs take, learned from those that are done."""

    def __init__(self, results: Iterable[Result] = ()) -> None:
        self._seconds: defaultdict[tuple[str, ...], list[float]] = defaultdict(list)
        for result in results:
            self.learn(result)

    def learn(self, result: Result) -> None:
        """Take note of how long a run took."""
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


def _kinds(run: Run) -> tuple[tuple[str, ...], ...]:
    """Give the kinds of run that this one belongs to, the narrowest first."""
    alike = (run.method, run.preset)
    return (*alike, run.course, f"{run.label_share:g}"), (*alike, run.course), alike
