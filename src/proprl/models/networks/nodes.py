"""Concepts and resources as the nodes of one graph."""

from __future__ import annotations

import numpy as np

from proprl.arrays import FloatArray
from proprl.graphs.evidence import Evidence, mean_of_concepts
from proprl.graphs.matrices import standardise_columns


def concepts_and_resources(evidence: Evidence) -> FloatArray:
    """Give the features of concepts, then of resources: each the mean of its concepts."""
    X = standardise_columns(evidence.features)
    return np.concatenate([X, mean_of_concepts(evidence.incidence, X)])
