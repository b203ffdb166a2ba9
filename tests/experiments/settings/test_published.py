"""The published numbers are data; this validates them."""

from __future__ import annotations

from proprl.experiments.settings.published import METRICS, SETS, published


def test_every_number_is_a_share_or_a_cost() -> None:
    paper = published()
    shares = [v for row in paper.table1.values() for s in SETS for v in getattr(row, s)]
    assert len(shares) == 12 * 3 * 3
    shares += [getattr(row, s) for row in paper.table2.values() for s in SETS]
    assert all(0.4 < share < 1 for share in shares)
    assert all(v > 0 for row in paper.table3.values() for s in SETS for v in getattr(row, s))


def test_the_papers_own_claims_hold_for_the_numbers() -> None:
    """ProPRL leads in all nine cells, and each ablation is below it: a typing error would show."""
    paper = published()
    for course in SETS:
        for metric in METRICS:
            ours = paper.cell("proprl", course, metric)
            assert ours is not None
            others = [paper.cell(m, course, metric) for m in paper.table1 if m != "proprl"]
            assert all(other is not None and other < ours for other in others)
        f1 = getattr(paper.table2["proprl"], course)
        assert f1 == paper.cell("proprl", course, "f1")
        assert all(getattr(row, course) <= f1 for row in paper.table2.values())


def test_an_unknown_cell_is_none() -> None:
    assert published().cell("proprl", "campus", "auc") is None
    assert published().cell("gkrom", "mooc", "auc") is None
