"""The published numbers are data; this validates them."""

from __future__ import annotations

from proprl.experiments.settings.load import packaged
from proprl.experiments.settings.published import METRICS, SETS, published

PAPER = packaged("published.toml")


def test_every_number_is_a_share_or_a_cost() -> None:
    shares = [v for row in PAPER["table1"].values() for s in SETS for v in row[s]]
    assert len(shares) == 12 * 3 * 3
    shares += [v for row in PAPER["table2"].values() for s in SETS for v in row[s]]
    assert len(shares) == 12 * 3 * 3 + 4 * 3
    assert all(0.4 < share < 1 for share in shares)
    assert all(v > 0 for row in PAPER["table3"].values() for s in SETS for v in row[s])


def test_every_row_has_a_number_for_each_metric_of_its_table() -> None:
    for table, metrics in PAPER["metrics"].items():
        for row in PAPER[table].values():
            assert set(row) <= set(SETS)
            assert {len(numbers) for numbers in row.values()} == {len(metrics)}


def test_the_papers_own_claims_hold_for_the_numbers() -> None:
    """ProPRL leads in all nine cells, and each ablation is below it: a typing error would show."""
    for course in SETS:
        for metric in METRICS:
            ours = published("table1", "proprl", course, metric)
            assert ours is not None
            others = [
                published("table1", m, course, metric) for m in PAPER["table1"] if m != "proprl"
            ]
            assert all(other is not None and other < ours for other in others)
        f1 = published("table2", "proprl", course, "f1")
        assert f1 == published("table1", "proprl", course, "f1")
        assert all(row[course] <= [f1] for row in PAPER["table2"].values())


def test_an_unknown_cell_is_none() -> None:
    assert published("table1", "proprl", "campus", "auc") is None
    assert published("table1", "gkrom", "mooc", "auc") is None
    assert published("table2", "proprl", "mooc", "auc") is None
    assert published("case_study", "proprl", "ucd", "mean_margin") is None
