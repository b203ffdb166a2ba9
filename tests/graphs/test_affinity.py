"""How alike concepts are."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from proprl.graphs.affinity import behaviour_affinity, text_affinity, visits


def test_equal_texts_are_alike_and_scale_does_not_matter() -> None:
    X = np.array([[1.0, 2.0], [2.0, 4.0], [0.0, 1.0], [5.0, 0.0]])
    affinity = text_affinity(X)
    centred = X - X.mean(axis=0)
    cosine = centred[0] @ centred[1] / np.linalg.norm(centred[0]) / np.linalg.norm(centred[1])
    np.testing.assert_allclose(affinity[0, 1], cosine)
    np.testing.assert_allclose(np.diag(affinity), 1.0)
    np.testing.assert_allclose(text_affinity(10 * X), affinity)


def test_texts_that_all_say_the_same_say_nothing() -> None:
    assert not text_affinity(np.ones((3, 2))).any()


def test_concepts_between_the_same_neighbours_are_alike() -> None:
    # From each of eight concepts learners go on to 8 or 9, and from there to eight others.
    B = np.zeros((19, 19))
    B[:8, 8:10] = 7.0
    B[8:10, 10:18] = 7.0
    affinity = behaviour_affinity(csr_array(B))
    np.testing.assert_allclose(affinity, affinity.T)
    assert affinity[8, 9] > affinity[8, 0] > affinity[8, 18]
    assert affinity[0, 1] > affinity[0, 10]


def test_a_walk_is_always_somewhere() -> None:
    B = csr_array(np.array([[0.0, 3.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))
    share = visits(B, weighting="count")
    np.testing.assert_allclose(share.sum(axis=1), 1.0)
    assert share[0, 2] > share[2, 0] == 0
