"""Transition counts against a walk through each learner's sequence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proprl.errors import ProprlError, UnknownConceptError
from proprl.graphs import count_transitions

N = 5
sequences = st.lists(st.lists(st.integers(0, N - 1), max_size=8), max_size=5)


def by_walking(sequences: list[list[int]], n: int) -> np.ndarray:
    B = np.zeros((n, n))
    for sequence in sequences:
        for t in range(len(sequence) - 1):
            if sequence[t] != sequence[t + 1]:
                B[sequence[t], sequence[t + 1]] += 1
    return B


def as_events(sequences: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    learners = [u for u, sequence in enumerate(sequences) for _ in sequence]
    concepts = [c for sequence in sequences for c in sequence]
    return np.array(learners, dtype=np.int64), np.array(concepts, dtype=np.int64)


@given(sequences)
def test_counts_equal_a_walk_through_every_sequence(sequences):
    B = count_transitions(*as_events(sequences), N)
    np.testing.assert_array_equal(B.toarray(), by_walking(sequences, N))
    assert B.format == "csr"
    assert B.dtype == np.float64
    assert B.has_canonical_format


def test_the_last_event_of_one_learner_does_not_lead_to_the_first_of_the_next():
    B = count_transitions(np.array([0, 1]), np.array([0, 1]), 2)
    assert B.nnz == 0


def test_a_repeated_concept_is_no_transition_but_what_follows_it_is():
    B = count_transitions(np.array([0, 0, 0, 0]), np.array([0, 0, 0, 1]), 2)
    np.testing.assert_array_equal(B.toarray(), [[0, 1], [0, 0]])


def test_learners_may_stand_in_any_order_if_each_ones_events_stand_together():
    B = count_transitions(np.array([9, 9, 2, 2]), np.array([0, 1, 0, 1]), 2)
    assert B[0, 1] == 2


@pytest.mark.parametrize("n", [0, 1, 3])
def test_no_events_give_an_empty_graph(n):
    none = np.array([], dtype=np.int64)
    B = count_transitions(none, none, n)
    assert B.shape == (n, n)
    assert B.nnz == 0


def test_one_event_gives_an_empty_graph():
    assert count_transitions(np.array([0]), np.array([0]), 1).nnz == 0


@pytest.mark.parametrize("concept", [-1, 2])
def test_a_concept_outside_the_course_is_named(concept):
    with pytest.raises(UnknownConceptError, match=f"event 1 has concept {concept}.*2 concepts"):
        count_transitions(np.array([0, 0]), np.array([0, concept]), 2)


def test_events_of_a_learner_that_are_apart_are_refused():
    with pytest.raises(ProprlError, match="learner 4 do not stand together: sort"):
        count_transitions(np.array([4, 5, 4]), np.array([0, 1, 0]), 2)


def test_lists_of_different_length_are_refused():
    with pytest.raises(ProprlError, match="same length"):
        count_transitions(np.array([0, 0]), np.array([0]), 2)


def test_fractional_concepts_are_refused():
    with pytest.raises(ProprlError, match="whole-number"):
        count_transitions(np.array([0, 0]), np.array([0.0, 1.5]), 2)
