"""Search spaces and lines to reach are data; this validates them."""

from __future__ import annotations

from typing import Any

import pytest

from proprl.experiments.running.plan import TABLE_1
from proprl.experiments.settings.load import packaged
from proprl.experiments.settings.methods import untuned
from proprl.experiments.settings.published import SETS
from proprl.experiments.settings.tuned import tuned_settings
from proprl.experiments.studies.tune import TRIALS
from proprl.models.registry import method_settings

SPACES: dict[str, dict[str, dict[str, Any]]] = packaged("search.toml")
TARGETS = packaged("targets.toml")


def bounds(place: dict[str, Any]) -> list[Any]:
    """The values at the edge: what a method accepts there it accepts between them."""
    return [place["low"], place["high"]] if "low" in place else place["choices"]


def holds(place: dict[str, Any], value: float) -> bool:
    if "low" in place:
        return isinstance(value, int | float) and place["low"] <= value <= place["high"]
    return value in place["choices"]


def test_every_method_of_table_1_has_a_space_of_settings_it_accepts() -> None:
    assert set(SPACES) == set(TABLE_1)
    for method, space in SPACES.items():
        assert 1 <= len(space) <= 4
        for name, place in space.items():
            for value in bounds(place):
                assert getattr(method_settings(method, **{name: value}), name) == value


@pytest.mark.parametrize("course", [*SETS, "campus"])
def test_every_space_holds_the_published_setting(course: str) -> None:
    for method, space in SPACES.items():
        settings = method_settings(method, **untuned(method, course))
        for name, place in space.items():
            assert holds(place, getattr(settings, name)), f"{method}: {name}"


def test_no_space_makes_a_fit_dearer() -> None:
    for method, space in SPACES.items():
        published = method_settings(method)
        assert not {"epochs", "steps", "patience", "batch_size", "paths", "layers"} & set(space)
        for name in {"size", "hidden", "heads", "topics", "trees", "width"} & set(space):
            assert max(bounds(space[name])) == getattr(published, name)


def test_every_range_rises_and_every_choice_is_one_of_several() -> None:
    for space in SPACES.values():
        for place in space.values():
            if "low" in place:
                assert place["low"] < place["high"]
                assert place["low"] > 0 or not place.get("log")
                assert set(place) <= {"low", "high", "log"}
            else:
                assert len(set(place["choices"])) >= 2
                assert set(place) == {"choices"}


def test_every_kept_choice_is_one_the_search_can_make() -> None:
    for method, courses in tuned_settings().items():
        for course, chosen in courses.items():
            method_settings(method, **{**untuned(method, course), **chosen.changes})
            assert set(chosen.changes) in (set(), set(SPACES[method]))
            assert chosen.trials <= TRIALS


def test_the_lines_of_maps_name_sets_and_metrics_that_there_are() -> None:
    assert set(TARGETS["maps"]) == {"lecturebank-208", "lecturebank-322", "campus"}
    of = TARGETS["maps"]["lecturebank-322"]
    assert of["fifth"] == {"average_precision": 0.16, "f1_lead": 0.09}
    words = packaged("map_tables.toml")["words"]
    for goals in TARGETS["maps"].values():
        assert {*goals["half"], *goals.get("fifth", {}), *goals.get("aims", {})} <= set(words)
        assert set(goals) <= {"half", "fifth", "aims", "promised_within", "way_at_most"}


def test_the_lines_of_pairs_name_sets_that_there_are() -> None:
    assert set(TARGETS["losses"]) == {"leak-free", "new-concepts"}
    for losses in TARGETS["losses"].values():
        for loss in losses.values():
            assert set(loss["before"]) == set(SETS)
            assert 0 < loss["without_background"] < loss["with_background"]
    assert set(TARGETS["costs"]) <= set(SETS)
