"""What the evidence container accepts, tidies and refuses."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix

from proprl.errors import FeatureError, ProprlError
from proprl.graphs.evidence import Evidence, mean_of_concepts, resource_vectors

X = np.arange(6.0).reshape(3, 2)
B = csr_array(np.array([[0.0, 4, 0], [0, 0, 1], [0, 0, 0]]))
M = csr_array(np.array([[1.0, 0], [1, 1], [0, 1]]))


def test_all_three_parts_are_kept_as_given():
    evidence = Evidence(X, B, M)
    assert evidence.concept_count == 3
    assert evidence.views == ("resource", "behaviour")
    np.testing.assert_array_equal(evidence.features, X)
    np.testing.assert_array_equal(evidence.transitions.toarray(), B.toarray())
    np.testing.assert_array_equal(evidence.incidence.toarray(), M.toarray())


@pytest.mark.parametrize(
    ("parts", "views"),
    [
        ({}, ()),
        ({"incidence": M}, ("resource",)),
        ({"transitions": B}, ("behaviour",)),
        ({"transitions": B, "incidence": M}, ("resource", "behaviour")),
    ],
)
def test_views_name_what_is_present(parts, views):
    assert Evidence(X, **parts).views == views


@pytest.mark.parametrize(
    "empty", [csr_array((3, 3)), csr_array((np.zeros(1), ([0], [1])), shape=(3, 3))]
)
def test_a_view_without_a_non_zero_entry_is_missing(empty):
    evidence = Evidence(X, transitions=empty, incidence=empty)
    assert evidence.transitions is None
    assert evidence.incidence is None
    assert evidence.views == ()


def test_a_course_without_resources_or_concepts_has_no_views():
    assert Evidence(X, incidence=csr_array((3, 0))).views == ()
    nothing = Evidence(np.zeros((0, 2)), csr_array((0, 0)), csr_array((0, 0)))
    assert nothing.concept_count == 0
    assert nothing.views == ()


def test_any_sparse_format_becomes_a_csr_array_of_doubles():
    evidence = Evidence(X, coo_array(B.astype(np.int64)), csr_matrix(M.astype(np.bool_)))
    for matrix in (evidence.transitions, evidence.incidence):
        assert isinstance(matrix, csr_array)
        assert matrix.dtype == np.float64


def test_features_keep_their_floating_precision():
    assert Evidence(X.astype(np.float32)).features.dtype == np.float32
    assert Evidence(X.astype(np.int64)).features.dtype == np.float64


def test_later_changes_to_the_givers_arrays_do_not_reach_the_evidence():
    features, transitions, incidence = X.copy(), B.copy(), M.copy()
    evidence = Evidence(features, transitions, incidence)
    features[:] = -1
    transitions.data[:] = -1
    incidence.data[:] = -1
    np.testing.assert_array_equal(evidence.features, X)
    np.testing.assert_array_equal(evidence.transitions.toarray(), B.toarray())
    np.testing.assert_array_equal(evidence.incidence.toarray(), M.toarray())


def test_features_cannot_be_written_through_the_evidence():
    evidence = Evidence(X)
    with pytest.raises(ValueError, match="read-only"):
        evidence.features[0, 0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        evidence.features = X
    assert X.flags.writeable


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1e151])
def test_broken_features_are_counted_and_the_first_row_named(bad):
    broken = X.copy()
    broken[1:, 0] = bad
    with pytest.raises(FeatureError, match=r"2 concepts, the first in row 1"):
        Evidence(broken)


@pytest.mark.parametrize("bad", [np.zeros(3), np.zeros((3, 2, 1)), np.array([["a"]])])
def test_features_must_be_a_matrix_of_numbers(bad):
    with pytest.raises(FeatureError, match="features must be"):
        Evidence(bad)


def test_transitions_must_cover_the_same_concepts():
    with pytest.raises(ProprlError, match=r"shape \(2, 2\); expected \(3, 3\)"):
        Evidence(X, transitions=csr_array((2, 2)))


def test_incidence_must_cover_the_same_concepts():
    with pytest.raises(ProprlError, match=r"shape \(2, 5\); expected \(3, any\)"):
        Evidence(X, incidence=csr_array((2, 5)))


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, 1e151])
def test_transitions_must_be_finite_not_negative_and_not_huge(bad):
    with pytest.raises(ProprlError, match="row 0, column 1"):
        Evidence(X, transitions=csr_array(([bad], ([0], [1])), shape=(3, 3)))


def test_what_is_known_of_resources_must_fit_the_incidence():
    with pytest.raises(FeatureError, match="vectors for 3 resources, but there are 2 resources"):
        Evidence(X, incidence=M, resource_features=np.ones((3, 4)))
    with pytest.raises(ProprlError, match=r"resource links has shape \(3, 3\); expected \(2, 2\)"):
        Evidence(X, incidence=M, resource_links=csr_array((3, 3)))
    without = Evidence(X, resource_features=np.ones((3, 4)), resource_links=csr_array((3, 3)))
    assert without.resource_features is without.resource_links is None


def test_a_link_listed_twice_is_refused():
    twice = coo_array(([1.0, 1.0], ([0, 0], [1, 1])), shape=(3, 2))
    with pytest.raises(ProprlError, match=r"holds 2.0.*listed twice"):
        Evidence(X, incidence=twice)


def test_readings_are_one_row_per_concept_of_any_width():
    assert Evidence(X, readings=np.ones((3, 7))).readings.shape == (3, 7)
    assert Evidence(X, readings=np.zeros((3, 7))).readings is None
    with pytest.raises(ProprlError, match=r"vectors for 2 concepts, but there are 3 concepts"):
        Evidence(X, readings=np.ones((2, 7)))


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
