"""A table of results, worked out by hand."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from proprl.experiments.comparison import compare
from proprl.experiments.published import published


def result(method: str, auc: float, seed: int, course: str = "mooc") -> dict[str, Any]:
    run = {"method": method, "course": course, "fold": 0, "seed": seed}
    return {"run": run, "metrics": {"auc": auc}}


RESULTS = [
    *(result("proprl", auc, i) for i, auc in enumerate((0.90, 0.92, 0.94))),
    *(result("rf", auc, i) for i, auc in enumerate((0.80, 0.82, 0.84))),
    *(result("nb", auc, i) for i, auc in enumerate((0.50, 0.52, 0.54))),
]


def table(results: list[dict[str, Any]] = RESULTS) -> Any:
    return compare(
        results,
        methods=["nb", "rf", "proprl"],
        courses=["mooc"],
        metrics=["auc"],
        ours="proprl",
        paper=published().cell,
        titles={"proprl": "ProPRL"},
    )


def test_a_cell_holds_mean_deviation_interval_and_the_published_number() -> None:
    cell = table().cells["proprl", "mooc", "auc"]
    assert cell.mean == pytest.approx(0.92)
    assert cell.deviation == pytest.approx(0.02)
    assert 0.90 <= cell.interval[0] < 0.92 < cell.interval[1] <= 0.94
    assert cell.paper == 0.9605


def test_the_lead_is_tested_against_the_best_other_method() -> None:
    lead = table().leads["mooc", "auc"]
    assert (lead.rival, lead.difference) == ("rf", pytest.approx(0.1))
    assert lead.p < 0.001  # each seed leads by 0.1
    assert lead.verdict == "significant"


def test_a_lead_is_measured_on_the_seeds_that_both_methods_have() -> None:
    """Our first seed, the worst, has no counterpart: 0.92 and 0.94 against 0.82 and 0.80."""
    other = [result("rf", auc, i) for i, auc in ((1, 0.82), (2, 0.80))]
    found = table([r for r in RESULTS if r["run"]["method"] != "rf"] + other)
    assert found.leads["mooc", "auc"].difference == pytest.approx(0.12)
    assert "| rf † |" in found.markdown()
    assert "† fewer than 3 runs: rf 2." in found.markdown()


def test_behind_is_no_lead_and_one_run_no_proof() -> None:
    behind = [result("proprl", 0.7, 0), result("rf", 0.8, 0), result("nb", 0.5, 0)]
    assert table(behind).leads["mooc", "auc"].verdict == "no lead"
    ahead = [result("proprl", 0.9, 0), result("rf", 0.8, 0), result("nb", 0.5, 0)]
    assert table(ahead).leads["mooc", "auc"].verdict == "not significant"


def test_every_format_shows_the_same_numbers() -> None:
    found = table()
    assert "| ProPRL | **0.920 ± 0.020** [0.900, 0.940] | 0.961 |" in found.markdown()
    assert "- AUC: +0.100 against rf, significant (p 0.000)" in found.markdown()
    assert r"ProPRL & \textbf{0.9200\,$\pm$\,0.020} \\" in found.latex()
    rows = list(csv.DictReader(io.StringIO(found.csv())))
    assert {row["method"]: row["mean"] for row in rows}["rf"] == "0.820000"
    assert rows[0]["runs"] == "3"
