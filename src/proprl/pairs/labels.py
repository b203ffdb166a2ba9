"""What the labels of other pairs say about an ordered pair."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_array

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.data.splits.labelled import LabelledPairs
from proprl.pairs.columns import Columns
from proprl.pairs.like_pairs import like_concepts, like_pairs

LONGEST = 4


def label_columns(known: LabelledPairs, near: Mapping[str, FloatArray], n: int) -> Columns:
    """Give what these labels say about pairs; `near` is `nearness` by each source."""
    yes, no = label_matrix(known, 1, n), label_matrix(known, 0, n)
    paths = _paths(yes)
    steps = _steps(paths)
    reached = steps <= LONGEST
    same_dependents, same_prerequisites = yes @ yes.T, yes.T @ yes
    symmetric = {
        "common dependents": same_dependents.toarray(),
        "common prerequisites": same_prerequisites.toarray(),
    }
    directed = {
        "known ways of two steps": paths[1].toarray(),
        "known ways of three steps": paths[2].toarray(),
        "known steps": steps,
        "alike in what they lead to": _alike_in_what_they_lead_to(yes),
        "alike, but not a prerequisite": (same_dependents @ no).log1p().toarray(),
        "prerequisite of what is alike, but not of it": (
            (no @ same_prerequisites).log1p().toarray()
        ),
    }
    about_concepts = {
        "known dependents": np.log1p(reached.sum(axis=1)),
        "known prerequisites": np.log1p(reached.sum(axis=0)),
    }
    for source, matrix in near.items():
        directed |= like_pairs(yes, no, matrix, f"by {source}")
        about_concepts |= like_concepts(yes, matrix, f"by {source}")
    return Columns.of(
        "labels", symmetric=symmetric, directed=directed, about_concepts=about_concepts
    )


def _paths(yes: SparseMatrix) -> list[SparseMatrix]:
    """Count the ways of each length through the graph of known prerequisites."""
    paths = [yes]
    while len(paths) < LONGEST:
        paths.append(paths[-1] @ yes)
    return paths


def _alike_in_what_they_lead_to(yes: SparseMatrix) -> FloatArray:
    """Say how much concepts that lead where a leads lead to b."""
    leads_to, needed_by = _scaled_rows(yes), _scaled_rows(yes.T.tocsr())
    return np.asarray((leads_to @ needed_by @ leads_to).toarray())


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
