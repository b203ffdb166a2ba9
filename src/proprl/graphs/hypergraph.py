"""The concept–resource hypergraph: every resource is a hyperedge around its concepts."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array

from proprl.arrays import FloatArray, SparseMatrix
from proprl.graphs._sparse import owned_csr


def hypergraph_operator(M: SparseMatrix) -> SparseMatrix:
    r"""Return how concepts hear each other through shared resources (n × n, the paper's ``P``).

    .. math:: P = D_c^{-1/2} M D_r^{-1} M^\top D_c^{-1/2}, \quad
              (D_c)_{ii} = \sum_j M_{ij}, \quad (D_r)_{jj} = \sum_i M_{ij}

    Every hyperedge has weight 1. A concept without a resource, or a resource without a concept,
    has inverse degree 0. P is symmetric and its eigenvalues lie in [0, 1].

    >>> M = csr_array(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]))
    >>> hypergraph_operator(M).toarray().round(6)
    array([[0.5, 0.5, 0. ],
           [0.5, 0.5, 0. ],
           [0. , 0. , 0. ]])
    """
    M = owned_csr(M, "the incidence matrix")
    concepts = _inverse_sqrt(M.sum(axis=1))
    resources = _inverse_sqrt(M.sum(axis=0))
    # P = K Kᵀ with the resource degree split over both sides: symmetric to the last bit.
    K = csr_array(diags_array(concepts) @ M @ diags_array(resources))
    P = csr_array(K @ K.T)
    P.sort_indices()
    return P


def _inverse_sqrt(degree: FloatArray) -> FloatArray:
    inverse: FloatArray = np.zeros_like(degree)
    np.divide(1.0, np.sqrt(degree), out=inverse, where=degree > 0)
    return inverse
