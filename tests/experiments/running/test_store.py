"""Runs are kept, shared between processes, and continued after a kill."""

from __future__ import annotations

import json
import multiprocessing
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from proprl.data import Course, load_course, write_course
from proprl.data.public import BENCHMARKS
from proprl.data.splits.labelled import LabelledPairs
from proprl.errors import (
    DivergedError,
    MissingExtraError,
    MissingInputError,
    ProprlError,
    PublicDataError,
    SplitError,
    TrainingError,
    UnknownMethodError,
)
from proprl.experiments.running.execute import evidence_of, execute
from proprl.experiments.running.protocols import split_of
from proprl.experiments.running.run import Run
from proprl.experiments.running.store import RunStore, run_all
from proprl.fitting import fit_scorer
from proprl.models.registry import method, method_settings

QUICK = {"size": 16, "epochs": 2}


def quick(seed: int, **changes: object) -> Run:
    return Run("proprl", "campus", seed=seed, changes={**QUICK, **changes})


def test_the_same_run_gives_the_same_metrics() -> None:
    first, second = execute(quick(1)), execute(quick(1))
    assert first["metrics"] == second["metrics"]
    assert first["metrics"]["pairs"] == 88
    assert first["parameters"] > 1000


def test_a_kept_run_is_not_done_again(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    first = run_all([quick(1), quick(2)], store)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    again = run_all([quick(2), quick(1)], store)
    assert again == first[::-1]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == times


def test_what_determines_a_run_names_it() -> None:
    keys = {
        quick(1).key("data"),
        quick(2).key("data"),
        quick(1).key("other data"),
        quick(1, alpha=0.2).key("data"),
        Run("proprl", "campus", protocol="leak-free", changes=QUICK).key("data"),
    }
    assert len(keys) == 5
    assert quick(1).key("data") == quick(1).key("data")


def test_what_was_kept_before_runs_had_more_fields_is_still_found() -> None:
    """Trees, and Sequitur, come to other results since; the others do not."""
    run = Run("svm", "mooc", protocol="leak-free", fold=3)
    assert run.key("data") == "a96248cd99bd74bfe59e8c71"
    others = [replace(run, refit=True), replace(run, background="auto")]
    assert len({one.key("data") for one in [run, *others]}) == 3


class TestSequitur:
    RUN = Run(
        "sequitur", "campus", protocol="leak-free", encoder="wordllama", changes={"trees": 20}
    )

    def test_with_background_it_says_how_many_test_pairs_were_among_it(self) -> None:
        plain, more = execute(self.RUN), execute(replace(self.RUN, background="auto"))
        assert "background" not in plain
        taken = more["background"]
        assert taken["pairs"] > more["known_labels"]
        assert 0 <= taken["scored_positives"] <= taken["scored"] <= len(more["labels"])
        assert plain["scores"] != more["scores"]

    def test_it_is_not_judged_by_validation_pairs_that_it_learned_from(self) -> None:
        """Judged by pairs that it knows it would be all but without fault."""
        of = replace(self.RUN, part="validation")
        split = split_of(of, load_course("campus"))
        trained = replace(split, validation=LabelledPairs.empty())
        evidence, _ = evidence_of("campus", "fixed", None, "wordllama")
        settings = method_settings("sequitur", trees=20)
        fit = fit_scorer(method("sequitur")(settings), evidence, trained, seed=0)
        assert execute(of)["scores"]["forward"] == fit.score(split.validation.pairs).tolist()


@pytest.mark.parametrize("name", ["svm", "trees"])
def test_refit_on_train_and_validation_keeps_the_threshold_that_was_chosen(name: str) -> None:
    changes = {"trees": 20} if name == "trees" else {}
    run = Run(name, "campus", protocol="leak-free", encoder="wordllama", changes=changes)
    once, again = execute(run), execute(replace(run, refit=True))
    assert again["threshold"] == once["threshold"]
    assert again["labels"] == once["labels"]
    assert again["scores"] != once["scores"]
    assert again["run"]["refit"]


def test_a_damaged_result_is_done_again(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    (before,) = run_all([quick(1)], store)
    (path,) = tmp_path.iterdir()
    path.write_text(path.read_text()[:40])
    (after,) = run_all([quick(1)], store)
    assert after["metrics"] == before["metrics"]
    assert json.loads(path.read_text())["metrics"] == before["metrics"]


@pytest.mark.slow
def test_two_processes_give_the_same_numbers_as_one(tmp_path: Path) -> None:
    runs = [quick(1), quick(2)]
    one = run_all(runs, RunStore(tmp_path / "one"))
    two = run_all(runs, RunStore(tmp_path / "two"), jobs=2)
    assert [r["metrics"] for r in one] == [r["metrics"] for r in two]


def test_wrong_words_are_found_before_the_first_run(tmp_path: Path) -> None:
    with pytest.raises(UnknownMethodError):
        run_all([quick(1), Run("magic", "campus")], RunStore(tmp_path))
    with pytest.raises(ProprlError, match="no such setting"):
        run_all([quick(1), quick(1, magic=1)], RunStore(tmp_path))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("protocol", ["leak-free", "new-concepts"])
def test_protocols_run_on_any_labelled_course(protocol: str) -> None:
    found = execute(Run("proprl", "campus", protocol=protocol, fold=1, changes=QUICK))
    assert 0 <= found["metrics"]["auc"] <= 1
    with pytest.raises(ProprlError, match="known: published, leak-free, new-concepts"):
        execute(Run("proprl", "campus", protocol="magic"))


class TestBeforeAnyTraining:
    """What is wrong with a run is found before the first one starts; nothing is written."""

    def refused(self, wrong: Run, store: RunStore, root: Path | None = None) -> str:
        (kept,) = run_all([quick(1)], store)
        with pytest.raises(ProprlError) as refused:
            run_all([quick(1), quick(2), wrong], store, root=str(root) if root else None)
        assert len(list(store.folder.iterdir())) == 1, "a run was started"
        assert run_all([quick(1)], store) == [kept]
        self.kind = refused.type
        return str(refused.value)

    def test_a_method_without_an_input_it_needs(self, campus: Course, tmp_path: Path) -> None:
        bare = replace(campus, resources=None, concept_resources=None, resource_links=None)
        write_course(bare, tmp_path / "bare")
        message = self.refused(Run("lcpre", str(tmp_path / "bare")), RunStore(tmp_path / "runs"))
        assert self.kind is MissingInputError
        assert f"lcpre cannot learn from {tmp_path / 'bare'}" in message
        assert "resources.csv" in message

    def test_an_encoder_whose_extra_is_not_installed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("proprl.features.encoders._installed", lambda _: False)
        wrong = replace(quick(3), encoder="sentence-transformers:any")
        assert "proprl[text]" in self.refused(wrong, RunStore(tmp_path))
        assert self.kind is MissingExtraError

    def test_a_data_root_that_is_not_there(self, tmp_path: Path) -> None:
        message = self.refused(Run("nb", "mooc"), RunStore(tmp_path), tmp_path / "nowhere")
        assert self.kind is PublicDataError
        assert "no folder" in message
        assert "proprl course fetch mooc" in message

    def test_a_set_that_is_half_downloaded_or_changed(self, tmp_path: Path) -> None:
        root, store = tmp_path / "data", RunStore(tmp_path / "runs")
        first, *rest = BENCHMARKS["mooc"].files
        (root / first.path).parent.mkdir(parents=True)
        (root / first.path).write_text("not what was published")
        message = self.refused(Run("nb", "mooc"), store, root)
        assert f"{len(rest)} of {len(rest) + 1} files are missing" in message
        for file in rest:
            (root / file.path).parent.mkdir(parents=True, exist_ok=True)
            (root / file.path).write_text("nor this")
        message = self.refused(Run("nb", "mooc"), store, root)
        assert f"{root / first.path} is not the file that was published" in message

    def test_a_course_without_parts_or_without_test_pairs(
        self, planted: Course, tmp_path: Path
    ) -> None:
        write_course(planted, tmp_path / "planted")
        message = self.refused(Run("nb", str(tmp_path / "planted")), RunStore(tmp_path / "runs"))
        assert "no published split" in message
        assert planted.pairs is not None
        train = replace(planted, pairs=planted.pairs.with_columns(split=pl.lit("train")))
        write_course(train, tmp_path / "train")
        message = self.refused(Run("nb", str(tmp_path / "train")), RunStore(tmp_path / "runs"))
        assert self.kind is SplitError
        assert "no test pairs under published" in message


def fail_at_seed_7(run: Run, root: str | None) -> dict[str, Any]:
    if run.seed == 7:
        raise TrainingError("the loss is not a number")
    return execute(run, root)


def test_a_run_that_fails_is_named_and_what_is_done_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proprl.experiments.running.workers.execute", fail_at_seed_7)
    with pytest.raises(TrainingError) as failed:
        run_all([quick(1), quick(7, alpha=0.3), quick(2)], RunStore(tmp_path))
    assert str(failed.value) == (
        "proprl on campus, seed 7 failed (preset default, size=16, epochs=2, alpha=0.3): "
        "the loss is not a number\n"
        "what is done is kept: the same command goes on from there"
    )
    assert [json.loads(path.read_text())["run"]["seed"] for path in tmp_path.iterdir()] == [1]


class Watcher:
    """A progress that remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[object, ...]] = []

    def begin(self, task: str, total: int, done: int = 0) -> None:
        self.told.append((task, total, done))

    def step(self, count: int = 1, **_: float) -> None:
        self.told.append(("step", count))

    def note(self, text: str, seconds_left: float | None = None) -> None:
        assert seconds_left is not None
        assert seconds_left >= 0
        self.told.append((text,))

    def end(self) -> None:
        self.told.append(("end",))


def test_progress_tells_what_is_under_way_and_long_runs_start_first(tmp_path: Path) -> None:
    store, watcher = RunStore(tmp_path), Watcher()
    kept, classical = (Run("nb", "campus", protocol="leak-free", fold=fold) for fold in (1, 2))
    run_all([kept], store)
    run_all([classical, kept, quick(2), quick(2)], store, progress=watcher)
    assert watcher.told == [
        ("runs", 4, 1),
        ("proprl on campus, seed 2",),
        ("step", 2),
        ("nb on campus, fold 2",),
        ("step", 1),
        ("end",),
    ]


class Killer(Watcher):
    """Kills the first worker as soon as the second run is under way."""

    def note(self, text: str, seconds_left: float | None = None) -> None:
        super().note(text, seconds_left)
        if " · " in text:
            min(multiprocessing.active_children(), key=lambda worker: worker.pid or 0).kill()


def test_a_worker_that_is_killed_is_a_clear_error_and_leaves_no_process(tmp_path: Path) -> None:
    with pytest.raises(TrainingError) as lost:
        run_all([quick(1), quick(2)], RunStore(tmp_path), jobs=2, progress=Killer())
    assert "ended from outside" in str(lost.value)
    assert "proprl on campus, seed 1; proprl on campus, seed 2" in str(lost.value)
    assert "what is done is kept" in str(lost.value)
    assert not multiprocessing.active_children()


DIVERGING = Run("vgae", "campus", changes={"learning_rate": 1e30}, encoder="wordllama")


def test_settings_that_do_not_learn_are_an_error_in_a_table() -> None:
    with pytest.raises(DivergedError, match="try a lower learning rate"):
        execute(DIVERGING)


def test_settings_that_do_not_learn_are_the_last_choice_where_some_are_chosen() -> None:
    result = execute(replace(DIVERGING, part="validation"))
    assert result["metrics"] == {"auc": 0.0}
    assert "try a lower learning rate" in result["diverged"]
