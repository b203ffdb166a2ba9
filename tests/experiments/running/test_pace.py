"""How long runs are expected to take, and what starts first."""

from __future__ import annotations

import time
from dataclasses import asdict, replace

import pytest

from proprl.experiments.running.pace import Pace
from proprl.experiments.running.run import Run

NB, PROPRL = Run("nb", "mooc"), Run("proprl", "mooc", preset="paper")


def took(run: Run, seconds: float) -> dict[str, object]:
    return {"run": asdict(run), "train_seconds": seconds - 1, "score_seconds": 1.0}


def test_the_runs_most_alike_say_how_long_one_takes() -> None:
    pace = Pace([took(PROPRL, 100), took(PROPRL, 200), took(Run("nb", "ucd"), 4)])
    assert pace.expect(PROPRL) == 150
    elsewhere = Run("proprl", "ucd", preset="paper", seed=3)
    assert pace.expect(elsewhere) == 150  # no run of it on that set: those on others
    pace.learn(took(elsewhere, 60))
    assert pace.expect(elsewhere) == 60
    assert pace.expect(NB) == 4


def test_fewer_labels_take_less_time() -> None:
    few = replace(NB, label_share=0.25)
    pace = Pace([took(NB, 10)])
    assert pace.expect(few) == 10  # as long as nothing else is known
    pace.learn(took(few, 4))
    assert (pace.expect(few), pace.expect(NB)) == (4, 10)


def test_published_networks_start_first_then_networks_then_the_rest() -> None:
    runs = {"a": NB, "b": Run("gae", "mooc"), "c": PROPRL}
    assert list(Pace().longest_first(runs)) == ["c", "b", "a"]
    slow_nb = Pace([took(NB, 1000)])
    assert list(slow_nb.longest_first(runs)) == ["a", "c", "b"]


def test_time_left_is_shared_by_the_jobs_but_never_less_than_the_longest_run() -> None:
    pace = Pace([took(NB, 10), took(PROPRL, 100)])
    runs = {str(seed): Run("nb", "mooc", seed=seed) for seed in range(6)}
    assert pace.seconds_left(runs, {}, jobs=1) == 60
    assert pace.seconds_left(runs, {}, jobs=2) == 30
    assert pace.seconds_left({**runs, "long": PROPRL}, {}, jobs=2) == 100
    begun = {"long": time.monotonic() - 90}
    assert pace.seconds_left({"long": PROPRL}, begun, jobs=2) == pytest.approx(10, abs=1)
    assert pace.seconds_left({}, {}, jobs=2) == 0
