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
from proprl.data.splits.labelled import LabelledPairs

# Concepts count as alike up to about this distance from cosine 1: roles are a broad likeness.
WITHIN = 0.5
# How much of a concept's likeness to itself no other concept can have.
OWN = 0.1
RIDGE = 0.5
# Labels are ±1; what is expected beyond that says no more.
BOUND = 1.5
# Kernel ridge regression is solved to so few digits: roles and orders need no more.
FEW_DIGITS = {"rtol": 1e-3, "maxiter": 100}


def likeness(affinities: Sequence[FloatArray]) -> FloatArray:
    """Give how alike concepts are by all sources together: n × n, 1 on the diagonal."""
    mean = np.mean([np.exp((affinity - 1.0) / WITHIN) for affinity in affinities], axis=0)
    alike: FloatArray = (1 - OWN) * mean + OWN * np.eye(len(mean))
    return alike.astype(np.float32)


def role_affinity(known: LabelledPairs, alike: FloatArray) -> FloatArray:
    """Give how alike the roles of concepts are: n × n, in [-1, 1]."""
    expected = expected_labels(known, alike).clip(-BOUND, BOUND)
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
        return np.zeros((n, n), dtype=np.float32)
    by_source = csr_array((np.ones(m, dtype=np.float32), (a, np.arange(m))), shape=(n, m))
    of_sources, of_targets = alike[a], alike[b]

    def to_targets(w: FloatArray) -> FloatArray:
        """Give the sum of w over labels that begin at the row, by how alike their targets are."""
        by_source.data = w[by_source.indices].astype(np.float32)
        return np.asarray(by_source @ of_targets)

    def product(w: FloatArray) -> FloatArray:
        towards_b = np.ascontiguousarray(to_targets(w).T)[b]
        return np.asarray(np.einsum("pc,pc->p", of_sources, towards_b) + RIDGE * w)

    system = LinearOperator((m, m), matvec=product, dtype=np.float64)
    w, _ = cg(system, 2.0 * known.labels - 1.0, **FEW_DIGITS)
    expected: FloatArray = alike @ to_targets(w)
    return expected


def _unit_rows(X: FloatArray) -> FloatArray:
    length = np.linalg.norm(X, axis=1, keepdims=True)
    unit: FloatArray = np.divide(X, length, out=np.zeros_like(X), where=length > 0)
    return unit
