from __future__ import annotations

import pytest

from proprl.data import find_concept
from proprl.errors import UnknownConceptError

IDS = ("c1", "c2", "c3", "Limits")
NAMES = ("Limits", "Derivatives", "Straße", "Limit theorems")


def test_an_id_outranks_a_name() -> None:
    assert find_concept("Limits", IDS, NAMES) == 3
    assert find_concept("c1", IDS, NAMES) == 0


@pytest.mark.parametrize("name", ["Derivatives", "derivatives", "DERIVATIVES", " Derivatives  "])
def test_a_name_in_any_case(name: str) -> None:
    assert find_concept(name, IDS, NAMES) == 1


def test_case_is_folded_in_every_language() -> None:
    assert find_concept("STRASSE", IDS, NAMES) == 2


def test_an_exact_name_outranks_a_folded_one() -> None:
    assert find_concept("set", ["a", "b"], ["SET", "set"]) == 1


@pytest.mark.parametrize("name", ["Sets", "sets"])
def test_an_ambiguous_name_lists_the_ids(name: str) -> None:
    with pytest.raises(UnknownConceptError, match=r"2 concepts are called .*'m7', 'm9'"):
        find_concept(name, ["m7", "m8", "m9"], ["Sets", "Maps", "Sets"])


def test_a_misspelling_suggests_the_nearest_name() -> None:
    with pytest.raises(UnknownConceptError, match=r"no concept 'Limts'.*did you mean 'Limits'"):
        find_concept("Limts", ["a", "b"], ["Limits", "Derivatives"])


def test_nothing_near_suggests_nothing() -> None:
    with pytest.raises(UnknownConceptError) as raised:
        find_concept("Gardening", IDS, NAMES)
    assert "did you mean" not in str(raised.value)


def test_a_number_is_no_concept() -> None:
    with pytest.raises(UnknownConceptError, match="no concept 1"):
        find_concept(1, ["1a"], ["One"])  # type: ignore[arg-type]
