"""What figures on labelled pairs say, and what they do not."""

from __future__ import annotations

import numpy as np
import pytest

from proprl.data.splits.labelled import LabelledPairs
from proprl.fitted import Expected
from proprl.judging import BOTH_LABELS, Judged


def judged(
    *labels: int, expected: Expected | None = None, origin: str = "chosen", chance: float = np.nan
) -> Judged:
    """Give what is said of pairs with these labels: a little more where the label is 1."""
    count = len(labels)
    pairs = np.column_stack([np.arange(count), np.arange(count) + count])
    labelled = LabelledPairs(
        pairs, np.array(labels), np.full(count, origin), np.full(count, chance)
    )
    said = 0.4 + 0.2 * labelled.labels
    return Judged("test", labelled, said, 1 - said, 0.5, None, expected)


def test_few_labels_say_that_they_tell_next_to_nothing() -> None:
    doubt = "Only 4 labels to judge by: these figures tell next to nothing."
    assert judged(1, 0, 1, 0).sentences()[1] == doubt
    assert judged(*[1, 0] * 10).doubts() == []


@pytest.mark.parametrize(("label", "answer"), [(1, "yes"), (0, "no")])
def test_labels_that_all_say_the_same_measure_nothing(label: int, answer: str) -> None:
    alike = judged(*[label] * 30)
    assert alike.doubts() == [
        f"All labels say {answer}: how well yes is told from no cannot be measured by them."
    ]
    figures = alike.metrics()
    assert {figures[name] for name in BOTH_LABELS} == {None}
    assert figures["pairs"] == 30
    assert figures["ordered_share"] == (1.0 if label else None)


def test_labels_of_both_kinds_are_measured() -> None:
    assert None not in {judged(1, 0).metrics()[name] for name in BOTH_LABELS}


def test_figures_on_chosen_pairs_say_what_is_different_in_the_rest_of_the_map() -> None:
    rare = Expected(100, 50, 200, open_pairs=23_000)
    assert judged(*[1, 0] * 10, expected=rare).sentences()[1] == (
        "These figures are for pairs that people chose: 50% of these 20 are prerequisites. "
        "Among pairs that no label settles only about 1 in 230 is, so more of what it suggests "
        "there is wrong."
    )


@pytest.mark.parametrize("expected", [None, Expected(0, 0, 0, 100), Expected(60, 50, 70, 100)])
def test_nothing_is_said_of_a_rest_that_is_unknown_or_no_poorer(expected: Expected | None) -> None:
    assert judged(*[1, 0] * 10, expected=expected).sentences()[1] == (
        "These figures are for pairs that people chose: 50% of these 20 are prerequisites."
    )


def test_pairs_drawn_by_lot_are_not_called_chosen() -> None:
    drawn = judged(*[1, 0] * 10, origin="drawn", chance=0.1)
    assert drawn.sentences()[1].startswith("These figures are for labelled pairs: 50% of")
