"""Where settings are searched is data; this validates it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from proprl.experiments.running.plan import experiment_settings
from proprl.experiments.settings.published import SETS
from proprl.experiments.settings.search import Choices, Range, Value, search_spaces
from proprl.experiments.settings.tuned import tuned_settings
from proprl.experiments.studies.table1 import table1_methods
from proprl.experiments.studies.tune import TRIALS
from proprl.models.registry import method_settings


def bounds(place: Range | Choices) -> list[Value]:
    """The values at the edge: what a method accepts there it accepts between them."""
    return [place.low, place.high] if isinstance(place, Range) else place.choices


def holds(place: Range | Choices, value: float) -> bool:
    if isinstance(place, Range):
        return isinstance(value, int | float) and place.low <= value <= place.high
    return value in place.choices


def test_every_method_of_table_1_has_a_space_of_settings_it_accepts() -> None:
    assert set(search_spaces()) == set(table1_methods())
    for method, space in search_spaces().items():
        assert len(space) <= 4
        for name, place in space.items():
            for value in bounds(place):
                assert getattr(method_settings(method, **{name: value}), name) == value


@pytest.mark.parametrize("course", [*SETS, "campus"])
def test_every_space_holds_the_published_setting(course: str) -> None:
    for method, space in search_spaces().items():
        settings = method_settings(method, **experiment_settings().untuned(method, course))
        for name, place in space.items():
            assert holds(place, getattr(settings, name)), f"{method}: {name}"


def test_no_space_makes_a_fit_dearer() -> None:
    for method, space in search_spaces().items():
        published = method_settings(method)
        assert not {"epochs", "steps", "patience", "batch_size", "paths", "layers"} & set(space)
        for name in {"size", "hidden", "heads", "topics", "trees", "width"} & set(space):
            assert max(bounds(space[name])) == getattr(published, name)  # type: ignore[type-var]


def test_an_empty_range_is_refused() -> None:
    with pytest.raises(ValidationError, match="no range"):
        Range(low=1.0, high=1.0)
    with pytest.raises(ValidationError, match="no range"):
        Range(low=0.0, high=1.0, log=True)


def test_every_kept_choice_is_one_the_search_can_make() -> None:
    for method, courses in tuned_settings().items():
        for course, chosen in courses.items():
            changes = experiment_settings().untuned(method, course)
            method_settings(method, **{**changes, **chosen.changes})
            assert set(chosen.changes) in (set(), set(search_spaces()[method]))
            assert chosen.trials <= TRIALS
