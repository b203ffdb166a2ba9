"""Which runs an experiment consists of."""

from __future__ import annotations

import pytest

from proprl.errors import ProprlError
from proprl.experiments.plans import (
    ABLATIONS,
    EXPERIMENTS,
    experiment_settings,
    plan,
    table1_methods,
)
from proprl.experiments.published import SETS, published
from proprl.models.registry import METHODS, method_settings


def test_every_setting_is_one_the_method_has() -> None:
    for name in METHODS:
        for course in SETS:
            preset, changes = experiment_settings().of(name, course)
            method_settings(name, preset, **changes)
    assert set(experiment_settings().presets) <= set(METHODS)


def test_every_published_row_has_a_method() -> None:
    assert set(published().table1) <= set(table1_methods())
    assert set(published().table2) == set(ABLATIONS) <= set(METHODS)
    assert table1_methods()[-1] == "proprl"


def test_an_ablation_has_its_models_settings() -> None:
    for ablation in ABLATIONS:
        assert experiment_settings().of(ablation, "ucd") == experiment_settings().of(
            "proprl", "ucd"
        )


def test_published_varies_the_seed_and_leak_free_the_fold() -> None:
    published_runs = plan(["rf"], ["mooc"], repeats=3)
    assert [(run.seed, run.fold) for run in published_runs] == [(0, 0), (1, 0), (2, 0)]
    folds = plan(["rf"], ["mooc"], protocol="leak-free", repeats=3)
    assert [(run.seed, run.fold) for run in folds] == [(0, 0), (0, 1), (0, 2)]


def test_all_experiments_make_a_plan() -> None:
    for methods in EXPERIMENTS.values():
        assert len(plan(methods(), repeats=2)) == 2 * len(SETS) * len(methods())


def test_more_folds_than_there_are_and_unknown_protocols_are_refused() -> None:
    with pytest.raises(ProprlError, match="10 folds; asked for 11"):
        plan(["rf"], protocol="leak-free", repeats=11)
    with pytest.raises(ProprlError, match="known: published, leak-free"):
        plan(["rf"], protocol="magic")
