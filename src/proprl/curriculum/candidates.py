"""Pairs that may become learned steps of a map: likely enough, and within a budget."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.labelled import pair_codes
from proprl.errors import ProprlError
from proprl.evaluation.base_rate import log_odds
from proprl.graphs.closure import BoolArray

JUST_BELIEVED = 1e-6
"""What a pair at the threshold is worth: enough to be drawn, and nothing beside another one."""


@dataclass(frozen=True)
class Budget:
    """How many learned pairs may stand in a graph."""

    edges: int | None = None
    """So many in all."""
    per_concept: int | None = None
    """So many before each concept."""

    def __post_init__(self) -> None:
        for name, count in (("edges", self.edges), ("per concept", self.per_concept)):
            if count is not None and count < 1:
                raise ProprlError(f"a budget of {count} {name} draws nothing: it must be 1 or more")

    def allows(self, pairs: IntArray) -> IntArray:
        """Give the places of the pairs that the budget lets in; the strongest come first."""
        places = np.arange(len(pairs))
        if self.per_concept is not None:
            met: Counter[int] = Counter()
            for k, target in enumerate(pairs[:, 1].tolist()):
                met[target] += 1
                places[k] = k if met[target] <= self.per_concept else -1
        return places[places >= 0][: self.edges]


NO_LIMIT = Budget()


def believed_pairs(
    pairs: IntArray, probabilities: FloatArray, threshold: float
) -> tuple[IntArray, FloatArray]:
    """Give the pairs from the threshold on, each once, strongest first, with their weights."""
    weights = log_odds(probabilities) - log_odds(np.array(threshold)) + JUST_BELIEVED
    believed = np.flatnonzero((probabilities >= threshold) & (pairs[:, 0] != pairs[:, 1]))
    codes = pair_codes(pairs[believed])
    order = np.lexsort((codes, -weights[believed]))
    once = believed[order[np.sort(np.unique(codes[order], return_index=True)[1])]]
    return pairs[once], weights[once]


def contradicts(known: BoolArray, rejected: IntArray) -> BoolArray:
    """Give which edges would close a cycle with what is known, or imply a rejected pair."""
    n = len(known)
    reach = csr_array(known | np.eye(n, dtype=np.bool_), dtype=np.int64)
    said_no = csr_array((np.ones(len(rejected), np.int64), rejected.T), shape=(n, n))
    along: BoolArray = (reach.T @ said_no @ reach.T).toarray() > 0
    return along | known.T


def check_candidates(n: int, pairs: IntArray, probabilities: FloatArray, threshold: float) -> None:
    """Refuse a threshold that is no probability, and pairs of no concepts."""
    if not 0 <= threshold <= 1:
        raise ProprlError(f"the threshold is a probability, from 0 to 1, not {threshold}")
    if pairs.ndim != 2 or pairs.shape[1] != 2 or probabilities.shape != (len(pairs),):
        raise ProprlError(
            "candidates are pairs of shape (m, 2) with one probability each, "
            f"not of shapes {pairs.shape} and {probabilities.shape}"
        )
    outside = ((pairs < 0) | (pairs >= n)).any(axis=1)
    for wrong, values, expected in (
        (outside, pairs, f"pairs hold concept rows from 0 to {n - 1}"),
        (
            ~((probabilities >= 0) & (probabilities <= 1)),
            probabilities,
            "a probability lies between 0 and 1",
        ),
    ):
        if wrong.any():
            entry = int(np.argmax(wrong))
            raise ProprlError(f"candidate {entry} has {values[entry].tolist()}: {expected}")
