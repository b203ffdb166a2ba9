"""Vectors of resources."""

from __future__ import annotations

import numpy as np

from proprl.arrays import FloatArray, SparseMatrix
from proprl.errors import ProprlError
from proprl.graphs.evidence import Evidence


def mean_of_concepts(M: SparseMatrix, X: FloatArray) -> FloatArray:
    """Return the mean row of X over each resource's concepts (m × d); 0 for a resource without.

    >>> mean_of_concepts(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[1.0], [3.0]]))
    array([[2.],
           [0.]])
    """
    size = np.asarray(M.sum(axis=0), dtype=np.float64)
    inverse = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
    means: FloatArray = (M.T @ X) * inverse[:, None]
    return means


def resource_vectors(evidence: Evidence) -> FloatArray:
    """Return a vector for each resource: its own, or else the mean of its concepts' features."""
    if evidence.resource_features is not None:
        return evidence.resource_features
    if evidence.incidence is None:
        raise ProprlError("there are no resources: add resources.csv and concept_resources.csv")
    return mean_of_concepts(evidence.incidence, evidence.features)
