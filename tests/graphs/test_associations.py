"""Associated concepts and similar resources, against pairwise computations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from proprl.errors import ProprlError
from proprl.graphs import associations
from proprl.graphs.associations import associated_concepts, similar_rows
from proprl.graphs.evidence import Evidence
from proprl.graphs.resources import mean_of_concepts, resource_vectors


def test_association_is_the_logarithm_of_lift_where_positive() -> None:
    M = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 0]], dtype=float)
    got = associated_concepts(csr_array(M)).toarray()
    # Concepts 0 and 1 share 2 of 4 resources; alone they have 2 and 3: 2·4 / (2·3).
    expected = np.zeros((4, 4))
    expected[0, 1] = expected[1, 0] = math.log10(8 / 6)
    # Concepts 1 and 2 share 1 of 4, with 3 and 2: 4 / 6 is less than chance.
    np.testing.assert_allclose(got, expected)


def test_similar_rows_are_those_of_a_high_cosine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(associations, "_BLOCK", 3)  # several blocks, the last one partial
    V = np.random.default_rng(0).normal(size=(8, 2))
    V[5] = 0  # a resource without concepts is like nothing
    got = similar_rows(V, 0.7).toarray()
    for i in range(8):
        for j in range(8):
            lengths = np.linalg.norm(V[i]) * np.linalg.norm(V[j])
            cosine = V[i] @ V[j] / lengths if lengths else 0.0
            assert got[i, j] == pytest.approx(cosine if i != j and cosine >= 0.7 else 0.0)
    assert (got > 0).sum() > 4


def test_a_resource_is_its_own_vector_or_its_concepts_mean() -> None:
    X, M = np.array([[1.0, 0.0], [3.0, 2.0]]), csr_array(np.array([[1.0, 0, 1], [1.0, 0, 0]]))
    means = [[2.0, 1.0], [0.0, 0.0], [1.0, 0.0]]
    np.testing.assert_array_equal(mean_of_concepts(M, X), means)
    np.testing.assert_array_equal(resource_vectors(Evidence(X, incidence=M)), means)
    own = np.arange(9.0).reshape(3, 3)
    with_own = Evidence(X, incidence=M, resource_features=own)
    np.testing.assert_array_equal(resource_vectors(with_own), own)
    with pytest.raises(ProprlError, match=r"add resources\.csv"):
        resource_vectors(Evidence(X))
