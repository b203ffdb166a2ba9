"""What became of pairs like an ordered pair, and of concepts like its two."""

from __future__ import annotations

import numpy as np

from proprl.arrays import FloatArray, SparseMatrix

# Concepts count as alike up to about this distance from cosine 1.
NEAR = 0.1
# Sums of weights below this say nothing: a rate is drawn to 0 there.
LITTLE = 1e-3


def nearness(affinity: FloatArray) -> FloatArray:
    """Give how much each concept counts for each other, from how alike they are: n × n."""
    near: FloatArray = np.exp((affinity - 1.0) / NEAR).astype(np.float32)
    return near


def like_pairs(
    yes: SparseMatrix, no: SparseMatrix, near: FloatArray, how: str
) -> dict[str, FloatArray]:
    """What became of pairs like this one: of two like concepts, or of one and the same."""
    Y, N = (matrix.astype(np.float32) for matrix in (yes, no))
    balance = np.float32(Y.sum() / max(N.sum(), 1.0))  # so that 0 means: as usual
    like_sources = near @ Y  # (n, n): positives that end at b, by how alike their sources are
    like_sources_asked = near @ (Y + N)
    weight = like_sources_asked @ near
    signed = (like_sources - balance * (like_sources_asked - like_sources)) @ near
    of_targets = (Y @ near) / ((Y + N) @ near + LITTLE)
    of_sources = like_sources / (like_sources_asked + LITTLE)
    return {
        f"rate of like pairs {how}": signed / (weight + LITTLE),
        f"rate of the first with concepts like the second {how}": of_targets,
        f"rate of concepts like the first with the second {how}": of_sources,
    }


def like_concepts(yes: SparseMatrix, near: FloatArray, how: str) -> dict[str, FloatArray]:
    """How often concepts like this one come first."""
    first, later = near @ yes.sum(axis=1), near @ yes.sum(axis=0)
    return {f"like concepts rather first {how}": first / (first + later + LITTLE)}
