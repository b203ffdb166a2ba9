"""Both orders of the test positives: numbers, files and the picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest

from proprl.experiments.running.execute import execute
from proprl.experiments.running.plan import Wanted
from proprl.experiments.running.run import Run
from proprl.experiments.settings.published import SETS
from proprl.experiments.studies.case_study import both_orders, case_study

WANTED = Wanted(repeats=2, encoder="wordllama")


def made_up(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Three positives, of which seed 0 orders two and seed 1 all, and a negative between them."""
    return [
        {
            "run": asdict(run),
            "labels": [1, 0, 1, 1],
            "threshold": 0.5,
            "scores": {
                "forward": [0.9, 0.1, 0.8, 0.4 + run.seed],
                "reverse": [0.1, 0.2, 0.2, 0.7],
            },
            "metrics": {
                "ordered_share": (2 + run.seed) / 3,
                "mean_margin": (0.8 + 0.6 - 0.3 + run.seed) / 3,
            },
        }
        for run in runs
    ]


def test_the_paper_studies_mooc_and_so_do_we_unless_told_otherwise() -> None:
    def courses(wanted: Wanted) -> set[str]:
        return {result["run"]["course"] for result in case_study(wanted, made_up).results}

    assert courses(WANTED) == {"mooc"}
    assert courses(replace(WANTED, asked_courses=["ucd"])) == {"ucd"}
    assert courses(replace(WANTED, asked_courses=list(SETS))) == set(SETS)


def test_means_over_seeds_stand_beside_the_paper() -> None:
    (table,) = case_study(WANTED, made_up).tables
    assert [row[:2] for row in table.rows] == [["mooc", "DGCPL"], ["mooc", "ProPRL"]]
    ordered, deviation, paper = table.rows[1][2:5]
    assert ordered == pytest.approx(5 / 6)
    assert deviation == pytest.approx(1 / 3 / 2**0.5)  # of 2/3 and 1
    assert paper == 0.9
    assert table.rows[1][5] == pytest.approx((1.1 / 3 + 2.1 / 3) / 2)
    assert table.rows[1][7] == 0.695


def test_only_positives_are_points() -> None:
    forward, reverse = both_orders(made_up([Run("proprl", "mooc")])[0])
    assert forward.tolist() == [0.9, 0.8, 0.4]
    assert reverse.tolist() == [0.1, 0.2, 0.7]


def test_the_files_hold_the_table_the_points_and_the_picture() -> None:
    outcome = case_study(WANTED, made_up)
    page = outcome.texts["case-study.md"]
    assert "| ProPRL | 0.833 ± 0.236 [0.667, 1.000] | 0.900 |" in page
    assert "(case-study.png)" in page
    assert "2 seeds" in page
    assert r"\toprule" in outcome.texts["case-study.tex"]
    rows = list(csv.DictReader(io.StringIO(outcome.texts["case-study.csv"])))
    assert len(rows) == 2 * 2 * 3  # methods, seeds, positives
    assert rows[2] == {
        "method": "dgcpl",
        "course": "mooc",
        "fold": "0",
        "seed": "0",
        "pair": "2",
        "forward": "0.400000",
        "reverse": "0.700000",
    }
    assert list(outcome.figures) == ["case-study"]


def test_the_picture_shows_the_first_seed_of_each_model() -> None:
    figure = case_study(WANTED, made_up).figures["case-study"]()
    titles = [axis.get_title() for axis in figure.axes]
    assert titles == [f"{name}\n66.7 % ordered\nmean margin 0.367" for name in ("DGCPL", "ProPRL")]
    right, wrong = figure.axes[0].collections
    assert right.get_offsets().tolist() == [[0.9, 0.1], [0.8, 0.2]]
    assert wrong.get_offsets().tolist() == [[0.4, 0.7]]


def test_several_courses_are_rows_of_panels() -> None:
    figure = case_study(replace(WANTED, asked_courses=["ucd", "mooc"]), made_up).figures[
        "case-study"
    ]()
    assert len(figure.axes) == 4
    assert figure.axes[2].get_ylabel().startswith("mooc")


def test_it_runs_on_a_real_course() -> None:
    def tiny(runs: Sequence[Run]) -> list[dict[str, Any]]:
        return [execute(replace(run, changes={"size": 16, "epochs": 1})) for run in runs]

    outcome = case_study(replace(WANTED, asked_courses=["campus"], repeats=1), tiny)
    forward, reverse = both_orders(outcome.results[0])
    share = outcome.results[0]["metrics"]["ordered_share"]
    assert share == pytest.approx((forward > reverse).mean())
    outcome.figures["case-study"]()
