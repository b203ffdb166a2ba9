r"""Which of two concepts comes first, by what a language model has read about them.

A known prerequisite says it twice: its first concept comes first (1), and turned round it does not
(-1). Kernel ridge regression learns from both at once. Two pairs (a, b) and (c, d) are alike by

.. math:: k_{ac} k_{bd} - k_{ad} k_{bc}, \quad k = 1 + \cos

Turning one of them round changes the sign and nothing else. The 1 gives each concept a level; the
cosine lets the order depend on both.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import cg

from proprl.arrays import FloatArray, IntArray
from proprl.graphs.matrices import divided, unit_rows
from proprl.pairs.like_pairs import FEW_DIGITS

# Readings are many numbers for few labels.
READING_RIDGE = 2.0


def reading_likeness(R: FloatArray) -> FloatArray:
    """Give how alike readings are, k: n × n, 1 where one of two concepts was not read about."""
    read = np.flatnonzero(R.any(axis=1))
    X = np.asarray(R[read], dtype=np.float64)
    X = X - X.mean(axis=0)
    unit = unit_rows(divided(X, X.std(axis=0)))
    alike = np.ones((len(R), len(R)))
    alike[np.ix_(read, read)] += unit @ unit.T
    return alike


def expected_order(prerequisites: IntArray, alike: FloatArray) -> FloatArray:
    """Give how surely the row's concept comes before the column's: n × n, antisymmetric.

    About 1 where it does, -1 where the other does, 0 where nothing is known. `prerequisites` are
    the pairs (m, 2) that are known to hold.
    """
    n, (a, b) = len(alike), prerequisites.T
    if not len(prerequisites):
        return np.zeros((n, n))
    K = alike[np.ix_(a, a)] * alike[np.ix_(b, b)] - alike[np.ix_(a, b)] * alike[np.ix_(b, a)]
    w, _ = cg(K + READING_RIDGE * np.eye(len(K)), np.ones(len(K)), **FEW_DIGITS)
    W = np.bincount(a * n + b, w, n * n).reshape(n, n)
    order: FloatArray = alike @ (W - W.T) @ alike
    return order
