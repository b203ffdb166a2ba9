"""One run: what it fits, what it scores, and what it says of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from proprl.calibrating import fit_scorer
from proprl.data import load_course
from proprl.data.splits.labelled import LabelledPairs
from proprl.errors import DivergedError
from proprl.experiments.running import execute as execute_module
from proprl.experiments.running.execute import PeakMemory, evidence_of, execute
from proprl.experiments.running.protocols import split_of
from proprl.experiments.running.run import Run
from proprl.models.registry import method, method_settings
from quick_runs import quick


def test_the_same_run_gives_the_same_metrics() -> None:
    first, second = execute(quick(1)), execute(quick(1))
    assert first["metrics"] == second["metrics"]
    assert first["metrics"]["pairs"] == 88
    assert first["parameters"] > 1000


class TestSequitur:
    RUN = Run("sequitur", "campus", protocol="leak-free", encoder="wordllama", changes={"trees": 5})

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
        settings = method_settings("sequitur", trees=5)
        fit = fit_scorer(method("sequitur")(settings), evidence, trained, seed=0)
        assert execute(of)["scores"]["forward"] == fit.score(split.validation.pairs).tolist()


@pytest.mark.parametrize("name", ["nb", "trees"])
def test_refit_on_train_and_validation_keeps_the_threshold_that_was_chosen(name: str) -> None:
    changes = {"trees": 20} if name == "trees" else {}
    run = Run(name, "campus", protocol="leak-free", encoder="wordllama", changes=changes)
    once, again = execute(run), execute(replace(run, refit=True))
    assert again["threshold"] == once["threshold"]
    assert again["labels"] == once["labels"]
    assert again["scores"] != once["scores"]
    assert again["run"]["refit"]


DIVERGING = Run("vgae", "campus", changes={"learning_rate": 1e30}, encoder="wordllama")


def test_settings_that_do_not_learn_are_an_error_in_a_table() -> None:
    with pytest.raises(DivergedError, match="try a lower learning rate"):
        execute(DIVERGING)


def test_settings_that_do_not_learn_are_the_last_choice_where_some_are_chosen() -> None:
    result = execute(replace(DIVERGING, part="validation"))
    assert result["metrics"] == {"auc": 0.0}
    assert "try a lower learning rate" in result["diverged"]


linux = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="peaks are forgotten only on Linux"
)


@linux
def test_memory_is_the_peak_since_the_start_even_after_a_greater_one() -> None:
    np.ones(12_500_000).sum()  # 100 MB, freed again
    watched = PeakMemory()
    np.ones(5_000_000).sum()  # 40 MB, freed again
    growth = watched.growth_mb()
    assert growth is not None
    assert 35 < growth < 60


def test_where_the_peak_cannot_be_forgotten_nothing_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(execute_module, "PROCESS", tmp_path / "missing")
    assert PeakMemory().growth_mb() is None
