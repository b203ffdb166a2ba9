"""The hypergraph operator against the paper's formula, entry by entry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

from proprl.errors import ProprlError
from proprl.graphs import hypergraph_operator

shapes = hnp.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=7)
incidences = hnp.arrays(np.bool_, shapes).map(lambda M: M.astype(np.float64))


def by_loops(M: np.ndarray) -> np.ndarray:
    n, m = M.shape
    P = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            shared = [r for r in range(m) if M[i, r] and M[j, r]]
            for r in shared:
                P[i, j] += 1 / M[:, r].sum() / np.sqrt(M[i].sum() * M[j].sum())
    return P


@given(incidences)
def test_the_operator_equals_the_dense_formula(M):
    P = hypergraph_operator(csr_array(M))
    np.testing.assert_allclose(P.toarray(), by_loops(M), rtol=1e-12)
    assert P.format == "csr"
    assert P.dtype == np.float64


@given(incidences)
def test_the_operator_is_symmetric_with_eigenvalues_between_zero_and_one(M):
    P = hypergraph_operator(csr_array(M)).toarray()
    np.testing.assert_array_equal(P, P.T)
    eigenvalues = np.linalg.eigvalsh(P)
    assert (eigenvalues > -1e-12).all()
    assert (eigenvalues < 1 + 1e-12).all()


def test_the_square_roots_of_the_concept_degrees_are_kept_in_place():
    M = np.array([[1.0, 1.0], [1.0, 0.0]])
    P = hypergraph_operator(csr_array(M))
    # degrees: concepts 2 and 1, resources 2 and 1; so 1/2·(1/2 + 1), 1/√2·1/2, 1·1/2
    np.testing.assert_allclose(P.toarray(), [[0.75, 8**-0.5], [8**-0.5, 0.5]])


def test_a_concept_without_resource_and_a_resource_without_concept_give_zeros():
    M = np.array([[1.0, 0.0], [0.0, 0.0]])
    P = hypergraph_operator(csr_array(M)).toarray()
    np.testing.assert_array_equal(P, [[1, 0], [0, 0]])


@pytest.mark.parametrize("shape", [(0, 0), (0, 2), (2, 0), (3, 2)])
def test_no_links_give_a_zero_operator(shape):
    P = hypergraph_operator(csr_array(shape))
    assert P.shape == (shape[0], shape[0])
    assert P.nnz == 0


def test_one_concept_in_one_resource_hears_itself():
    assert hypergraph_operator(csr_array(np.ones((1, 1))))[0, 0] == 1


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_a_bad_entry_is_named_with_its_place(bad):
    with pytest.raises(ProprlError, match=r"incidence matrix holds .* at row 0, column 1"):
        hypergraph_operator(csr_array(np.array([[1.0, bad]])))
