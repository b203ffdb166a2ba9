"""What became of pairs like this one, and of concepts like its two.

Five concepts: 0 leads to 1 and 3, both lead to 2, 2 leads to 4. Not prerequisites: 3 of 4, 4 of 1.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proprl.arrays import FloatArray
from proprl.data.splits.labelled import LabelledPairs
from proprl.pairs.labels import label_columns
from proprl.pairs.like_pairs import (
    FEW_DIGITS,
    LITTLE,
    NEAR,
    OWN,
    RIDGE,
    WITHIN,
    expected_labels,
    likeness,
    nearness,
    role_affinity,
)

N = 5
YES = [(0, 1), (0, 3), (1, 2), (3, 2), (2, 4)]
NO = [(3, 4), (4, 1)]
KNOWN = LabelledPairs(np.array(YES + NO), np.array([1] * len(YES) + [0] * len(NO)))
NOBODY_ALIKE = np.eye(N, dtype=np.float32)


def labelled(labels: dict[tuple[int, int], int]) -> LabelledPairs:
    rows = np.array([(*pair, label) for pair, label in labels.items()], dtype=np.int64)
    return LabelledPairs(rows.reshape(-1, 3)[:, :2], rows.reshape(-1, 3)[:, 2])


def value(name: str, a: int, b: int, near: FloatArray | None = None) -> float:
    columns = label_columns(KNOWN, {} if near is None else {"texts": near}, N)
    place = [column.name for column in columns.columns].index(name)
    return float(columns.rows(np.array([[a, b]]))[0, place])


def test_nearness_is_one_for_the_same_and_falls_by_its_width() -> None:
    affinity = np.array([[1.0, 1 - NEAR], [1 - 2 * NEAR, 1.0]])
    expected = [[1, np.exp(-1)], [np.exp(-2), 1]]
    np.testing.assert_allclose(nearness(affinity), expected, rtol=1e-6)


def test_where_nobody_is_alike_only_a_pairs_own_label_has_a_rate() -> None:
    rate = "rate of like pairs by texts"
    assert value(rate, 0, 1, NOBODY_ALIKE) == pytest.approx(1 / (1 + LITTLE))
    # There are 5 positives to 2 negatives: each of these counts 2.5 times.
    assert value(rate, 3, 4, NOBODY_ALIKE) == pytest.approx(-2.5 / (1 + LITTLE))
    assert value(rate, 0, 4, NOBODY_ALIKE) == 0


def test_a_pair_is_rated_by_pairs_of_like_concepts() -> None:
    near = NOBODY_ALIKE.copy()
    near[1, 2] = near[2, 1] = 0.5
    # Of pairs from 1 or 2 to 4, only (2, 4) has a label.
    both = "rate of like pairs by texts"
    assert value(both, 1, 4, near) == pytest.approx(0.5 / (0.5 + LITTLE))
    # 4 is not a prerequisite of 1, nor then of what is like 1.
    first = "rate of the first with concepts like the second by texts"
    assert value(first, 0, 2, near) == pytest.approx(0.5 / (0.5 + LITTLE))
    assert value(first, 4, 2, near) == 0
    second = "rate of concepts like the first with the second by texts"
    assert value(second, 1, 4, near) == pytest.approx(0.5 / (0.5 + LITTLE))
    assert value(second, 4, 2, near) == 0  # no label of a pair (like 4, 2)


def test_concepts_like_this_one_come_first_or_later() -> None:
    near = NOBODY_ALIKE.copy()
    near[0, 4] = near[4, 0] = 0.5
    # 0 comes first in two pairs; 4, half as much like it, later in one.
    name = "like concepts rather first by texts"
    assert value(f"{name} of the first", 0, 1, near) == pytest.approx(2 / (2 + 0.5 + LITTLE))
    assert value(f"{name} of the first", 4, 1, near) == pytest.approx(1 / (1 + 1 + LITTLE))
    assert value(f"{name}, difference", 1, 3, near) == 0


labels_of_pairs = st.dictionaries(
    st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).filter(lambda p: p[0] != p[1]),
    st.integers(0, 1),
    max_size=12,
)


@given(labels_of_pairs, st.integers(0, 2**32 - 1))
def test_rates_are_weighted_means_over_all_labelled_pairs(
    labels: dict[tuple[int, int], int], seed: int
) -> None:
    half = np.random.default_rng(seed).random((N, N))
    near = ((half + half.T) / 2).astype(np.float32)
    np.fill_diagonal(near, 1)
    positives = sum(labels.values())
    balance = positives / max(len(labels) - positives, 1)
    known = labelled(labels)
    found = label_columns(known, {"moves": near}, N)
    names = [column.name for column in found.columns]
    asked = np.array([(a, b) for a in range(N) for b in range(N) if a != b])
    rows = found.rows(asked)
    for (a, b), row in zip(asked.tolist(), rows, strict=True):
        like = {(c, d): float(near[a, c] * near[b, d]) for c, d in labels}
        signs = {p: 1.0 if y else -balance for p, y in labels.items()}
        signed = sum(like[p] * signs[p] for p in labels)
        expected = {
            "rate of like pairs by moves": signed / (sum(like.values()) + LITTLE),
            "rate of the first with concepts like the second by moves": sum(
                float(near[d, b]) * y for (c, d), y in labels.items() if c == a
            )
            / (sum(float(near[d, b]) for c, d in labels if c == a) + LITTLE),
            "rate of concepts like the first with the second by moves": sum(
                float(near[a, c]) * y for (c, d), y in labels.items() if d == b
            )
            / (sum(float(near[a, c]) for c, d in labels if d == b) + LITTLE),
        }
        for name, number in expected.items():
            assert row[names.index(name)] == pytest.approx(number, rel=1e-3, abs=1e-4)


# Roles

CONCEPTS = 6


def unlike() -> FloatArray:
    """Concepts of which none is like another."""
    return likeness([np.where(np.eye(CONCEPTS) > 0, 1.0, -99.0)])


def of_triples(*triples: tuple[int, int, int]) -> LabelledPairs:
    table = np.array(triples, dtype=np.int64).reshape(-1, 3)
    return LabelledPairs(table[:, :2], table[:, 2])


def test_concepts_are_alike_as_all_sources_say_together() -> None:
    by_texts = np.array([[1.0, 1.0], [1.0, 1.0]])
    by_moves = np.array([[1.0, 1 - WITHIN], [1 - WITHIN, 1.0]])
    between = (1 - OWN) * (1 + np.exp(-1)) / 2
    np.testing.assert_allclose(likeness([by_texts, by_moves]), [[1, between], [between, 1]])


def test_a_pair_unlike_all_others_is_expected_to_be_as_labelled_and_no_other_pair_changes() -> None:
    expected = expected_labels(of_triples((0, 1, 1), (2, 3, 0)), unlike())
    # One equation each: (1 + ridge) w = ±1, and the pair's own likeness to itself is 1.
    assert expected[0, 1] == pytest.approx(1 / (1 + RIDGE))
    assert expected[2, 3] == pytest.approx(-1 / (1 + RIDGE))
    assert abs(expected).sum() == pytest.approx(2 / (1 + RIDGE))


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_expected_labels_solve_the_ridge_regression(seed: int) -> None:
    rng = np.random.default_rng(seed)
    unit = rng.normal(size=(CONCEPTS, 3))
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    alike = likeness([unit @ unit.T])
    pairs, labels = rng.integers(0, CONCEPTS, (9, 2)), rng.integers(0, 2, 9)
    A = np.array([[alike[a, c] * alike[b, d] for c, d in pairs] for a, b in pairs])
    w = np.linalg.solve(A + RIDGE * np.eye(9), 2.0 * labels - 1)
    wanted = [
        [
            sum(w[i] * alike[a, c] * alike[b, d] for i, (c, d) in enumerate(pairs))
            for b in range(CONCEPTS)
        ]
        for a in range(CONCEPTS)
    ]
    expected = expected_labels(LabelledPairs(pairs, labels), alike)
    np.testing.assert_allclose(expected, wanted, atol=10 * FEW_DIGITS["rtol"])


def test_concepts_with_the_same_dependents_and_prerequisites_play_the_same_role() -> None:
    # 0 and 1 lead to 2 and 3; 4 does not, and 5 stands apart.
    known = of_triples((0, 2, 1), (0, 3, 1), (1, 2, 1), (1, 3, 1), (4, 2, 0), (4, 3, 0))
    affinity = role_affinity(known, unlike())
    assert affinity[0, 1] == pytest.approx(1.0)
    assert affinity[2, 3] == pytest.approx(1.0)
    assert affinity[0, 4] < affinity[0, 5] < affinity[0, 1]
    np.testing.assert_allclose(affinity, affinity.T)
    assert abs(affinity).max() <= 1 + 1e-9


def test_without_labels_nobody_plays_a_role() -> None:
    assert not role_affinity(LabelledPairs.empty(), unlike()).any()
