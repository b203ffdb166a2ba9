"""Which of two concepts comes first, from known prerequisites and from what concepts are like."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from proprl.models import order
from proprl.models.order import (
    OWN,
    RIDGE,
    WEIGHT,
    expected_order,
    order_by_others,
    ordered_logits,
    reading_likeness,
)

N = 7


def readings(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(N, 5))


def some_pairs(seed: int, m: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    every = np.array([(a, b) for a in range(N) for b in range(N) if a != b])
    return every[rng.permutation(len(every))[:m]]


def test_one_prerequisite_alone_is_expected_as_far_as_the_ridge_lets_it() -> None:
    # Two concepts that are not alike: k = 2 with itself, 1 with the other, so the lesson's
    # likeness to itself is 2 · 2 - 1 · 1 = 3, and (3 + ridge) w = 1.
    alike = np.array([[2.0, 1.0], [1.0, 2.0]])
    found = expected_order(np.array([[0, 1]]), alike)
    np.testing.assert_allclose(found, 3 / (3 + RIDGE) * np.array([[0, 1], [-1, 0]]), atol=1e-12)


@given(st.integers(0, 1_000), st.integers(1, 20), st.sampled_from([0, 4_000]))
def test_it_is_the_ridge_regression_of_a_lesson_and_its_reverse(
    seed: int, m: int, at_once: int
) -> None:
    """Worked out with every lesson written down twice, as ordinary kernel ridge regression."""
    alike, pairs = reading_likeness(readings(seed)), some_pairs(seed, m)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(order, "AT_ONCE", at_once)  # step by step, and at once
        found = expected_order(pairs, alike)
    lessons = np.vstack([pairs, pairs[:, ::-1]])
    y = np.repeat([1.0, -1.0], m)
    asked = np.array([(a, b) for a in range(N) for b in range(N)])

    def k(p: np.ndarray, q: np.ndarray) -> np.ndarray:
        same = alike[np.ix_(p[:, 0], q[:, 0])] * alike[np.ix_(p[:, 1], q[:, 1])]
        turned = alike[np.ix_(p[:, 0], q[:, 1])] * alike[np.ix_(p[:, 1], q[:, 0])]
        return (same - turned) / 2

    w = np.linalg.solve(k(lessons, lessons) + RIDGE * np.eye(2 * m), y)
    expected = (k(asked, lessons) @ w).reshape(N, N)
    np.testing.assert_allclose(found, expected, atol=1e-8 if at_once else 0.02)
    np.testing.assert_allclose(found, -found.T, atol=1e-9)


@given(st.integers(0, 1_000), st.integers(1, 20))
def test_a_pair_is_ordered_as_if_its_own_lessons_had_never_been_learned(seed: int, m: int) -> None:
    """Lessons that stand there twice, and pairs that hold in both orders, included."""
    alike, known = reading_likeness(readings(seed)), some_pairs(seed, m)
    known = np.vstack([known, known[: m // 2], known[m // 3 : m // 2, ::-1]])
    asked = np.array([(a, b) for a in range(N) for b in range(N) if a != b])
    found = order_by_others(asked, known, alike)
    for pair, order_of_pair in zip(asked, found, strict=True):
        own = (np.sort(known, axis=1) == np.sort(pair)).all(axis=1)
        expected = expected_order(known[~own], alike)[tuple(pair)]
        np.testing.assert_allclose(order_of_pair, expected, atol=1e-9)


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


def test_the_order_shares_out_what_is_believed_of_both_orders() -> None:
    # p = q = 0.8: together 0.96; nothing known of the order gives half of it to each.
    z = np.full(1, logit(0.8))
    assert expit(ordered_logits(z, z, np.zeros(1)))[0] == pytest.approx(0.48)
    first = expit(ordered_logits(z, z, np.ones(1)))[0]
    assert first == pytest.approx(0.96 * expit(WEIGHT))
    assert first + expit(ordered_logits(z, z, -np.ones(1)))[0] == pytest.approx(0.96)


def test_what_learners_say_of_the_order_counts_beside_it() -> None:
    z, reverse = np.array([logit(0.8)]), np.array([logit(0.2)])
    share = expit(OWN * np.log(0.8 / 0.2) + WEIGHT * 0.1)
    together = 1 - 0.2 * 0.8
    found = expit(ordered_logits(z, reverse, np.array([0.1])))
    assert found[0] == pytest.approx(together * share)
