"""Means over draws, leads, and the file that keeps them."""

from __future__ import annotations

import pytest

from map_results import findings
from proprl.experiments.running.plan import SEQUITUR
from proprl.experiments.show.whole_map_findings import stored_test
from proprl.experiments.studies.whole_map import FOUR


def test_means_are_over_draws() -> None:
    cell = findings().cell("lecturebank-208", "half", SEQUITUR)
    assert cell is not None
    assert cell.metrics["average_precision"] == pytest.approx(0.72)
    assert cell.intervals["average_precision"] == pytest.approx((0.72, 0.72))
    # The draws' bins together: 90 pairs that were given 0.01, 0.02 and 0.03.
    assert cell.reliability[0]["pairs"] == 90
    assert cell.reliability[0]["said"] == pytest.approx(0.02)


def test_rules_stand_beside_the_methods() -> None:
    methods = {cell.method for cell in findings().of("lecturebank-322", "fifth")}
    assert methods == {*FOUR, "degrees", "reachability"}


def test_leads_are_over_the_same_resamples() -> None:
    leads = {
        lead.over: lead
        for lead in findings().leads
        if (lead.course, lead.known) == ("lecturebank-208", "half")
    }
    assert set(leads) == {"trees", "svm", "proprl", "degrees", "reachability"}
    assert leads["svm"].lead == pytest.approx(0.22)
    assert leads["degrees"].lead == pytest.approx(0.42)
    # 0.72 above resamples of 0.2, 0.3, 0.3, 0.4.
    assert leads["degrees"].interval == pytest.approx((0.3275, 0.5125))


def test_what_is_stored_in_the_package_is_a_run_on_the_test_half() -> None:
    found = stored_test()
    assert found is not None
    assert (found.part, found.draws, len(found.courses)) == ("test", 3, 3)
