"""The paper's matrices against textbook loops and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

from proprl.graphs.matrices import (
    count_transitions,
    hypergraph_operator,
    normalise_rows,
    propagation_operator,
    standardise_columns,
)

# Moves

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


# Rows that sum to one

squares = st.integers(0, 6).flatmap(
    lambda n: hnp.arrays(np.float64, (n, n), elements=st.sampled_from([0.0, 0.0, 0.5, 1.0, 2e4]))
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


def test_the_given_matrix_is_left_alone():
    B = csr_array(np.array([[0.0, 3.0], [1.0, 0.0]]))
    normalise_rows(B, weighting="log1p")
    np.testing.assert_array_equal(B.toarray(), [[0, 3], [1, 0]])


# Propagation

alphas = st.floats(0.01, 1.0)
steps = st.integers(0, 6)
values = st.integers(-20, 20).map(float)


@st.composite
def graphs_and_features(draw: st.DrawFn) -> tuple[csr_array, np.ndarray]:
    n = draw(st.integers(0, 5))
    B = draw(hnp.arrays(np.float64, (n, n), elements=st.integers(0, 3).map(float)))
    Q = draw(hnp.arrays(np.float64, (n, draw(st.integers(0, 3))), elements=values))
    return normalise_rows(csr_array(B)), Q


def steps_by_loops(A: np.ndarray, Q: np.ndarray, alpha: float, k: int) -> np.ndarray:
    n, d = Q.shape
    Z = Q.copy()
    for _ in range(k):
        nxt = np.zeros((n, d))
        for i in range(n):
            for c in range(d):
                heard = sum(A[i, j] * Z[j, c] for j in range(n))
                nxt[i, c] = (1 - alpha) * heard + alpha * Q[i, c]
        Z = nxt
    return Z


def closed_form(A: np.ndarray, alpha: float, k: int) -> np.ndarray:
    S = (1 - alpha) ** k * np.linalg.matrix_power(A, k)
    for t in range(k):
        S = S + alpha * (1 - alpha) ** t * np.linalg.matrix_power(A, t)
    return S


@given(graphs_and_features(), alphas, steps)
def test_propagation_equals_its_definition(graph, alpha, k):
    A, Q = graph
    expected = steps_by_loops(A.toarray(), Q, alpha, k)
    np.testing.assert_allclose(
        propagation_operator(A, alpha, k) @ Q, expected, rtol=1e-10, atol=1e-12
    )


@given(graphs_and_features(), alphas, steps)
def test_the_operator_equals_the_closed_form_and_its_rows_sum_to_one(graph, alpha, k):
    A, _ = graph
    S = propagation_operator(A, alpha, k)
    np.testing.assert_allclose(S, closed_form(A.toarray(), alpha, k), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(S.sum(axis=1), 1, rtol=1e-12)


@given(graphs_and_features(), steps)
def test_full_restart_returns_the_features(graph, k):
    A, Q = graph
    np.testing.assert_array_equal(propagation_operator(A, 1.0, k) @ Q, Q)


@given(graphs_and_features(), alphas)
def test_no_steps_return_the_features(graph, alpha):
    A, Q = graph
    np.testing.assert_array_equal(propagation_operator(A, alpha, 0) @ Q, Q)


@given(alphas, steps)
def test_one_concept_alone_hears_only_itself(alpha, k):
    Q = np.array([[3.0, -2.0]])
    np.testing.assert_allclose(propagation_operator(csr_array(np.eye(1)), alpha, k) @ Q, Q)


def test_a_concept_without_any_edge_keeps_only_its_restart():
    A = csr_array((1, 1))  # not even a self-loop: every step gives 0.75 · 0 + 0.25 · 8
    np.testing.assert_array_equal(propagation_operator(A, 0.25, 2) @ [[8.0]], [[2.0]])


def test_evidence_travels_as_many_hops_as_steps():
    A = normalise_rows(csr_array(np.array([[0.0, 1, 0], [0, 0, 1], [0, 0, 0]])))
    assert propagation_operator(A, 0.5, 1)[0, 2] == 0
    assert propagation_operator(A, 0.5, 2)[0, 2] > 0


# The hypergraph of resources

shapes = hnp.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=7)
incidences = hnp.arrays(np.bool_, shapes).map(lambda M: M.astype(np.float64))


def operator_by_loops(M: np.ndarray) -> np.ndarray:
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
    np.testing.assert_allclose(P.toarray(), operator_by_loops(M), rtol=1e-12)
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


# Standardised features

matrices = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6),
    elements=st.integers(-1000, 1000).map(lambda v: v / 8),
)


def columns_by_loops(X: np.ndarray) -> np.ndarray:
    n, d = X.shape
    out = np.zeros((n, d))
    for j in range(d):
        mean = math.fsum(X[:, j]) / n
        variance = math.fsum((x - mean) ** 2 for x in X[:, j]) / n
        for i in range(n):
            out[i, j] = (X[i, j] - mean) / math.sqrt(variance) if len(set(X[:, j])) > 1 else 0.0
    return out


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
