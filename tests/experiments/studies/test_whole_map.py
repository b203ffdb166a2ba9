"""`reproduce whole-map`: what is run, what is found, and which lines are reached."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import pytest

from map_results import FULL, better, made_up
from proprl.errors import ProprlError
from proprl.experiments.running.plan import SEQUITUR, Wanted
from proprl.experiments.running.run import Run
from proprl.experiments.show.whole_map_findings import TEST_FILE, Findings
from proprl.experiments.studies import whole_map as experiment
from proprl.experiments.studies.whole_map import FOUR, map_plan, whole_map
from proprl.models.registry import METHODS

QUICK = Wanted(repeats=1, encoder="wordllama")
SETS = ("lecturebank-208", "lecturebank-322", "campus")


@pytest.fixture(autouse=True)
def _no_stored_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as the test half has not been run; tests that want a run store their own."""
    monkeypatch.setattr(experiment, "stored_test", lambda: None)


# What is run


def test_quick_is_one_draw_of_four_methods_on_development() -> None:
    runs = map_plan(QUICK)
    assert {run.method for run in runs} == set(FOUR)
    assert {run.part for run in runs} == {"development"}
    assert {run.fold for run in runs} == {0}
    # Two sets with a half and a fifth known, and campus once.
    # Sequitur also learns from labels of a quarter of the concepts.
    assert len(runs) == len(FOUR) * (2 * 2 + 1) + 2


def test_the_full_run_has_three_draws_of_all_methods_that_the_sets_allow() -> None:
    runs = map_plan(Wanted(encoder="wordllama"))
    assert {run.course for run in runs} == set(SETS)
    assert {run.fold for run in runs} == {0, 1, 2}
    assert all(run.seed == run.fold for run in runs)
    of_set = {c: {run.method for run in runs if run.course == c} for c in SETS}
    assert of_set["campus"] - of_set["lecturebank-208"] == {"dgcpl"}  # it needs learner behaviour
    assert set(METHODS) - of_set["campus"] == {
        "proprl-without-gate",
        "proprl-without-propagation",
        "proprl-without-irreversibility",
    }


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (Wanted(asked_courses=["mooc"]), "mooc is no set in which people looked at every pair"),
        (Wanted(protocol="leak-free"), "leave out --protocol"),
        (Wanted(repeats=4), "3 draws"),
        (Wanted(part="validation"), "no part 'validation'"),
        (Wanted(part="test", repeats=1), "the test half is run once"),
        (Wanted(part="test", methods=["svm"]), "the test half is run once"),
    ],
)
def test_what_makes_no_sense_is_refused_before_any_run(wanted: Wanted, message: str) -> None:
    def do(runs: Sequence[Run]) -> list[dict[str, Any]]:
        pytest.fail("nothing may be run")

    with pytest.raises(ProprlError, match=message):
        whole_map(wanted, do)


# What is found


def test_the_files_hold_every_metric_with_its_interval() -> None:
    outcome = whole_map(FULL, made_up(better))
    rows = list(csv.DictReader(io.StringIO(outcome.texts["whole-map.csv"])))
    row = next(
        row
        for row in rows
        if (row["set"], row["known"], row["method"], row["metric"])
        == ("lecturebank-208", "half", SEQUITUR, "average_precision")
    )
    assert (row["mean"], row["low"], row["high"]) == ("0.720000",) * 3
    page = outcome.texts["whole-map.md"]
    assert "## lecturebank-208, a fifth known: the map" in page
    assert "| lecturebank-208 | 206 | 41,513 | 913 | 2.20% | 406 | 4 |" in page
    assert "The lines are meant for the test half" in page
    assert set(outcome.figures) == {"whole-map-reliability", "whole-map-curves"}
    for draw in outcome.figures.values():
        assert len(draw().axes) == 2  # campus is not judged pair by pair


def test_the_test_half_is_run_once_and_printed_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = Wanted(part="test", encoder="wordllama")
    first = whole_map(wanted, made_up(better))
    stored = Findings.model_validate_json(first.texts[TEST_FILE])
    assert stored.part == "test"
    assert stored.commit
    monkeypatch.setattr(experiment, "stored_test", lambda: stored)

    def do(runs: Sequence[Run]) -> list[dict[str, Any]]:
        pytest.fail("the test half has been run")

    again = whole_map(wanted, do)
    assert again.texts == {name: text for name, text in first.texts.items() if name != TEST_FILE}
    assert f"Run at commit {stored.commit} on {stored.date}." in again.texts["whole-map-test.md"]
    # Development, too, ends with the lines of the stored run.
    last = whole_map(FULL, made_up(better)).tables[-1]
    assert last.title == f"Lines, test half (run at {stored.commit} on {stored.date})"
