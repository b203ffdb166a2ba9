"""Row normalisation and standardisation against textbook loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import coo_array, csr_array

from proprl.errors import FeatureError, ProprlError
from proprl.graphs import normalise_rows, standardise_columns

squares = st.integers(0, 6).flatmap(
    lambda n: hnp.arrays(np.float64, (n, n), elements=st.sampled_from([0.0, 0.0, 0.5, 1.0, 2e4]))
)
matrices = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6),
    elements=st.integers(-1000, 1000).map(lambda v: v / 8),
)


def rows_by_loops(B: np.ndarray, weighting: str) -> np.ndarray:
    n = len(B)
    A = np.zeros((n, n))
    for i in range(n):
        row = [math.log(1 + B[i, j]) if weighting == "log1p" else B[i, j] for j in range(n)]
        row[i] += 1
        for j in range(n):
            A[i, j] = row[j] / sum(row)
    return A


def columns_by_loops(X: np.ndarray) -> np.ndarray:
    n, d = X.shape
    out = np.zeros((n, d))
    for j in range(d):
        mean = math.fsum(X[:, j]) / n
        variance = math.fsum((x - mean) ** 2 for x in X[:, j]) / n
        for i in range(n):
            out[i, j] = (X[i, j] - mean) / math.sqrt(variance) if len(set(X[:, j])) > 1 else 0.0
    return out


@given(squares, st.sampled_from(["count", "log1p"]))
def test_rows_equal_the_dense_formula(B, weighting):
    A = normalise_rows(csr_array(B), weighting=weighting)
    np.testing.assert_allclose(A.toarray(), rows_by_loops(B, weighting), rtol=1e-12)
    assert A.format == "csr"
    assert A.dtype == np.float64


@given(squares, st.sampled_from(["count", "log1p"]))
def test_rows_sum_to_one_and_keep_their_self_loop(B, weighting):
    A = normalise_rows(csr_array(B), weighting=weighting)
    np.testing.assert_allclose(A.sum(axis=1), 1.0, rtol=1e-12)
    assert (A.diagonal() > 0).all()


def test_a_concept_without_transitions_keeps_to_itself():
    A = normalise_rows(csr_array((3, 3)))
    np.testing.assert_array_equal(A.toarray(), np.eye(3))


@pytest.mark.parametrize("n", [0, 1])
def test_none_and_one_concept(n):
    np.testing.assert_array_equal(normalise_rows(csr_array((n, n))).toarray(), np.eye(n))


def test_the_incoming_direction_is_the_transpose_normalised_again():
    B = np.array([[0.0, 3.0], [1.0, 0.0]])
    A_in = normalise_rows(csr_array(B).T)
    np.testing.assert_allclose(A_in.toarray(), [[0.5, 0.5], [0.75, 0.25]])


def test_log1p_applies_to_the_sum_of_a_cell_stored_in_parts():
    parts = coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2))
    A = normalise_rows(parts, weighting="log1p")
    assert A[0, 1] == pytest.approx(math.log(4) / (1 + math.log(4)))


def test_the_given_matrix_is_left_alone():
    B = csr_array(np.array([[0.0, 3.0], [1.0, 0.0]]))
    normalise_rows(B, weighting="log1p")
    np.testing.assert_array_equal(B.toarray(), [[0, 3], [1, 0]])


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_a_bad_weight_is_named_with_its_place(bad):
    B = csr_array(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, bad, 0.0]]))
    with pytest.raises(ProprlError, match=r"row 2, column 1.*finite and not negative"):
        normalise_rows(B)


def test_a_row_too_large_to_sum_is_refused():
    with pytest.raises(ProprlError, match=r"row 0 .*too large"):
        normalise_rows(csr_array(np.array([[1e308, 1e308], [0.0, 0.0]])))


def test_an_oblong_matrix_is_refused():
    with pytest.raises(ProprlError, match="square"):
        normalise_rows(csr_array((2, 3)))


def test_an_unknown_weighting_lists_the_known_ones():
    with pytest.raises(ProprlError, match="'sqrt'; known: count, log1p"):
        normalise_rows(csr_array((2, 2)), weighting="sqrt")


@given(matrices)
def test_columns_equal_the_textbook_formula(X):
    np.testing.assert_allclose(standardise_columns(X), columns_by_loops(X), atol=1e-9)


@given(matrices)
def test_columns_have_mean_zero_and_variance_one_or_are_zero(X):
    Z = standardise_columns(X)
    varies = np.ptp(X, axis=0) > 0
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(Z.var(axis=0), varies.astype(float), atol=1e-12)


@pytest.mark.parametrize("n", range(1, 12))
def test_a_constant_column_is_exactly_zero_whatever_rounding_does_to_its_mean(n):
    # The mean of n times 0.1 is not 0.1 for some n, and then the plain formula gives ±1.
    np.testing.assert_array_equal(standardise_columns(np.full((n, 1), 0.1)), np.zeros((n, 1)))


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_very_small_and_very_large_columns_do_not_underflow_or_overflow(scale):
    Z = standardise_columns(np.array([[0.0], [2.0]]) * scale)
    np.testing.assert_allclose(Z, [[-1], [1]])


def test_standardising_leaves_the_given_matrix_alone():
    X = np.array([[1.0], [3.0]])
    standardise_columns(X)
    np.testing.assert_array_equal(X, [[1], [3]])


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_an_empty_matrix_keeps_its_shape(shape):
    assert standardise_columns(np.zeros(shape)).shape == shape


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_broken_column_is_named(bad):
    with pytest.raises(FeatureError, match="column 1"):
        standardise_columns(np.array([[0.0, bad], [1.0, 2.0]]))


def test_a_vector_is_not_a_feature_matrix():
    with pytest.raises(FeatureError, match="matrix"):
        standardise_columns(np.zeros(3))
