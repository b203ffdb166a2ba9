"""Which concepts play the same role: they are expected to come before, and after, the same ones.

What is expected of every pair is learned from the known pairs by kernel ridge regression: pairs
are alike as far as their sources are alike and their targets are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, cg

from proprl.arrays import FloatArray
from proprl.data.splits import LabelledPairs

# Concepts count as alike up to about this distance from cosine 1: roles are a broad likeness.
WITHIN = 0.5
# How much of a concept's likeness to itself no other concept can have.
OWN = 0.1
RIDGE = 0.5
# Labels are ±1; what is expected beyond that says no more.
SUREST = 1.5
# Roles need few digits.
TOLERANCE, STEPS_AT_MOST = 1e-3, 100
# Where one pair of so many has a label, products of full matrices are quicker than a row a label.
CROWDED = 60


def likeness(affinities: Sequence[FloatArray]) -> FloatArray:
    """Give how alike concepts are by all sources together: n × n, 1 on the diagonal."""
    mean = np.mean([np.exp((affinity - 1.0) / WITHIN) for affinity in affinities], axis=0)
    alike: FloatArray = (1 - OWN) * mean + OWN * np.eye(len(mean))
    return alike


def role_affinity(known: LabelledPairs, alike: FloatArray) -> FloatArray:
    """Give how alike the roles of concepts are: n × n, in [-1, 1]."""
    expected = expected_labels(known, alike).clip(-SUREST, SUREST)
    expected -= expected.mean()
    before, after = _unit_rows(expected), _unit_rows(expected.T)
    affinity: FloatArray = (before @ before.T + after @ after.T) / 2
    return affinity


def expected_labels(known: LabelledPairs, alike: FloatArray) -> FloatArray:
    """Give the label, 1 or -1, that is expected of every pair: n × n.

    (A + ridge · I) w = y for the known pairs, where A[(a, b), (c, d)] = alike[a, c] · alike[b, d].
    A has a row for each known pair and is never made: only its products with vectors are.
    """
    n, m, (a, b) = len(alike), len(known), known.pairs.T
    if not m:
        return np.zeros((n, n))

    def over_all(w: FloatArray) -> FloatArray:
        """Give the sum of w over known pairs, by how alike they are to every pair: n × n."""
        summed: FloatArray = alike @ np.bincount(a * n + b, w, n * n).reshape(n, n) @ alike
        return summed

    def by_full_matrices(w: FloatArray) -> FloatArray:
        return np.asarray(over_all(w)[a, b] + RIDGE * w)

    def by_rows_of_labels(w: FloatArray) -> FloatArray:
        by_source.data = w[by_source.indices]
        to_targets = np.ascontiguousarray((by_source @ of_targets).T)
        return np.asarray(np.einsum("pc,pc->p", of_sources, to_targets[b]) + RIDGE * w)

    product = by_full_matrices
    if n * n >= CROWDED * m:
        product = by_rows_of_labels
        by_source = csr_array((np.ones(m), (a, np.arange(m))), shape=(n, m))
        of_sources, of_targets = alike[a], alike[b]
    system = LinearOperator((m, m), matvec=product, dtype=np.float64)
    w, _ = cg(system, 2.0 * known.labels - 1.0, rtol=TOLERANCE, maxiter=STEPS_AT_MOST)
    return over_all(w)


def _unit_rows(X: FloatArray) -> FloatArray:
    length = np.linalg.norm(X, axis=1, keepdims=True)
    unit: FloatArray = np.divide(X, length, out=np.zeros_like(X), where=length > 0)
    return unit
