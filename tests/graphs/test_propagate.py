"""Personalised propagation against its definition and its closed form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

from proprl.errors import ProprlError
from proprl.graphs import normalise_rows, propagate, propagation_operator

alphas = st.floats(0.01, 1.0)
steps = st.integers(0, 6)
values = st.integers(-20, 20).map(float)


@st.composite
def graphs_and_features(draw: st.DrawFn) -> tuple[csr_array, np.ndarray]:
    n = draw(st.integers(0, 5))
    B = draw(hnp.arrays(np.float64, (n, n), elements=st.integers(0, 3).map(float)))
    Q = draw(hnp.arrays(np.float64, (n, draw(st.integers(0, 3))), elements=values))
    return normalise_rows(csr_array(B)), Q


def by_loops(A: np.ndarray, Q: np.ndarray, alpha: float, k: int) -> np.ndarray:
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
    expected = by_loops(A.toarray(), Q, alpha, k)
    np.testing.assert_allclose(propagate(A, Q, alpha, k), expected, rtol=1e-10, atol=1e-12)


@given(graphs_and_features(), alphas, steps)
def test_the_operator_equals_the_closed_form_and_its_rows_sum_to_one(graph, alpha, k):
    A, _ = graph
    S = propagation_operator(A, alpha, k)
    np.testing.assert_allclose(S, closed_form(A.toarray(), alpha, k), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(S.sum(axis=1), 1, rtol=1e-12)


@given(graphs_and_features(), alphas, steps)
def test_steps_and_operator_agree(graph, alpha, k):
    A, Q = graph
    stepped = propagate(A, Q, alpha, k)
    np.testing.assert_allclose(
        propagation_operator(A, alpha, k) @ Q, stepped, rtol=1e-10, atol=1e-12
    )


@given(graphs_and_features(), steps)
def test_full_restart_returns_the_features(graph, k):
    A, Q = graph
    np.testing.assert_array_equal(propagate(A, Q, 1.0, k), Q)


@given(graphs_and_features(), alphas)
def test_no_steps_return_the_features(graph, alpha):
    A, Q = graph
    np.testing.assert_array_equal(propagate(A, Q, alpha, 0), Q)


@given(alphas, steps)
def test_one_concept_alone_hears_only_itself(alpha, k):
    Q = np.array([[3.0, -2.0]])
    np.testing.assert_allclose(propagate(csr_array(np.eye(1)), Q, alpha, k), Q)


def test_a_concept_without_any_edge_keeps_only_its_restart():
    A = csr_array((1, 1))  # not even a self-loop: every step gives 0.75 · 0 + 0.25 · 8
    np.testing.assert_array_equal(propagate(A, np.array([[8.0]]), 0.25, 2), [[2.0]])


def test_evidence_travels_as_many_hops_as_steps():
    A = normalise_rows(csr_array(np.array([[0.0, 1, 0], [0, 0, 1], [0, 0, 0]])))
    Q = np.array([[0.0], [0.0], [1.0]])
    assert propagate(A, Q, 0.5, 1)[0, 0] == 0
    assert propagate(A, Q, 0.5, 2)[0, 0] > 0


def test_the_result_is_a_new_array():
    Q = np.ones((2, 1))
    Z = propagate(csr_array(np.eye(2)), Q, 0.5, 0)
    Z[0] = 7
    np.testing.assert_array_equal(Q, np.ones((2, 1)))


@pytest.mark.parametrize("alpha", [0.0, -0.1, 1.1, np.nan])
def test_alpha_outside_its_range_is_refused(alpha):
    with pytest.raises(ProprlError, match=r"alpha must lie in \(0, 1\]"):
        propagate(csr_array(np.eye(2)), np.ones((2, 1)), alpha, 1)


@pytest.mark.parametrize("k", [-1, 1.5])
def test_steps_must_be_a_whole_number_from_zero_up(k):
    with pytest.raises(ProprlError, match="whole number"):
        propagation_operator(csr_array(np.eye(2)), 0.5, k)


@pytest.mark.parametrize("Q", [np.ones((3, 1)), np.ones(2)])
def test_features_must_have_one_row_per_concept(Q):
    with pytest.raises(ProprlError, match="one row for each of the graph's 2 concepts"):
        propagate(csr_array(np.eye(2)), Q, 0.5, 1)


def test_an_oblong_graph_is_refused():
    with pytest.raises(ProprlError, match="square"):
        propagate(csr_array((2, 3)), np.ones((2, 1)), 0.5, 1)
    with pytest.raises(ProprlError, match="square"):
        propagation_operator(csr_array((2, 3)), 0.5, 1)
