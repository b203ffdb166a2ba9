"""Personalised multi-hop propagation over a row-normalised graph."""

from __future__ import annotations

import numpy as np

from proprl.arrays import FloatArray, SparseMatrix
from proprl.errors import ProprlError
from proprl.graphs._sparse import require_square


def propagate(A: SparseMatrix, Q: FloatArray, alpha: float, k: int) -> FloatArray:
    r"""Return Q after k steps along A, each drawn back to Q with weight alpha (same shape as Q).

    .. math:: Z^{(t+1)} = (1 - \alpha) A Z^{(t)} + \alpha Q, \qquad Z^{(0)} = Q

    The result is a new array, also for k = 0 or alpha = 1, where it equals Q.

    >>> from scipy.sparse import csr_array
    >>> A = csr_array(np.array([[0.5, 0.5], [0.0, 1.0]]))
    >>> propagate(A, np.array([[4.0], [0.0]]), alpha=0.5, k=2)
    array([[2.75],
           [0.  ]])
    """
    require_square(A, "the graph")
    if not 0 < alpha <= 1:
        raise ProprlError(f"alpha must lie in (0, 1], not {alpha}")
    if not isinstance(k, (int, np.integer)) or k < 0:
        raise ProprlError(f"k counts propagation steps: a whole number from 0 up, not {k}")
    Q = np.array(Q, dtype=np.float64)
    if Q.ndim != 2 or Q.shape[0] != A.shape[0]:
        raise ProprlError(
            f"Q must have one row for each of the graph's {A.shape[0]} concepts, "
            f"not shape {Q.shape}"
        )
    step, restart = (1.0 - alpha) * A, alpha * Q
    Z = Q
    for _ in range(k):
        Z = step @ Z + restart
    return Z


def propagation_operator(A: SparseMatrix, alpha: float, k: int) -> FloatArray:
    r"""Return the one dense matrix S with ``S @ Q == propagate(A, Q, alpha, k)`` (n × n).

    .. math:: S = \alpha \sum_{t<k} (1 - \alpha)^t A^t + (1 - \alpha)^k A^k

    It takes 8 n² bytes: for graphs of a few thousand concepts. Larger ones call `propagate`.

    >>> from scipy.sparse import csr_array
    >>> A = csr_array(np.array([[0.5, 0.5], [0.0, 1.0]]))
    >>> propagation_operator(A, alpha=0.5, k=1)
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    """
    require_square(A, "the graph")
    return propagate(A, np.eye(A.shape[0]), alpha, k)  # Horner's scheme for the sum
