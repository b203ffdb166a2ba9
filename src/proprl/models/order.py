r"""Which of two concepts comes first, whatever else they have to do with each other.

Every known prerequisite is a lesson: the source comes first (1) and, turned round, it does not
(-1). Kernel ridge regression learns from both at once, for pairs are alike as far as

.. math:: k_{ac} k_{bd} - k_{ad} k_{bc}, \quad k = 1 + \cos

says so of (a, b) and (c, d): turning one of them round changes the sign and nothing else. The 1
gives each concept a level, the cosine lets the order depend on both.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import expit, log_expit, logit

from proprl.arrays import FloatArray, IntArray
from proprl.data.grouping import unordered_codes

# Readings are many numbers for few labels.
RIDGE = 2.0
# How much the order counts beside what the learners say of both orders, in logits, and how much
# that: what they say of a pair and of its reverse is surer than it should be of which comes first.
# Chosen on other dealings of the public sets' pairs into folds, where AUC is flat around it.
WEIGHT, OWN = 3.0, 0.5
# So many known prerequisites are solved for at once; beyond that step by step.
AT_ONCE = 4_000
# A probability below this, or as near to 1, says no more.
LEAST = 1e-6


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
    m, (a, b) = len(prerequisites), prerequisites.T
    if m <= AT_ONCE:
        C = _lessons_alike(prerequisites, alike)
        return _over_all(prerequisites, cho_solve(cho_factor(C), np.ones(m)), alike)
    system = LinearOperator(
        (m, m),
        matvec=lambda w: _over_all(prerequisites, w, alike)[a, b] + RIDGE * w,
        dtype=np.float64,
    )
    w, _ = cg(system, np.ones(m), rtol=1e-3, maxiter=100)
    return _over_all(prerequisites, w, alike)


def order_by_others(pairs: IntArray, prerequisites: IntArray, alike: FloatArray) -> FloatArray:
    r"""Give how surely each source comes first by all known prerequisites but its own: (m,).

    What is known of a pair itself, in either order, is left out as if it had never been learned.
    If I are its lessons, w the weights of all and C their likeness with the ridge, the others say

    .. math:: f_I = 1 - \left((C^{-1})_{II}\right)^{-1} w_I
    """
    C_inverse = cho_solve(
        cho_factor(_lessons_alike(prerequisites, alike)), np.eye(len(prerequisites))
    )
    w = C_inverse.sum(axis=1)
    order: FloatArray = _over_all(prerequisites, w, alike)[tuple(pairs.T)]
    lessons: dict[int, list[int]] = {}
    for lesson, code in enumerate(unordered_codes(prerequisites).tolist()):
        lessons.setdefault(code, []).append(lesson)
    for row, code in enumerate(unordered_codes(pairs).tolist()):
        if own := lessons.get(code):
            by_others = 1 - np.linalg.solve(C_inverse[np.ix_(own, own)], w[own])[0]
            same = pairs[row, 0] == prerequisites[own[0], 0]
            order[row] = by_others if same else -by_others
    return order


def _lessons_alike(prerequisites: IntArray, alike: FloatArray) -> FloatArray:
    """Give how alike lessons are, and the ridge: C, m × m."""
    a, b = prerequisites.T
    K = alike[np.ix_(a, a)] * alike[np.ix_(b, b)] - alike[np.ix_(a, b)] * alike[np.ix_(b, a)]
    return np.asarray(K + RIDGE * np.eye(len(a)))


def _over_all(prerequisites: IntArray, w: FloatArray, alike: FloatArray) -> FloatArray:
    """Give what lessons of these weights say of every pair: n × n."""
    n, (a, b) = len(alike), prerequisites.T
    W = np.bincount(a * n + b, w, n * n).reshape(n, n)
    return np.asarray(alike @ (W - W.T) @ alike)


def ordered_logits(z: FloatArray, reverse: FloatArray, order: FloatArray) -> FloatArray:
    """Give the logit of p(the two belong together) · p(this one comes first).

    `z` and `reverse` are what a learner says of a pair and of its reverse, without knowing of the
    order; `order` is what is expected of it.
    """
    p, q = expit(z), expit(reverse)
    together = p + q - p * q
    first = expit(OWN * (log_expit(z) - log_expit(reverse)) + WEIGHT * order)
    return np.asarray(logit((together * first).clip(LEAST, 1 - LEAST)))
