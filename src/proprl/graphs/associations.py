"""Which concepts belong together, and which resources are alike: sparse, weighted edges."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array, vstack

from proprl.arrays import FloatArray, SparseMatrix
from proprl.graphs._sparse import owned_csr

# Rows compared at once: bounds the memory of the dense block of cosines.
_BLOCK = 512


def associated_concepts(M: SparseMatrix) -> SparseMatrix:
    r"""Return which concepts share more resources than chance would have them (n × n).

    .. math:: PMI_{ij} = \lg \frac{p_{ij}}{p_i p_j} = \lg \frac{m (M M^\top)_{ij}}{d_i d_j}

    Only positive values are kept, none of a concept with itself. d are the concepts' numbers of
    resources, of m in all.

    >>> M = csr_array(np.array([[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0]]))
    >>> associated_concepts(M).toarray().round(3)
    array([[0.   , 0.602, 0.   ],
           [0.602, 0.   , 0.   ],
           [0.   , 0.   , 0.   ]])
    """
    M = owned_csr(M, "the incidence matrix")
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
    V = np.asarray(V, dtype=np.float64)
    length = np.linalg.norm(V, axis=1, keepdims=True)
    unit = np.divide(V, length, out=np.zeros_like(V), where=length > 0)
    blocks = []
    for start in range(0, len(unit), _BLOCK):
        cosines = unit[start : start + _BLOCK] @ unit.T
        blocks.append(csr_array(np.where(cosines >= at_least, cosines, 0.0)))
    kept = csr_array(vstack(blocks))
    kept = csr_array(kept - diags_array(kept.diagonal()))
    kept.eliminate_zeros()
    return kept
