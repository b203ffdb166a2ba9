"""What a known label of the reverse says: learned from pairs labelled in both orders."""

from __future__ import annotations

import numpy as np
import pytest

from proprl.data.splits import LabelledPairs
from proprl.models.reverse_labels import ReverseLabels


def labelled(*triples: tuple[int, int, int]) -> LabelledPairs:
    table = np.array(triples, dtype=np.int64).reshape(-1, 3)
    return LabelledPairs(table[:, :2], table[:, 2])


BOTH_ORDERS = labelled((0, 1, 1), (1, 0, 0), (2, 3, 1), (3, 2, 0), (4, 5, 1), (6, 7, 0))


def test_the_weights_are_log_likelihood_ratios() -> None:
    reverses = ReverseLabels.learned(BOTH_ORDERS, "both")
    # Three pairs of each label. Two of the positives have a reverse known to be none, and no
    # negative has; two of the negatives have a reverse that holds, and no positive has. Half a
    # made-up pair of either kind is added.
    no, yes = reverses.weights
    assert no == pytest.approx(np.log(2.5 / 0.5))
    assert yes == pytest.approx(np.log(0.5 / 2.5))


def test_a_reverse_that_does_not_hold_says_nothing_unless_wanted() -> None:
    no, yes = ReverseLabels.learned(BOTH_ORDERS, "positive").weights
    assert no == 0
    assert yes == ReverseLabels.learned(BOTH_ORDERS, "both").weights[1]
    np.testing.assert_array_equal(ReverseLabels.learned(BOTH_ORDERS, "none").weights, [0, 0])


def test_only_the_reverse_counts_and_never_the_pair_itself() -> None:
    reverses = ReverseLabels(labelled((0, 1, 1), (2, 3, 0)), np.array([0.7, -3.0]))
    asked = np.array([[1, 0], [0, 1], [3, 2], [2, 3], [5, 6]])
    np.testing.assert_array_equal(reverses.signs(asked), [1, 0, -1, 0, 0])
    np.testing.assert_array_equal(reverses.z(asked), [-3.0, 0.0, 0.7, 0.0, 0.0])


def test_contradicting_labels_say_nothing() -> None:
    reverses = ReverseLabels(labelled((0, 1, 1), (0, 1, 0)), np.array([1.0, -1.0]))
    assert reverses.z(np.array([[1, 0]])) == 0


@pytest.mark.parametrize("every", [2, 20], ids=["half positive", "one in twenty"])
def test_without_pairs_in_both_orders_it_says_nothing(every: int) -> None:
    one_order = labelled(*((i, i + 1, int(i % every == 0)) for i in range(0, 800, 2)))
    assert np.abs(ReverseLabels.learned(one_order, "both").weights).max() < 1e-9


def test_without_labels_nothing_is_known() -> None:
    assert ReverseLabels.learned(labelled(), "both").z(np.array([[0, 1]])) == 0
