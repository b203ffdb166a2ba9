"""A table of results, worked out by hand."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from proprl.experiments.comparison import compare


def result(method: str, auc: float, seed: int, course: str = "mooc") -> dict[str, Any]:
    return {"run": {"method": method, "course": course, "seed": seed}, "metrics": {"auc": auc}}


RESULTS = [
    *(result("proprl", auc, i) for i, auc in enumerate((0.90, 0.92, 0.94))),
    *(result("rf", auc, i) for i, auc in enumerate((0.80, 0.82, 0.84))),
    *(result("nb", auc, i) for i, auc in enumerate((0.50, 0.52, 0.54))),
]


def table() -> Any:
    return compare(
        RESULTS, methods=["nb", "rf", "proprl"], courses=["mooc"], metrics=["auc"], ours="proprl"
    )


def test_a_cell_holds_mean_deviation_interval_and_the_published_number() -> None:
    cell = table().cells["proprl", "mooc", "auc"]
    assert cell.mean == pytest.approx(0.92)
    assert cell.deviation == pytest.approx(0.02)
    assert 0.90 <= cell.interval[0] < 0.92 < cell.interval[1] <= 0.94
    assert cell.published == 0.9605


def test_the_lead_is_tested_against_the_best_other_method() -> None:
    cells = table().cells
    assert cells["proprl", "mooc", "auc"].lead_p < 0.001  # each seed leads by 0.1
    assert cells["rf", "mooc", "auc"].lead_p is None


def test_every_format_shows_the_same_numbers() -> None:
    found = table()
    assert "| proprl | **0.920 ± 0.020** (p 0.000)<br>paper 0.961 |" in found.markdown()
    assert r"proprl & \textbf{0.9200\,$\pm$\,0.020} \\" in found.latex()
    rows = list(csv.DictReader(io.StringIO(found.csv())))
    assert {row["method"]: row["mean"] for row in rows}["rf"] == "0.820000"
    assert rows[0]["runs"] == "3"
