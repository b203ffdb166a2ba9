"""Settings are chosen on validation only, with the same budget for every method."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from proprl.errors import MissingExtraError, ProprlError, UnknownMethodError
from proprl.experiments.catalogue import PARTS_OF_ALL, find_experiments
from proprl.experiments.running.plan import TABLE_1, Wanted, plan
from proprl.experiments.running.run import Run
from proprl.experiments.running.store import RunStore, run_all
from proprl.experiments.settings import methods
from proprl.experiments.settings.published import SETS
from proprl.experiments.settings.tuned import TunedSetting, read_tuned
from proprl.experiments.show.pages import Do
from proprl.experiments.studies.tune import QUICK_TRIALS, TRIALS, tune
from proprl.models.registry import method_settings

Judge = Callable[[Run], float | None]


def wanted(*methods: str, courses: Sequence[str] = ("mooc",), repeats: int = 5) -> Wanted:
    return Wanted(courses, methods or None, repeats=repeats, encoder="wordllama")


def fake(judge: Judge, asked: list[Run] | None = None) -> Do:
    """Runs that cost nothing: their validation AUC is made up from what they are."""

    def do(runs: Sequence[Run]) -> list[dict[str, Any]]:
        if asked is not None:
            asked.extend(runs)
        return [{"run": run, "metrics": {"auc": judge(run)}} for run in runs]

    return do


def by_rate(run: Run) -> float:
    """The lower the rate the better, and a setting that changes nothing is the worst."""
    return 1 - float(run.changes.get("learning_rate", 1.0))


# The search


def test_the_first_trial_is_the_published_setting() -> None:
    asked: list[Run] = []
    tune(wanted("dgcpl", "rf", repeats=1), fake(lambda _: 0.5, asked))
    assert asked[:2] == [
        Run(
            "dgcpl",
            "mooc",
            changes={"kappa": 1e-5, "weight_decay": 1e-3},
            encoder="wordllama",
            part="validation",
        ),
        Run("rf", "mooc", encoder="wordllama", part="validation"),
    ]
    assert set(asked[2].changes) == {"kappa", "weight_decay", "learning_rate", "dropout"}


def test_it_starts_from_the_published_setting_even_where_another_was_tuned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(methods, "tuned_settings", lambda: {"rf": {"mooc": CHOSEN}})
    asked: list[Run] = []
    tune(wanted("rf", repeats=1), fake(lambda _: 0.5, asked))
    assert asked[0].changes == {}


def test_every_method_has_the_same_budget_and_only_validation_is_scored() -> None:
    asked: list[Run] = []
    tune(wanted(courses=SETS), fake(by_rate, asked))
    for course in SETS:
        for method in TABLE_1:
            tried = [run.changes for run in asked if (run.method, run.course) == (method, course)]
            few = {"nb": 6, "rf": 4, "refd": 4}  # as many settings as there are
            assert len(tried) == few.get(method, TRIALS), method
            assert all(tried.count(one) == 1 for one in tried)
    assert {(run.part, run.seed, run.protocol) for run in asked} == {("validation", 0, "published")}
    for run in asked:
        method_settings(run.method, run.preset, **run.changes)


def test_quick_takes_two_trials() -> None:
    asked: list[Run] = []
    tune(wanted("gae", repeats=1), fake(by_rate, asked))
    assert len(asked) == QUICK_TRIALS == 2


def test_the_best_on_validation_is_chosen() -> None:
    asked: list[Run] = []
    outcome = tune(wanted("gae"), fake(by_rate, asked))
    best = min(asked[1:], key=lambda run: run.changes["learning_rate"])
    chosen = read_tuned(outcome.texts["tuned.toml"])["gae"]["mooc"]
    assert chosen.changes == best.changes
    assert chosen.validation_auc == pytest.approx(by_rate(best))
    assert (chosen.published_auc, chosen.trials, chosen.encoder) == (0.0, TRIALS, "wordllama")
    rows = list(csv.DictReader(io.StringIO(outcome.texts["tune.csv"])))
    assert [row["chosen"] for row in rows] == [str(int(run is best)) for run in asked]
    assert f"learning_rate = {best.changes['learning_rate']}" in outcome.texts["tune.md"]


def test_ties_go_to_the_published_setting() -> None:
    outcome = tune(wanted("gae", "svm"), fake(lambda _: 0.8))
    tuned = read_tuned(outcome.texts["tuned.toml"])
    assert tuned["gae"]["mooc"].changes == tuned["svm"]["mooc"].changes == {}
    assert [row[-1] for row in outcome.tables[0].rows] == ["none", "none"]


def test_the_same_results_ask_for_the_same_runs() -> None:
    first: list[Run] = []
    again: list[Run] = []
    tune(wanted("gae", "svm"), fake(by_rate, first))
    tune(wanted("gae", "svm"), fake(by_rate, again))
    assert first == again
    # A method's trials do not depend on which others are tuned beside it.
    alone: list[Run] = []
    tune(wanted("svm"), fake(by_rate, alone))
    assert alone == [run for run in first if run.method == "svm"]


def test_an_interrupted_tuning_goes_on_where_it_stopped() -> None:
    whole: list[Run] = []
    outcome = tune(wanted("gae", "svm"), fake(by_rate, whole))
    kept: dict[str, dict[str, Any]] = {}
    done: list[Run] = []

    def keeping(limit: int) -> Do:
        def do(runs: Sequence[Run]) -> list[dict[str, Any]]:
            for run in runs:
                if run.key("data") not in kept:
                    if len(done) == limit:
                        raise KeyboardInterrupt
                    done.append(run)
                    (kept[run.key("data")],) = fake(by_rate)([run])
            return [kept[run.key("data")] for run in runs]

        return do

    with pytest.raises(KeyboardInterrupt):
        tune(wanted("gae", "svm"), keeping(9))
    assert len(done) == 9
    resumed = tune(wanted("gae", "svm"), keeping(100))
    assert done == whole
    assert resumed.texts == outcome.texts


def test_what_was_tuned_before_stays_in_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "proprl.experiments.studies.tune.tuned_settings",
        lambda: {"rf": {"mooc": CHOSEN, "ucd": CHOSEN}, "nb": {"mooc": CHOSEN}},
    )
    outcome = tune(wanted("rf"), fake(lambda _: 0.5))
    tuned = read_tuned(outcome.texts["tuned.toml"])
    assert tuned["nb"]["mooc"] == tuned["rf"]["ucd"] == CHOSEN
    assert tuned["rf"]["mooc"].validation_auc == 0.5


def test_the_page_says_what_was_done_and_what_is_left_to_do() -> None:
    outcome = tune(wanted("proprl", "svm", repeats=1), fake(lambda _: 0.5))
    page = outcome.texts["tune.md"]
    assert "At most 2 settings" in page
    assert "tables but `ours` run ProPRL as published" in page
    assert "copy `tuned.toml` over `src/proprl/experiments/settings/tuned.toml`" in page
    assert "| SVM | mooc | 0.500 | 0.500 | none |" in page


# What can be wrong


def refuse(runs: Sequence[Run]) -> list[dict[str, Any]]:
    raise AssertionError("nothing may run")


def test_wrong_words_stop_before_anything_runs() -> None:
    with pytest.raises(UnknownMethodError):
        tune(wanted("rf", "magic"), refuse)
    with pytest.raises(ProprlError, match=r"no settings that tune chooses; known: nb, svm"):
        tune(wanted("proprl-without-gate"), refuse)
    with pytest.raises(ProprlError, match="leave --protocol out"):
        tune(Wanted(["mooc"], ["rf"], protocol="leak-free"), refuse)


def test_without_optuna_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError, match=r"proprl\[tune\]"):
        tune(wanted("rf"), refuse)


def test_validation_pairs_of_one_label_choose_nothing() -> None:
    with pytest.raises(ProprlError, match="nothing can be chosen on mooc"):
        tune(wanted("rf"), fake(lambda _: None))


# What becomes of it

CHOSEN = TunedSetting(
    changes={"trees": 50},
    validation_auc=0.9,
    published_auc=0.8,
    trials=8,
    encoder="wordllama",
)


def test_tuning_is_not_part_of_all() -> None:
    assert "tune" in find_experiments("tune")
    assert "tune" not in find_experiments("all")
    assert {"table1", "table2"} <= set(PARTS_OF_ALL)


def test_a_real_tuning_of_the_bundled_course(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = RunStore(tmp_path)
    outcome = tune(
        wanted("nb", "rf", courses=["campus"], repeats=1), lambda runs: run_all(runs, store)
    )
    assert len(outcome.results) == len(list(tmp_path.iterdir())) == 4
    tuned = read_tuned(outcome.texts["tuned.toml"])
    monkeypatch.setattr(methods, "tuned_settings", lambda: tuned)
    for method in ("nb", "rf"):
        chosen = tuned[method]["campus"]
        aucs = [r["metrics"]["auc"] for r in outcome.results if r["run"]["method"] == method]
        assert chosen.published_auc == pytest.approx(aucs[0], abs=1e-6)
        assert chosen.validation_auc == pytest.approx(max(aucs), abs=1e-6)
        # Tables then run with what was chosen.
        (run,) = plan([method], wanted(courses=["campus"], repeats=1))
        assert run.changes == chosen.changes
