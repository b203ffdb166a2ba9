"""Which runs an experiment consists of."""

from __future__ import annotations

import pytest

from proprl.errors import ProprlError
from proprl.experiments.running.plan import Wanted, plan
from proprl.experiments.settings.methods import settings_of


def wanted(protocol: str = "published", repeats: int = 3) -> Wanted:
    return Wanted(["mooc"], protocol=protocol, repeats=repeats, encoder="wordllama")


def test_published_varies_the_seed_and_leak_free_the_fold() -> None:
    published_runs = plan(["rf"], wanted())
    assert [(run.seed, run.fold) for run in published_runs] == [(0, 0), (1, 0), (2, 0)]
    folds = plan(["rf"], wanted("leak-free"))
    assert [(run.seed, run.fold) for run in folds] == [(0, 0), (0, 1), (0, 2)]


def test_a_run_has_the_settings_of_its_method_tuned_or_as_published() -> None:
    for tuned, preset in ((False, "paper"), (True, "default")):
        (run,) = plan(["dgcpl"], wanted(repeats=1), tuned=tuned)
        assert (run.preset, run.changes) == settings_of("dgcpl", "mooc", "published", tuned=tuned)
        assert run.preset == preset


def test_more_folds_than_there_are_and_unknown_protocols_are_refused() -> None:
    with pytest.raises(ProprlError, match="10 folds; asked for 11"):
        plan(["rf"], wanted("leak-free", 11))
    with pytest.raises(ProprlError, match="known: published, leak-free"):
        plan(["rf"], wanted("magic"))
