"""What names a run, and finds the result that was kept for it."""

from __future__ import annotations

from dataclasses import replace

from proprl.experiments.running.run import Run
from quick_runs import QUICK, quick


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
