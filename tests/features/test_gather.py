"""From a course to vectors: what is read about a concept."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from proprl.data import Course
from proprl.errors import FeatureError
from proprl.features.encoders import encode
from proprl.features.gather import GIVEN, encode_alone, gather_evidence

CONCEPTS = pl.DataFrame(
    {"id": ["a", "b"], "name": ["Limit", "Derivative"], "description": ["A value approached", ""]}
)


def test_a_concepts_vector_is_that_of_its_name_and_description() -> None:
    evidence, encoder = gather_evidence(Course.from_tables(concepts=CONCEPTS), "wordllama")
    assert encoder == "wordllama"
    expected = encode(["Limit. A value approached", "Derivative"], "wordllama")
    np.testing.assert_array_equal(evidence.features, expected)
    assert evidence.readings is None
    assert evidence.views == ()


def test_vectors_of_ones_own_come_first_and_none_means_none() -> None:
    own = np.arange(6.0).reshape(2, 3)
    course = Course.from_tables(concepts=CONCEPTS, features=own)
    evidence, encoder = gather_evidence(course)
    assert encoder == GIVEN
    np.testing.assert_array_equal(evidence.features, own)
    assert gather_evidence(course, "none")[0].features.shape == (2, 0)


def test_evidence_holds_all_that_a_course_brings() -> None:
    """Each matrix by the rows of concepts and resources."""
    course = Course.from_tables(
        concepts=CONCEPTS.with_columns(description=pl.Series(["", "By a limit"])),
        transitions=pl.DataFrame({"source": ["a"], "target": ["b"], "weight": [3.0]}),
        resources=pl.DataFrame({"id": ["r", "s"], "title": ["First", "Second"]}),
        concept_resources=pl.DataFrame({"concept": ["b", "a"], "resource": ["r", "s"]}),
        resource_links=pl.DataFrame({"source": ["s"], "target": ["r"]}),
    )
    evidence, _ = gather_evidence(course, "none")
    found = (
        evidence.transitions,
        evidence.incidence,
        evidence.resource_links,
        evidence.named_in,
    )
    assert [None if matrix is None else matrix.toarray().tolist() for matrix in found] == [
        [[0, 3], [0, 0]],
        [[0, 1], [1, 0]],
        [[0, 0], [1, 0]],
        [[0, 1], [0, 0]],
    ]
    assert evidence.views == ("resource", "behaviour")


def test_a_text_that_came_later_has_the_vector_it_would_have_had() -> None:
    text = "Limit. A value approached"
    known = gather_evidence(Course.from_tables(concepts=CONCEPTS), "wordllama")[0].features
    np.testing.assert_allclose(encode_alone(text, "wordllama")[0], known[0], rtol=1e-5)
    with pytest.raises(FeatureError, match="depend on all texts of the course"):
        encode_alone(text, "tfidf")
