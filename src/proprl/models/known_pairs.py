"""What the labels of other pairs say about an ordered pair: a row of numbers.

No label is its own evidence. The labels of a pair and of its reverse are left out whenever that
pair is described: pairs are dealt into folds, both orders of a pair into one, and a pair is
described by the labels of the other folds. Which fold a pair belongs to depends on its two
concepts alone, so a label that is added or removed changes nothing about the pair it belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits import LabelledPairs
from proprl.models.pair_numbers import PairNumbers

# Concepts count as alike up to about these distances from cosine 1.
NEARNESS = (0.1, 0.25)
# Sums of weights below this say nothing: a rate is drawn to 0 there.
LITTLE = 1e-3
STEPS = 4


class KnownPairs(PairNumbers):
    """What labelled pairs say about others.

    `affinities` says how alike concepts are, from each source of evidence: (n, n), at most 1.
    """

    def __init__(self, known: LabelledPairs, affinities: Mapping[str, FloatArray], n: int) -> None:
        super().__init__()
        yes, no = _matrix(known, 1, n), _matrix(known, 0, n)
        self._add_paths(yes, no)
        for source, affinity in affinities.items():
            self._add_levels(yes, affinity, source)
            for nearness in NEARNESS:
                near = np.exp((affinity - 1.0) / nearness)
                self._add_rates(yes, no, near, f"by {source} within {nearness}")

    def _add_paths(self, yes: FloatArray, no: FloatArray) -> None:
        """Paths in the graph of known prerequisites."""
        two = yes @ yes
        three = two @ yes
        steps = np.full(yes.shape, STEPS + 1.0)
        for length, paths in reversed(list(enumerate((yes, two, three, three @ yes), start=1))):
            steps[paths > 0] = length
        leads_to, needed_by = yes / _root(yes.sum(axis=1))[:, None], yes / _root(yes.sum(axis=0))
        self.directed |= {
            "paths of two steps": two,
            "paths of three steps": three,
            "steps": steps,
            # Concepts that lead where a leads: do they lead to b?
            "alike in what they lead to": leads_to @ needed_by.T @ leads_to,
            "alike, but not a prerequisite": np.log1p(yes @ yes.T @ no),
            "prerequisite of what is alike, but not of it": np.log1p(no @ yes.T @ yes),
        }
        self.symmetric |= {
            "common dependents": yes @ yes.T,
            "common prerequisites": yes.T @ yes,
        }
        reach = steps <= STEPS
        self.about_concepts |= {
            "known dependents": np.log1p(reach.sum(axis=1)),
            "known prerequisites": np.log1p(reach.sum(axis=0)),
        }

    def _add_levels(self, yes: FloatArray, affinity: FloatArray, source: str) -> None:
        """Place concepts on a line: dependents one step above, alike concepts near each other."""
        near = np.exp((affinity - 1.0) / NEARNESS[0])
        np.fill_diagonal(near, 0.0)
        ties = yes + yes.T + 0.5 * near
        laplacian = np.diag(ties.sum(axis=1) + 0.05) - ties
        level = np.linalg.solve(laplacian, yes.sum(axis=0) - yes.sum(axis=1))
        self.about_concepts[f"level by {source}"] = level

    def _add_rates(self, yes: FloatArray, no: FloatArray, near: FloatArray, how: str) -> None:
        """What became of pairs like this one; near[i, k] says how much k counts for i."""
        asked = yes + no
        weight = near @ asked @ near.T
        balance = yes.sum() / max(no.sum(), 1.0)  # so that 0 means: as usual
        rate = (near @ (yes - balance * no) @ near.T) / (weight + LITTLE)
        likely = np.maximum(rate, 0.0)
        self.directed |= {
            f"labels of like pairs {how}": rate,
            f"number of like pairs {how}": np.log(weight + LITTLE**2),
            f"the source with like targets {how}": (yes @ near.T) / (asked @ near.T + LITTLE),
            f"like sources with the target {how}": (near @ yes) / (near @ asked + LITTLE),
            f"over a known step, then a likely one {how}": yes @ likely,
            f"over a likely step, then a known one {how}": likely @ yes,
        }
        as_source, as_target = yes.sum(axis=1), yes.sum(axis=0)
        self.about_concepts |= {
            f"like concepts as sources {how}": (near @ as_source)
            / (near @ asked.sum(axis=1) + LITTLE),
            f"like concepts as targets {how}": (near @ as_target)
            / (near @ asked.sum(axis=0) + LITTLE),
            f"like concepts rather first {how}": (near @ as_source)
            / (near @ (as_source + as_target) + LITTLE),
        }


def fold_of(pairs: IntArray, folds: int, salt: int) -> IntArray:
    """Deal pairs into folds, both orders of a pair into one: (m, 2) -> (m,).

    >>> fold_of(np.array([[3, 8], [8, 3]]), 10, salt=0).tolist()
    [4, 4]
    """
    low, high = np.sort(pairs, axis=1).T.astype(np.uint64)
    with np.errstate(over="ignore"):  # arithmetic modulo 2⁶⁴, as the mixing wants it
        x = (low << np.uint64(32)) ^ high ^ (np.uint64(salt) * np.uint64(0x9E3779B97F4A7C15))
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)  # splitmix64
        x ^= x >> np.uint64(31)
    fold: IntArray = (x % np.uint64(folds)).astype(np.int64)
    return fold


def _matrix(known: LabelledPairs, label: int, n: int) -> FloatArray:
    matrix = np.zeros((n, n))
    pairs = known.pairs[known.labels == label]
    matrix[pairs[:, 0], pairs[:, 1]] = 1.0
    return matrix


def _root(count: FloatArray) -> FloatArray:
    return np.sqrt(np.maximum(count, 1.0))
