"""Runs are kept and not done again; what is wrong is found early; long runs start first."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, replace
from pathlib import Path

import polars as pl
import pytest

from proprl.data import Course, write_course
from proprl.data.public import BENCHMARKS
from proprl.errors import (
    MissingExtraError,
    MissingInputError,
    ProprlError,
    PublicDataError,
    SplitError,
    UnknownMethodError,
)
from proprl.experiments.running.run import Run
from proprl.experiments.running.store import Pace, RunStore, run_all
from quick_runs import quick


def test_a_kept_run_is_not_done_again(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    first = run_all([quick(1), quick(2)], store)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    again = run_all([quick(2), quick(1)], store)
    assert again == first[::-1]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == times


def test_a_damaged_result_is_done_again(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    (before,) = run_all([quick(1)], store)
    (path,) = tmp_path.iterdir()
    path.write_text(path.read_text()[:40])
    (after,) = run_all([quick(1)], store)
    assert after["metrics"] == before["metrics"]
    assert json.loads(path.read_text())["metrics"] == before["metrics"]


def test_wrong_words_are_found_before_the_first_run(tmp_path: Path) -> None:
    with pytest.raises(UnknownMethodError):
        run_all([quick(1), Run("magic", "campus")], RunStore(tmp_path))
    with pytest.raises(ProprlError, match="no such setting"):
        run_all([quick(1), quick(1, magic=1)], RunStore(tmp_path))
    assert not list(tmp_path.iterdir())


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
        monkeypatch.setattr("proprl.features.encoders.installed", lambda _: False)
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
    kept, classical = (
        replace(quick(0), method="nb", protocol="leak-free", fold=fold, changes={})
        for fold in (1, 2)
    )
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


# How long runs are expected to take, and what starts first


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
