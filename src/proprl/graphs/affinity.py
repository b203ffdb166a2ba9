"""How alike two concepts or two resources are: by texts, by moves, or by what they share."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array, vstack

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.graphs.matrices import Weighting, normalise_rows, propagation_operator, unit_rows

RESTART = 0.15
STEPS = 20
# Rows compared at once: bounds the memory of the dense block of cosines.
_BLOCK = 512


def text_affinity(X: FloatArray) -> FloatArray:
    """Return the cosines of the rows of X around their mean: n × n, in [-1, 1].

    >>> text_affinity(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])).round(3)
    array([[ 1.,  1., -1.],
           [ 1.,  1., -1.],
           [-1., -1.,  1.]])
    """
    X = np.asarray(X, dtype=np.float64)
    unit = unit_rows(X - X.mean(axis=0))
    return unit @ unit.T


def behaviour_affinity(B: SparseMatrix) -> FloatArray:
    """Return how alike the surroundings of two concepts are in the graph of moves: n × n.

    A concept's surroundings are where walks from it, and walks against the moves, spend their
    time. Moves count by the logarithm of their number.
    """
    ahead, behind = visits(B, weighting="log1p"), visits(B.T.tocsr(), weighting="log1p")
    # Rows are distributions: their roots give the Hellinger affinity.
    return text_affinity(np.sqrt(np.hstack([ahead, behind])))


def visits(B: SparseMatrix, *, weighting: Weighting, of: IntArray | None = None) -> FloatArray:
    """Return the share of time that walks from each concept spend at each: n × n, rows sum to 1.

    A walk starts anew with probability 0.15 at each step. With `of`, only the rows of these.
    """
    A = normalise_rows(B, weighting=weighting)
    if of is None:
        return propagation_operator(A, RESTART, STEPS)
    start = np.eye(len(A.indptr) - 1)[of]
    spent, onwards = start, csr_array(A.T)
    for _ in range(STEPS):
        spent = (1.0 - RESTART) * (onwards @ spent.T).T + RESTART * start
    return spent


def associated_concepts(M: SparseMatrix) -> SparseMatrix:
    r"""Return which concepts share more resources than chance would have them (n × n).

    .. math:: PMI_{ij} = \lg \frac{p_{ij}}{p_i p_j} = \lg \frac{m (M M^\top)_{ij}}{d_i d_j}

    There are m resources, and concept i is in d_i of them. Only positive values are kept, and
    none of a concept with itself.

    >>> M = csr_array(np.array([[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0]]))
    >>> associated_concepts(M).toarray().round(3)
    array([[0.   , 0.602, 0.   ],
           [0.602, 0.   , 0.   ],
           [0.   , 0.   , 0.   ]])
    """
    degree = M.sum(axis=1)
    together = coo_array(M @ M.T)
    i, j = together.coords
    lift = together.data * M.shape[1] / (degree[i] * degree[j])
    kept = (lift > 1) & (i != j)
    return csr_array((np.log10(lift[kept]), (i[kept], j[kept])), shape=together.shape)


def similar_rows(V: FloatArray, at_least: float) -> SparseMatrix:
    """Return the cosines of rows of V that reach `at_least`, above 0; no row with itself.

    >>> similar_rows(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]]), 0.7).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    unit = unit_rows(np.asarray(V, dtype=np.float64))
    blocks = []
    for start in range(0, len(unit), _BLOCK):
        cosines = unit[start : start + _BLOCK] @ unit.T
        blocks.append(csr_array(np.where(cosines >= at_least, cosines, 0.0)))
    kept = csr_array(vstack(blocks))
    kept = csr_array(kept - diags_array(kept.diagonal()))
    kept.eliminate_zeros()
    return kept
