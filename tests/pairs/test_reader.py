"""Which of two concepts comes first, from known prerequisites and from what was read about them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from proprl.arrays import FloatArray, IntArray
from proprl.pairs.reader import READING_RIDGE, expected_order, reading_likeness

N = 7
EVERY = np.array([(a, b) for a in range(N) for b in range(N) if a != b])


def readings(seed: int) -> FloatArray:
    return np.random.default_rng(seed).normal(size=(N, 5))


def some_pairs(seed: int, m: int) -> IntArray:
    return np.random.default_rng(seed).permutation(EVERY)[:m]


def test_one_prerequisite_alone_is_expected_as_far_as_the_ridge_lets_it() -> None:
    # Two concepts that are not alike: k = 2 with itself, 1 with the other. So the pair is like
    # itself by 2 · 2 - 1 · 1 = 3, and (3 + ridge) w = 1.
    alike = np.array([[2.0, 1.0], [1.0, 2.0]])
    found = expected_order(np.array([[0, 1]]), alike)
    np.testing.assert_allclose(
        found, 3 / (3 + READING_RIDGE) * np.array([[0, 1], [-1, 0]]), atol=1e-12
    )


@settings(max_examples=25)
@given(st.integers(0, 1_000), st.integers(1, 20))
def test_it_is_the_ridge_regression_of_every_pair_and_its_reverse(seed: int, m: int) -> None:
    """Worked out with both orders written down, as ordinary kernel ridge regression."""
    alike, pairs = reading_likeness(readings(seed)), some_pairs(seed, m)
    both, y = np.vstack([pairs, pairs[:, ::-1]]), np.repeat([1.0, -1.0], m)
    asked = np.array([(a, b) for a in range(N) for b in range(N)])

    def k(p: IntArray, q: IntArray) -> FloatArray:
        same = alike[np.ix_(p[:, 0], q[:, 0])] * alike[np.ix_(p[:, 1], q[:, 1])]
        turned = alike[np.ix_(p[:, 0], q[:, 1])] * alike[np.ix_(p[:, 1], q[:, 0])]
        return (same - turned) / 2

    w = np.linalg.solve(k(both, both) + READING_RIDGE * np.eye(2 * m), y)
    found = expected_order(pairs, alike)
    np.testing.assert_allclose(found, (k(asked, both) @ w).reshape(N, N), atol=0.02)
    np.testing.assert_allclose(found, -found.T, atol=1e-9)


def test_a_line_of_levels_is_learned_from_few_steps_and_holds_for_steps_never_seen() -> None:
    rng = np.random.default_rng(0)
    level = rng.permutation(30)
    # One direction of many tells the level, as in a language model's states.
    R = np.outer(level / 10, rng.normal(size=64)) + rng.normal(size=(30, 64))
    every = np.array([(a, b) for a in range(30) for b in range(30) if level[a] < level[b]])
    shuffled = rng.permutation(every)
    known, asked = shuffled[:60], shuffled[60:]
    found = expected_order(known, reading_likeness(R))
    assert (found[tuple(asked.T)] > 0).mean() > 0.9


def test_without_a_known_prerequisite_nothing_is_expected() -> None:
    none = np.empty((0, 2), dtype=np.int64)
    np.testing.assert_array_equal(expected_order(none, reading_likeness(readings(0))), 0.0)


def test_likeness_is_one_plus_the_cosine_of_standardised_readings() -> None:
    R = readings(4)
    Z = (R - R.mean(axis=0)) / R.std(axis=0)
    cosine = Z @ Z.T / np.linalg.norm(Z, axis=1) / np.linalg.norm(Z, axis=1)[:, None]
    np.testing.assert_allclose(reading_likeness(R), 1 + cosine)


def test_a_concept_that_nobody_read_about_changes_nothing_for_the_others() -> None:
    R = readings(4)
    alike = reading_likeness(np.vstack([R, np.zeros(5)]))
    np.testing.assert_allclose(alike[:N, :N], reading_likeness(R))
    np.testing.assert_array_equal(alike[N], 1.0)
