"""How alike two concepts are, judged by their texts or by the way learners pass them."""

from __future__ import annotations

import numpy as np

from proprl.arrays import FloatArray, SparseMatrix
from proprl.graphs.normalise import Weighting, normalise_rows
from proprl.graphs.propagate import propagation_operator

RESTART = 0.15
STEPS = 20


def text_affinity(X: FloatArray) -> FloatArray:
    """Return the cosines of the rows of X around their mean: n × n, in [-1, 1].

    >>> text_affinity(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])).round(3)
    array([[ 1.,  1., -1.],
           [ 1.,  1., -1.],
           [-1., -1.,  1.]])
    """
    unit = _unit_rows(np.asarray(X, dtype=np.float64))
    return unit @ unit.T


def behaviour_affinity(B: SparseMatrix) -> FloatArray:
    """Return how alike the surroundings of two concepts are in the graph of moves: n × n.

    A concept's surroundings are where walks that start there, or that lead there, spend their
    time; moves count by the logarithm of their number.
    """
    ahead, behind = visits(B, weighting="log1p"), visits(B.T.tocsr(), weighting="log1p")
    unit = _unit_rows(np.sqrt(np.hstack([ahead, behind])))  # Hellinger: rows are distributions
    return unit @ unit.T


def visits(B: SparseMatrix, *, weighting: Weighting) -> FloatArray:
    """Return the share of time that walks from each concept spend at each: n × n, rows sum to 1.

    A walk starts anew with probability 0.15 at each step.
    """
    return propagation_operator(normalise_rows(B, weighting=weighting), RESTART, STEPS)


def _unit_rows(X: FloatArray) -> FloatArray:
    centred = X - X.mean(axis=0)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    unit: FloatArray = np.divide(centred, length, out=np.zeros_like(centred), where=length > 0)
    return unit
