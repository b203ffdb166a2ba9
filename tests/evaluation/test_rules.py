"""Answers without a model, worked out by hand."""

from __future__ import annotations

import numpy as np

from proprl.data.splits.labelled import LabelledPairs
from proprl.evaluation.rules import degree_rule, memorised_labels


def test_a_memoriser_repeats_labels_and_turns_those_of_reverses() -> None:
    train = LabelledPairs(np.array([[0, 1], [1, 0], [2, 3]]), np.array([1, 1, 1]))
    # (1, 0) has a label of its own, which comes before the opposite of its reverse's.
    pairs = np.array([[1, 0], [2, 3], [3, 2], [0, 3]])
    assert memorised_labels(train, pairs) == [1, 1, 0, None]


def test_the_rule_of_degrees() -> None:
    """0 is a source twice, 1 once; 1 is a target once, 2 twice. Negatives count nothing."""
    known = LabelledPairs(np.array([[0, 1], [0, 2], [1, 2], [2, 0]]), np.array([1, 1, 1, 0]))
    pairs = np.array([[0, 2], [0, 1], [1, 2], [2, 1], [3, 2]])
    assert degree_rule(known, pairs).tolist() == [4, 2, 2, 0, 0]
