"""The lines to reach are data; this validates them."""

from __future__ import annotations

from proprl.experiments.settings.targets import targets

SETS = ("lecturebank-208", "lecturebank-322", "campus")


def test_targets_are_those_of_the_sets() -> None:
    assert set(targets().maps) == set(SETS)
    assert targets().maps["lecturebank-322"].fifth == {"average_precision": 0.16, "f1_lead": 0.09}
