"""What became of pairs like an ordered pair: by texts, by moves, and by the role of concepts.

Concepts play the same role if they are expected to come before, and after, the same ones. What is
expected of every pair is learned from the known pairs, by kernel ridge regression: two pairs are
alike as far as their sources are, and their targets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, cg

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.data.splits.labelled import LabelledPairs
from proprl.graphs.matrices import unit_rows
from proprl.pairs.columns import Columns

# Concepts count as alike up to about this distance from cosine 1.
NEAR = 0.1
# Sums of weights below this say nothing: a rate is drawn to 0 there.
LITTLE = 1e-3
# For roles, concepts count as alike up to about this distance: roles are a broad likeness.
WITHIN = 0.5
# How much of a concept's likeness to itself no other concept can have.
OWN = 0.1
RIDGE = 0.5
# Labels are ±1; what is expected beyond that says no more.
BOUND = 1.5
# Kernel ridge regression is solved to so few digits: roles and orders need no more.
FEW_DIGITS = {"rtol": 1e-3, "maxiter": 100}


def nearness(affinity: FloatArray) -> FloatArray:
    """Give how much each concept counts for each other, from how alike they are: n × n."""
    near: FloatArray = np.exp((affinity - 1.0) / NEAR).astype(np.float32)
    return near


def like_pair_columns(
    yes: SparseMatrix,
    no: SparseMatrix,
    near: Mapping[str, FloatArray],
    among: IntArray | None = None,
) -> Columns:
    """Give what labels say of like pairs, for each source of `nearness`.

    Both concepts may be like those of the pair, or one like it and the other the same. See
    `label_columns` for `among`.
    """
    here = slice(None) if among is None else among
    Y, N = (matrix.astype(np.float32) for matrix in (yes, no))
    balance = np.float32(Y.sum() / max(N.sum(), 1.0))  # so that 0 means: as usual
    directed: dict[str, FloatArray] = {}
    about_concepts: dict[str, FloatArray] = {}
    for source, K in near.items():
        to, K = K[:, here], K[here]
        like_sources = K @ Y  # (n, n): positives that end at b, by how alike their sources are
        like_sources_asked = K @ (Y + N)
        weight = like_sources_asked @ to
        signed = (like_sources - balance * (like_sources_asked - like_sources)) @ to
        of_targets = (Y[here] @ to) / ((Y + N)[here] @ to + LITTLE)
        of_sources = like_sources[:, here] / (like_sources_asked[:, here] + LITTLE)
        how = f"by {source}"
        directed |= {
            f"rate of like pairs {how}": signed / (weight + LITTLE),
            f"rate of the first with concepts like the second {how}": of_targets,
            f"rate of concepts like the first with the second {how}": of_sources,
        }
        first, later = K @ yes.sum(axis=1), K @ yes.sum(axis=0)
        about_concepts[f"like concepts rather first {how}"] = first / (first + later + LITTLE)
    return Columns("labels", directed=directed, about_concepts=about_concepts)


def likeness(affinities: Sequence[FloatArray]) -> FloatArray:
    """Give how alike concepts are by all sources together: n × n, 1 on the diagonal."""
    mean = np.mean([np.exp((affinity - 1.0) / WITHIN) for affinity in affinities], axis=0)
    alike: FloatArray = (1 - OWN) * mean + OWN * np.eye(len(mean))
    return alike.astype(np.float32)


def role_affinity(known: LabelledPairs, alike: FloatArray) -> FloatArray:
    """Give how alike the roles of concepts are: n × n, in [-1, 1]."""
    expected = expected_labels(known, alike).clip(-BOUND, BOUND)
    expected -= expected.mean()
    before, after = unit_rows(expected), unit_rows(expected.T)
    affinity: FloatArray = (before @ before.T + after @ after.T) / 2
    return affinity


def expected_labels(known: LabelledPairs, alike: FloatArray) -> FloatArray:
    """Give the label, 1 or -1, that is expected of every pair: n × n.

    (A + ridge · I) w = y for the known pairs, where A[(a, b), (c, d)] = alike[a, c] · alike[b, d].
    A has a row for each known pair. It is never made: only its products with vectors are.
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
