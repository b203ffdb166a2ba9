"""What the labels of other pairs say about an ordered pair."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_array

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.data.splits.labelled import LabelledPairs
from proprl.pairs.columns import Columns

# Concepts count as alike up to about this distance from cosine 1.
NEAR = 0.1
# Sums of weights below this say nothing: a rate is drawn to 0 there.
LITTLE = 1e-3
LONGEST = 4


def nearness(affinity: FloatArray) -> FloatArray:
    """Give how much each concept counts for each other, from how alike they are: n × n."""
    near: FloatArray = np.exp((affinity - 1.0) / NEAR).astype(np.float32)
    return near


def label_columns(known: LabelledPairs, near: Mapping[str, FloatArray], n: int) -> Columns:
    """Give what these labels say about pairs; `near` is `nearness` by each source."""
    columns = Columns()
    yes, no = label_matrix(known, 1, n), label_matrix(known, 0, n)
    _add_paths(columns, yes, no)
    for source, matrix in near.items():
        _add_like_pairs(columns, yes, no, matrix, f"by {source}")
        _add_like_concepts(columns, yes, matrix, f"by {source}")
    return columns


def _add_paths(columns: Columns, yes: SparseMatrix, no: SparseMatrix) -> None:
    """Ways through the graph of known prerequisites."""
    paths = [yes]
    while len(paths) < LONGEST:
        paths.append(paths[-1] @ yes)
    steps = _steps(paths)
    leads_to, needed_by = _scaled_rows(yes), _scaled_rows(yes.T.tocsr())
    same_dependents, same_prerequisites = yes @ yes.T, yes.T @ yes
    for name, matrix in {
        "known ways of two steps": paths[1].toarray(),
        "known ways of three steps": paths[2].toarray(),
        "known steps": steps,
        # Concepts that lead where a leads: do they lead to b?
        "alike in what they lead to": (leads_to @ needed_by @ leads_to).toarray(),
        "alike, but not a prerequisite": (same_dependents @ no).log1p().toarray(),
        "prerequisite of what is alike, but not of it": (no @ same_prerequisites).log1p().toarray(),
    }.items():
        columns.add_directed("labels", name, matrix)
    columns.add_symmetric("labels", "common dependents", same_dependents.toarray())
    columns.add_symmetric("labels", "common prerequisites", same_prerequisites.toarray())
    reached = steps <= LONGEST
    columns.add_about_concepts("labels", "known dependents", np.log1p(reached.sum(axis=1)))
    columns.add_about_concepts("labels", "known prerequisites", np.log1p(reached.sum(axis=0)))


def _add_like_pairs(
    columns: Columns, yes: SparseMatrix, no: SparseMatrix, near: FloatArray, how: str
) -> None:
    """What became of pairs like this one: of two like concepts, or of one and the same."""
    Y, N = (matrix.astype(np.float32) for matrix in (yes, no))
    balance = np.float32(Y.sum() / max(N.sum(), 1.0))  # so that 0 means: as usual
    like_sources = near @ Y  # (n, n): positives that end at b, by how alike their sources are
    like_sources_asked = near @ (Y + N)
    weight = like_sources_asked @ near
    signed = (like_sources - balance * (like_sources_asked - like_sources)) @ near
    columns.add_directed("labels", f"rate of like pairs {how}", signed / (weight + LITTLE))
    columns.add_directed(
        "labels",
        f"rate of the first with concepts like the second {how}",
        (Y @ near) / ((Y + N) @ near + LITTLE),
    )
    columns.add_directed(
        "labels",
        f"rate of concepts like the first with the second {how}",
        like_sources / (like_sources_asked + LITTLE),
    )


def _add_like_concepts(columns: Columns, yes: SparseMatrix, near: FloatArray, how: str) -> None:
    """How often concepts like this one come first."""
    first, later = near @ yes.sum(axis=1), near @ yes.sum(axis=0)
    columns.add_about_concepts(
        "labels", f"like concepts rather first {how}", first / (first + later + LITTLE)
    )


def label_matrix(known: LabelledPairs, label: int, n: int) -> SparseMatrix:
    """Give 1 where a pair has this label: n × n."""
    pairs = np.unique(known.pairs[known.labels == label], axis=0)
    return csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))


def fold_of(pairs: IntArray, folds: int) -> IntArray:
    """Deal pairs into folds, both orders of a pair into one: (m, 2) -> (m,).

    A fold depends on the two concepts alone, so a label that comes or goes moves no pair.

    >>> fold_of(np.array([[3, 8], [8, 3]]), 10).tolist()
    [4, 4]
    """
    low, high = np.sort(pairs, axis=1).T.astype(np.uint64)
    with np.errstate(over="ignore"):  # arithmetic modulo 2⁶⁴, as the mixing wants it
        x = (low << np.uint64(32)) ^ high
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)  # splitmix64
        x ^= x >> np.uint64(31)
    fold: IntArray = (x % np.uint64(folds)).astype(np.int64)
    return fold


def _scaled_rows(matrix: SparseMatrix) -> SparseMatrix:
    """Divide each row by the root of its sum."""
    root = np.sqrt(np.maximum(np.asarray(matrix.sum(axis=1)), 1.0))
    return csr_array(matrix.multiply(1.0 / root[:, None]))


def _steps(paths: list[SparseMatrix]) -> FloatArray:
    """Give the length of the shortest way; where there is none, one more than the longest."""
    steps = np.full(paths[0].shape, len(paths) + 1.0)
    for length in range(len(paths), 0, -1):
        steps[paths[length - 1].nonzero()] = length
    return steps
