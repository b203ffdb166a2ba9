"""Which lines a map reaches."""

from __future__ import annotations

from map_results import findings
from proprl.experiments.show.lines import map_lines
from proprl.experiments.show.whole_map_findings import Findings


def reached(found: Findings) -> dict[tuple[str, str, str], bool]:
    return {
        (course, known, what): rest[-1] == "reached"
        for course, known, what, *rest in map_lines(found)
    }


def test_every_line_is_told_as_reached_or_not() -> None:
    lines = reached(findings())
    half = {what: yes for (course, known, what), yes in lines.items()
            if (course, known) == ("lecturebank-208", "half")}  # fmt: skip
    assert half == {
        "average precision": True,
        "log loss below the base rate's, as a share of it": True,
        "believed pairs that are right": True,
        "prerequisites that are believed": True,
        "F1 of what follows, above the known labels alone": True,  # 0.32
        "all learned edges right or implied": True,
        "learned edges among the asked pairs right or implied": True,
        "promised against true number": True,  # 1.5 of at most 1.6
        "average precision above every method and rule (next: trees)": True,
    }
    # 14 of the author's concepts are on the way, but it has 21 in all.
    assert lines["campus", "half", "concepts of the author's way that are on the map's"]
    assert not lines["campus", "half", "concepts on the map's way in all"]


def test_a_line_that_has_no_value_is_not_reached() -> None:
    found = findings()
    broken = [
        cell.model_copy(update={"metrics": {**cell.metrics, "believed_right": None}})
        for cell in found.cells
    ]
    lines = reached(found.model_copy(update={"cells": broken}))
    assert not lines["lecturebank-208", "half", "believed pairs that are right"]


def test_who_is_not_ahead_does_not_reach_the_lead() -> None:
    lines = reached(findings(lambda _: 0.5))
    leads = [yes for (_, _, what), yes in lines.items() if "above every method" in what]
    assert leads == [False] * 4  # two sets, a half and a fifth of each known
