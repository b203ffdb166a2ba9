"""What the labels of other pairs say about an ordered pair: ways over other concepts.

What they say of pairs like it stands in `proprl.pairs.like_pairs`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_array

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.data.splits.labelled import LabelledPairs
from proprl.pairs.columns import Columns
from proprl.pairs.like_pairs import like_pair_columns

LONGEST = 4


def label_columns(
    known: LabelledPairs,
    near: Mapping[str, FloatArray],
    n: int,
    among: IntArray | None = None,
) -> Columns:
    """Give what these labels say about pairs; `near` is `nearness` by each source.

    If concepts are given, only of pairs `among` them, numbered anew. For a single pair that takes
    a fifth of the time.
    """
    here = slice(None) if among is None else among
    yes, no = label_matrix(known, 1, n), label_matrix(known, 0, n)
    ways = [yes]  # how many there are of each length, through known prerequisites
    while len(ways) < LONGEST:
        ways.append(ways[-1] @ yes)
    steps = _steps(ways)
    reached = steps <= LONGEST
    same_dependents, same_prerequisites = yes[here] @ yes.T, yes.T @ yes[:, here]
    leads_to, needed_by = _scaled_rows(yes), _scaled_rows(yes.T.tocsr())
    like_leads = leads_to[here] @ needed_by @ leads_to[:, here]
    columns = Columns(
        "labels",
        symmetric={
            "common dependents": same_dependents[:, here].toarray(),
            "common prerequisites": same_prerequisites[here].toarray(),
        },
        directed={
            "known ways of two steps": ways[1][here][:, here].toarray(),
            "known ways of three steps": ways[2][here][:, here].toarray(),
            "known steps": steps[here][:, here],
            # How much those concepts lead to b that lead where a leads.
            "alike in what they lead to": like_leads.toarray(),
            "alike, but not a prerequisite": ((same_dependents @ no[:, here]).log1p().toarray()),
            "prerequisite of what is alike, but not of it": (
                (no[here] @ same_prerequisites).log1p().toarray()
            ),
        },
        about_concepts={
            "known dependents": np.log1p(reached[here].sum(axis=1)),
            "known prerequisites": np.log1p(reached[:, here].sum(axis=0)),
        },
    )
    return columns + like_pair_columns(yes, no, near, among)


def label_matrix(known: LabelledPairs, label: int, n: int) -> SparseMatrix:
    """Give 1 where a pair has this label: n × n."""
    pairs = np.unique(known.pairs[known.labels == label], axis=0)
    return csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))


def _scaled_rows(matrix: SparseMatrix) -> SparseMatrix:
    """Divide each row by the root of its sum."""
    root = np.sqrt(np.maximum(matrix.sum(axis=1), 1.0))
    return csr_array(matrix.multiply(1.0 / root[:, None]))


def _steps(ways: list[SparseMatrix]) -> FloatArray:
    """Give the length of the shortest way; where there is none, one more than the longest."""
    steps = np.full(ways[0].shape, len(ways) + 1.0)
    for length in range(len(ways), 0, -1):
        steps[ways[length - 1].nonzero()] = length
    return steps
