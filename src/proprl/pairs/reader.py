r"""Which of two concepts comes first, by what a language model has read about them.

Every known prerequisite says so of two concepts: the first comes first (1) and, turned round, it
does not (-1). Kernel ridge regression learns from both at once, for pairs are alike as far as

.. math:: k_{ac} k_{bd} - k_{ad} k_{bc}, \quad k = 1 + \cos

says so of (a, b) and (c, d): turning one of them round changes the sign and nothing else. The 1
gives each concept a level, the cosine lets the order depend on both.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import cg

from proprl.arrays import FloatArray, IntArray
from proprl.pairs.roles import FEW_DIGITS

# Readings are many numbers for few labels.
READING_RIDGE = 2.0


def reading_likeness(R: FloatArray) -> FloatArray:
    """Give how alike readings are, k: n × n, 1 where one of two concepts was not read about."""
    read = np.flatnonzero(R.any(axis=1))
    X = np.asarray(R[read], dtype=np.float64)
    X = X - X.mean(axis=0)
    spread = X.std(axis=0)
    X = np.divide(X, spread, out=np.zeros_like(X), where=spread > 0)
    length = np.linalg.norm(X, axis=1, keepdims=True)
    unit = np.divide(X, length, out=np.zeros_like(X), where=length > 0)
    alike = np.ones((len(R), len(R)))
    alike[np.ix_(read, read)] += unit @ unit.T
    return alike


def expected_order(prerequisites: IntArray, alike: FloatArray) -> FloatArray:
    """Give for every pair how surely the row's concept comes first: n × n, antisymmetric.

    About 1 where it does, -1 where the other does, 0 where nothing is known: (m, 2) pairs that
    are known to hold say so.
    """
    n, (a, b) = len(alike), prerequisites.T
    if not len(prerequisites):
        return np.zeros((n, n))
    K = alike[np.ix_(a, a)] * alike[np.ix_(b, b)] - alike[np.ix_(a, b)] * alike[np.ix_(b, a)]
    w, _ = cg(K + READING_RIDGE * np.eye(len(K)), np.ones(len(K)), **FEW_DIGITS)
    W = np.bincount(a * n + b, w, n * n).reshape(n, n)
    order: FloatArray = alike @ (W - W.T) @ alike
    return order
