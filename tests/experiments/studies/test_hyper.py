"""One setting changed at a time."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest

from proprl.errors import ProprlError
from proprl.experiments.running.execute import execute
from proprl.experiments.running.plan import Wanted, plan
from proprl.experiments.running.run import Run
from proprl.experiments.settings.load import packaged
from proprl.experiments.studies.hyper import hyper, trials
from proprl.models.registry import method_settings

WANTED = Wanted(["mooc", "ucd"], repeats=5, encoder="wordllama")
GRID = packaged("methods.toml")["hyper"]


def made_up(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """An AUC that tells the run's alpha, and an F1 below it."""
    results = []
    for run in runs:
        alpha = run.changes["alpha"]
        results.append({"run": asdict(run), "metrics": {"f1": 0.8 - alpha, "auc": 0.9 - alpha}})
    return results


def test_every_value_of_the_grid_is_one_that_proprl_takes() -> None:
    assert list(GRID) == ["alpha", "k", "lam", "learning_rate"]
    for setting, values in GRID.items():
        assert list(values) == sorted(set(values))
        for value in values:
            assert getattr(method_settings("proprl", "paper", **{setting: value}), setting) == value


def test_a_trial_differs_from_the_other_experiments_in_one_setting() -> None:
    (run,) = plan(["proprl"], Wanted(["ucd"], repeats=1, encoder="wordllama"))
    found = trials([run])
    assert len(found) == sum(len(values) for values in GRID.values())
    for trial in found:
        changed = {} if trial.used else {trial.setting: trial.value}
        assert trial.run.changes == {**run.changes, **changed}
    used = {trial.setting: trial for trial in found if trial.used}
    assert {setting: trial.value for setting, trial in used.items()} == {
        "alpha": 0.2,
        "k": 5,
        "lam": 1e-3,
        "learning_rate": 1e-4,
    }
    # So that one run serves all four settings.
    assert all(trial.run == run for trial in used.values())


def test_a_value_in_use_that_is_not_in_the_grid_is_tried_too() -> None:
    run = Run("proprl", "mooc", preset="paper", changes={"alpha": 0.15})
    assert [t.value for t in trials([run]) if t.setting == "alpha"] == [
        0.05, 0.1, 0.15, 0.2, 0.3, 0.5,
    ]  # fmt: skip


def test_three_seeds_are_run_at_most() -> None:
    assert {result["run"]["seed"] for result in hyper(WANTED, made_up).results} == {0, 1, 2}


def test_the_files_hold_f1_and_auc_and_mark_the_value_in_use() -> None:
    texts = hyper(WANTED, made_up).texts
    rows = list(csv.DictReader(io.StringIO(texts["hyper.csv"])))
    assert len(rows) == 2 * sum(len(values) for values in GRID.values())
    row = next(r for r in rows if r["course"] == "ucd" and r["used"] == "1")
    assert row == {
        "setting": "alpha",
        "value": "0.2",
        "course": "ucd",
        "f1": "0.600000",
        "auc": "0.700000",
        "used": "1",
    }
    page = texts["hyper.md"]
    assert "| α | 0.05 | 0.1 | 0.2 | 0.3 | 0.5 |" in page
    assert "| mooc | **0.750 / 0.850** | 0.700 / 0.800 |" in page
    assert "3 seeds" in page
    assert "(hyper.png)" in page


def test_the_picture_has_a_panel_for_each_setting_and_rings_at_the_values_in_use() -> None:
    figure = hyper(WANTED, made_up).figures["hyper"]()
    assert len(figure.axes) == 4
    mooc, mooc_ring, ucd, ucd_ring = figure.axes[0].lines
    assert mooc.get_xydata()[:, 1] == pytest.approx([0.85, 0.8, 0.7, 0.6, 0.4])
    assert mooc_ring.get_xydata().tolist() == [[0, pytest.approx(0.85)]]  # alpha 0.05
    assert ucd_ring.get_xydata().tolist() == [[2, pytest.approx(0.7)]]  # alpha 0.2
    assert mooc.get_marker() != ucd.get_marker()  # told apart in black and white
    assert mooc.get_linestyle() != ucd.get_linestyle()
    labels = [text.get_text() for text in figure.axes[3].get_xticklabels()]
    assert labels[:3] == ["$10^{-5}$", "$5\\!\\cdot\\!10^{-5}$", "$10^{-4}$"]
    assert [t.get_text() for t in figure.legends[0].texts] == ["mooc", "ucd", "setting used"]


def test_a_method_without_these_settings_is_refused_before_any_run() -> None:
    with pytest.raises(ProprlError, match="alpha"):
        hyper(replace(WANTED, methods=["nb"]), pytest.fail)
    with pytest.raises(ProprlError, match="give one --method"):
        hyper(replace(WANTED, methods=["proprl", "dgcpl"]), pytest.fail)


def test_a_changed_setting_reaches_a_real_run() -> None:
    small = {"size": 16, "epochs": 1, "k": 1}
    run = Run("proprl", "campus", preset="paper", encoder="wordllama", changes=small)
    at = {trial.value: trial.run for trial in trials([run]) if trial.setting == "k"}
    assert execute(at[0])["scores"] != execute(at[3])["scores"]
