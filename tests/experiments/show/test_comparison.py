"""A table of results, worked out by hand."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from proprl.experiments.running.plan import Wanted
from proprl.experiments.show.comparison import Cell, compare

MOOC = Wanted(["mooc"])


def result(method: str, auc: float, seed: int, fold: int = 0) -> dict[str, Any]:
    """Of 50 positives and 50 negatives, spread so that AUC is what is asked for, to 0.02."""
    below = round(50 * (1 - auc))  # positives under every negative; the others are above
    run = {"method": method, "course": "mooc", "fold": fold, "seed": seed}
    scores = [0.5] * 50 + [0.1] * below + [0.9] * (50 - below)
    return {
        "run": run,
        "metrics": {"auc": 1 - below / 50},
        "labels": [0] * 50 + [1] * 50,
        "scores": {"forward": scores, "reverse": scores},
        "threshold": 0.5,
    }


RESULTS = [
    *(result("proprl", auc, i) for i, auc in enumerate((0.90, 0.92, 0.94))),
    *(result("rf", auc, i) for i, auc in enumerate((0.70, 0.72, 0.74))),
    *(result("nb", auc, i) for i, auc in enumerate((0.50, 0.52, 0.54))),
]


def table(results: list[dict[str, Any]] = RESULTS) -> Any:
    return compare(
        results,
        ["nb", "rf", "proprl"],
        ["auc"],
        MOOC,
        paper="table1",
    )


def test_a_cell_holds_mean_deviation_interval_and_the_published_number() -> None:
    cell = table().cells["proprl", "mooc", "auc"]
    assert cell.mean == pytest.approx(0.92)
    assert cell.deviation == pytest.approx(0.02)
    assert 0.90 <= cell.low < 0.92 < cell.high <= 0.94
    assert cell.paper == 0.9605


def test_the_lead_is_tested_against_the_best_other_method() -> None:
    lead = table().leads["mooc", "auc"]
    assert (lead.rival, lead.difference) == ("rf", pytest.approx(0.2))
    assert lead.p < 0.01  # ten pairs of a hundred: no chance of the draw
    assert lead.verdict == "significant"


def test_any_two_methods_can_be_tested() -> None:
    found = table()
    assert found.p_value("proprl", "nb", "mooc", "auc") == 1 / 10_001
    assert found.p_value("nb", "proprl", "mooc", "auc") > 0.99
    assert found.p_value("rf", "rf", "mooc", "auc") == 1
    assert found.difference("rf", "nb", "mooc", "auc") == pytest.approx(0.2)


def test_a_lead_of_a_pair_or_two_is_chance_however_many_seeds_have_it() -> None:
    """All seeds lead by one pair of the same hundred; more test sets would be another matter."""
    same = [result("proprl", 0.92, seed) for seed in range(10)]
    same += [result("rf", 0.90, seed) for seed in range(10)] + [result("nb", 0.5, 0)]
    assert table(same).p_value("proprl", "rf", "mooc", "auc") > 0.1
    folds = [result("proprl", 0.92, 0, fold) for fold in range(10)]
    folds += [result("rf", 0.90, 0, fold) for fold in range(10)] + [result("nb", 0.5, 0)]
    assert table(folds).p_value("proprl", "rf", "mooc", "auc") < 0.05


def test_a_lead_is_measured_on_the_seeds_that_both_methods_have() -> None:
    """Our first seed, the worst, has no counterpart: 0.92 and 0.94 against 0.72 and 0.70."""
    other = [result("rf", auc, i) for i, auc in ((1, 0.72), (2, 0.70))]
    found = table([r for r in RESULTS if r["run"]["method"] != "rf"] + other)
    assert found.leads["mooc", "auc"].difference == pytest.approx(0.22)
    assert "| RF † |" in found.markdown()
    assert "† fewer than 3 runs: RF 2." in found.markdown()


def test_behind_is_no_lead_and_one_run_no_proof() -> None:
    behind = [result("proprl", 0.7, 0), result("rf", 0.8, 0), result("nb", 0.5, 0)]
    assert table(behind).leads["mooc", "auc"].verdict == "no lead"
    ahead = [result("proprl", 0.9, 0), result("rf", 0.8, 0), result("nb", 0.5, 0)]
    assert table(ahead).leads["mooc", "auc"].verdict == "not significant"
    assert table(ahead).p_value("proprl", "nb", "mooc", "auc") == 1


def test_every_format_shows_the_same_numbers() -> None:
    found = table()
    assert "| ProPRL | **0.920 ± 0.020** [0.900, 0.940] | 0.961 |" in found.markdown()
    assert "- AUC: +0.200 against RF, significant (p 0.000)" in found.markdown()
    assert r"ProPRL & \textbf{0.9200\,$\pm$\,0.020} \\" in found.latex()
    rows = list(csv.DictReader(io.StringIO(found.csv())))
    assert {row["method"]: row["mean"] for row in rows}["rf"] == "0.720000"
    assert rows[0]["runs"] == "3"


def test_a_recorded_row_is_shown_as_it_was_measured_and_not_tested() -> None:
    """Its mean is 0.9 over ten folds; ours is 0.92 over three seeds."""
    row = Cell(mean=0.9, deviation=0.01, low=0.89, high=0.91, runs=10, commit="abc1234")
    found = compare(
        RESULTS,
        ["svm", "proprl"],
        ["auc"],
        MOOC,
        recorded={("svm", "mooc", "auc"): row},
    )
    lead = found.leads["mooc", "auc"]
    assert (lead.rival, lead.difference, lead.p) == ("svm", pytest.approx(0.02), None)
    page = found.markdown()
    assert "| SVM ‡ | 0.900 ± 0.010 [0.890, 0.910] |" in page
    assert "† fewer than 10 runs: ProPRL 3." in page
    assert "‡ as measured at commit abc1234, not run again." in page
    assert "against SVM, not tested, its single runs are not kept" in page
    assert "svm,mooc,auc,0.900000,0.010000,0.890000,0.910000,10,,abc1234" in found.csv()


def test_each_way_of_running_a_method_is_a_row_and_no_rival_of_itself() -> None:
    more = [result("proprl", 0.98, seed) for seed in range(3)]
    for one in more:
        one["run"]["background"] = "auto"
    found = compare(
        [*RESULTS, *more],
        ["rf", "proprl", "proprl+background"],
        ["auc"],
        MOOC,
    )
    assert found.cells["proprl+background", "mooc", "auc"].mean == pytest.approx(0.98)
    assert found.cells["proprl", "mooc", "auc"].mean == pytest.approx(0.92)
    assert found.leads["mooc", "auc"].rival == "rf"
