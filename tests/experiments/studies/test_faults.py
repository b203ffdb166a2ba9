"""What each fault of the data is worth, worked out by hand and counted on the real data."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pytest

from proprl.experiments.running.plan import Wanted
from proprl.experiments.running.run import Run
from proprl.experiments.studies.faults import faults

# Six test rows. Train holds rows 0 to 2 or their reverses; a memoriser is wrong about row 2.
LABELS = [1, 0, 1, 1, 0, 0]
MEMORISED = [1, 0, 0, None, None, None]
# Right about every row that train holds; of the others, about one of three.
SCORES = [0.9, 0.1, 0.9, 0.4, 0.6, 0.1]


def done(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Results whose accuracy says which condition they stand for."""
    accuracy = {
        ("published", "fixed"): 0.8,
        ("leak-free", "fixed"): 0.5,
        ("published", "shifted"): 0.75,
        ("leak-free", "shifted"): 0.4,
    }
    return [
        {
            "run": asdict(run),
            "metrics": {
                "accuracy": accuracy[run.protocol, run.alignment] + 0.01 * (run.seed + run.fold),
                "auc": 0.9,
            },
            "threshold": 0.5,
            "labels": LABELS,
            "memorised": MEMORISED,
            "scores": {"forward": SCORES},
        }
        for run in runs
    ]


def test_each_fault_is_the_difference_between_with_and_without_it() -> None:
    asked: list[Run] = []

    def do(runs: Sequence[Run]) -> list[dict[str, Any]]:
        asked.extend(runs)
        return done(runs)

    found = faults(
        Wanted(asked_courses=["mooc"], methods=["rf"], repeats=5, encoder="wordllama"), do
    )
    assert len(asked) == len(set(map(str, map(vars, asked)))) == 4 * 3  # never more than 3 repeats
    assert {run.preset for run in asked} == {"default"}
    rows = {
        (row["fault"], row["metric"]): row
        for row in csv.DictReader(io.StringIO(found.texts["faults.csv"]))
    }
    worth = {fault: float(row["worth"]) for (fault, m), row in rows.items() if m == "accuracy"}
    assert worth == pytest.approx(
        {
            "Test rows seen in train": 0.81 - 1 / 3,
            "Published split against leak-free": 0.3,
            "Behaviour one row out, published split": -0.05,
            "Behaviour one row out, leak-free split": -0.1,
        },
        abs=1e-6,
    )
    seen = rows["Test rows seen in train", "auc"]
    # Of the unseen rows, the positive (0.4) stands above one of the two negatives.
    assert float(seen["without"]) == pytest.approx(0.5)
    assert float(rows["Published split against leak-free", "accuracy"]["with deviation"]) == (
        pytest.approx(0.01)
    )


def test_a_memoriser_is_reported_beside_the_methods() -> None:
    found = faults(Wanted(asked_courses=["lecturebank"], methods=["rf"], repeats=1), done)
    table = found.tables[-1]
    # Two of the three seen rows, and a coin for the other three: (2 + 1.5) / 6.
    assert table.rows == [["lecturebank", 6, 3, 2, "0.583", 1]]
    text = found.texts["faults.md"]
    assert "| lecturebank | RF | 0.800 ± 0.000 | 0.500 ± 0.000 | +0.300 |" in text
    assert "## Labels one row out, leak-free split" in text


def test_a_course_of_ones_own_has_no_alignment_to_compare() -> None:
    found = faults(Wanted(asked_courses=["campus"], methods=["rf"], repeats=1), done)
    assert [table.title for table in found.tables[:-1]] == [
        "Test rows seen in train",
        "Published split against leak-free",
    ]
