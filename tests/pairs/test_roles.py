"""Which concepts play the same role, from labels and from what concepts are like."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proprl.arrays import FloatArray
from proprl.data.splits.labelled import LabelledPairs
from proprl.pairs import roles
from proprl.pairs.roles import OWN, RIDGE, WITHIN, expected_labels, likeness, role_affinity

N = 6


def unlike() -> FloatArray:
    """Concepts of which none is like another."""
    return likeness([np.where(np.eye(N) > 0, 1.0, -99.0)])


def labelled(*triples: tuple[int, int, int]) -> LabelledPairs:
    table = np.array(triples, dtype=np.int64).reshape(-1, 3)
    return LabelledPairs(table[:, :2], table[:, 2])


def test_concepts_are_alike_as_all_sources_say_together() -> None:
    by_texts = np.array([[1.0, 1.0], [1.0, 1.0]])
    by_moves = np.array([[1.0, 1 - WITHIN], [1 - WITHIN, 1.0]])
    between = (1 - OWN) * (1 + np.exp(-1)) / 2
    np.testing.assert_allclose(likeness([by_texts, by_moves]), [[1, between], [between, 1]])


def test_a_pair_unlike_all_others_is_expected_to_be_as_labelled_and_no_other_pair_changes() -> None:
    expected = expected_labels(labelled((0, 1, 1), (2, 3, 0)), unlike())
    # One equation each: (1 + ridge) w = ±1, and the pair's own likeness to itself is 1.
    assert expected[0, 1] == pytest.approx(1 / (1 + RIDGE))
    assert expected[2, 3] == pytest.approx(-1 / (1 + RIDGE))
    assert abs(expected).sum() == pytest.approx(2 / (1 + RIDGE))


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_expected_labels_solve_the_ridge_regression(seed: int) -> None:
    rng = np.random.default_rng(seed)
    unit = rng.normal(size=(N, 3))
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    alike = likeness([unit @ unit.T])
    pairs, labels = rng.integers(0, N, (9, 2)), rng.integers(0, 2, 9)
    A = np.array([[alike[a, c] * alike[b, d] for c, d in pairs] for a, b in pairs])
    w = np.linalg.solve(A + RIDGE * np.eye(9), 2.0 * labels - 1)
    wanted = [
        [sum(w[i] * alike[a, c] * alike[b, d] for i, (c, d) in enumerate(pairs)) for b in range(N)]
        for a in range(N)
    ]
    expected = expected_labels(LabelledPairs(pairs, labels), alike)
    np.testing.assert_allclose(expected, wanted, atol=10 * roles.FEW_DIGITS["rtol"])


def test_concepts_with_the_same_dependents_and_prerequisites_play_the_same_role() -> None:
    # 0 and 1 lead to 2 and 3; 4 does not, and 5 stands apart.
    known = labelled((0, 2, 1), (0, 3, 1), (1, 2, 1), (1, 3, 1), (4, 2, 0), (4, 3, 0))
    affinity = role_affinity(known, unlike())
    assert affinity[0, 1] == pytest.approx(1.0)
    assert affinity[2, 3] == pytest.approx(1.0)
    assert affinity[0, 4] < affinity[0, 5] < affinity[0, 1]
    np.testing.assert_allclose(affinity, affinity.T)
    assert abs(affinity).max() <= 1 + 1e-9


def test_without_labels_nobody_plays_a_role() -> None:
    assert not role_affinity(LabelledPairs.empty(), unlike()).any()
