"""How alike concepts and resources are, against pairwise computations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from proprl.graphs import affinity
from proprl.graphs.affinity import (
    associated_concepts,
    behaviour_affinity,
    similar_rows,
    text_affinity,
    visits,
)


def test_equal_texts_are_alike_and_scale_does_not_matter() -> None:
    X = np.array([[1.0, 2.0], [2.0, 4.0], [0.0, 1.0], [5.0, 0.0]])
    found = text_affinity(X)
    centred = X - X.mean(axis=0)
    cosine = centred[0] @ centred[1] / np.linalg.norm(centred[0]) / np.linalg.norm(centred[1])
    np.testing.assert_allclose(found[0, 1], cosine)
    np.testing.assert_allclose(np.diag(found), 1.0)
    np.testing.assert_allclose(text_affinity(10 * X), found)


def test_texts_that_all_say_the_same_say_nothing() -> None:
    assert not text_affinity(np.ones((3, 2))).any()


def test_concepts_between_the_same_neighbours_are_alike() -> None:
    # From each of eight concepts learners go on to 8 or 9, and from there to eight others.
    B = np.zeros((19, 19))
    B[:8, 8:10] = 7.0
    B[8:10, 10:18] = 7.0
    found = behaviour_affinity(csr_array(B))
    np.testing.assert_allclose(found, found.T)
    assert found[8, 9] > found[8, 0] > found[8, 18]
    assert found[0, 1] > found[0, 10]


def test_a_walk_is_always_somewhere() -> None:
    B = csr_array(np.array([[0.0, 3.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))
    share = visits(B, weighting="count")
    np.testing.assert_allclose(share.sum(axis=1), 1.0)
    assert share[0, 2] > share[2, 0] == 0


def test_association_is_the_logarithm_of_lift_where_positive() -> None:
    M = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 0]], dtype=float)
    got = associated_concepts(csr_array(M)).toarray()
    # Concepts 0 and 1 share 2 of 4 resources; alone they have 2 and 3: 2·4 / (2·3).
    expected = np.zeros((4, 4))
    expected[0, 1] = expected[1, 0] = math.log10(8 / 6)
    # Concepts 1 and 2 share 1 of 4, with 3 and 2: 4 / 6 is less than chance.
    np.testing.assert_allclose(got, expected)


def test_similar_rows_are_those_of_a_high_cosine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(affinity, "_BLOCK", 3)  # several blocks, the last one partial
    V = np.random.default_rng(0).normal(size=(8, 2))
    V[5] = 0  # a resource without concepts is like nothing
    got = similar_rows(V, 0.7).toarray()
    for i in range(8):
        for j in range(8):
            lengths = np.linalg.norm(V[i]) * np.linalg.norm(V[j])
            cosine = V[i] @ V[j] / lengths if lengths else 0.0
            assert got[i, j] == pytest.approx(cosine if i != j and cosine >= 0.7 else 0.0)
    assert (got > 0).sum() > 4
