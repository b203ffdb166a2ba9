"""What the labels of other pairs say about an ordered pair: a row of numbers.

No label is its own evidence. The labels of a pair and of its reverse are left out whenever that
pair is described: pairs are dealt into folds, both orders of a pair into one, and a pair is
described by the labels of the other folds. Which fold a pair belongs to depends on its two
concepts alone, so a label that is added or removed changes nothing about the pair it belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.linalg import solve
from scipy.sparse import csr_array

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.data.splits import LabelledPairs
from proprl.models.pair_numbers import PairNumbers

# Concepts count as alike up to about these distances from cosine 1.
NEARNESS = (0.1, 0.25)
# Sums of weights below this say nothing: a rate is drawn to 0 there.
LITTLE = 1e-3
STEPS = 4


def nearness(affinity: FloatArray) -> dict[float, FloatArray]:
    """Give how much each concept counts for each other, from how alike they are: n × n.

    In single precision: most of the time goes into products of these matrices.
    """
    return {within: np.exp((affinity - 1.0) / within).astype(np.float32) for within in NEARNESS}


class KnownPairs(PairNumbers):
    """What labelled pairs say about others.

    `near` says how much concepts count for each other, by each source of evidence; see
    `nearness`. What would take products of full n × n matrices is worked out for the pairs that
    are asked about only.
    """

    def __init__(
        self, known: LabelledPairs, near: Mapping[str, Mapping[float, FloatArray]], n: int
    ) -> None:
        super().__init__()
        yes, no = label_matrix(known, 1, n), label_matrix(known, 0, n)
        self._add_paths(yes, no)
        self.yes, self.asked = yes.toarray(), (yes + no).toarray()
        balance = yes.sum() / max(no.sum(), 1.0)  # so that 0 means: as usual
        self.signed_labels: SparseMatrix = (yes - balance * no).astype(np.float32)
        self.labels: SparseMatrix = (yes + no).astype(np.float32)
        for source, by_distance in near.items():
            self._add_levels(by_distance[NEARNESS[0]], source)
            for within, counts in by_distance.items():
                self._add_rates(counts, f"by {source} within {within}")

    def _add_paths(self, yes: SparseMatrix, no: SparseMatrix) -> None:
        """Paths in the graph of known prerequisites."""
        paths = [yes]
        while len(paths) < STEPS:
            paths.append(paths[-1] @ yes)
        steps = _steps(paths)
        leads_to = _scaled_rows(yes)
        needed_by = _scaled_rows(yes.T.tocsr())
        self.directed |= {
            "paths of two steps": paths[1].toarray(),
            "paths of three steps": paths[2].toarray(),
            "steps": steps,
            # Concepts that lead where a leads: do they lead to b?
            "alike in what they lead to": (leads_to @ needed_by @ leads_to).toarray(),
            "alike, but not a prerequisite": (yes @ yes.T @ no).log1p().toarray(),
            "prerequisite of what is alike, but not of it": (no @ yes.T @ yes).log1p().toarray(),
        }
        self.symmetric |= {
            "common dependents": (yes @ yes.T).toarray(),
            "common prerequisites": (yes.T @ yes).toarray(),
        }
        reached = steps <= STEPS
        self.about_concepts |= {
            "known dependents": np.log1p(reached.sum(axis=1)),
            "known prerequisites": np.log1p(reached.sum(axis=0)),
        }

    def _add_levels(self, near: FloatArray, source: str) -> None:
        """Place concepts on a line: dependents one step above, alike concepts near each other."""
        ties = self.yes + self.yes.T + 0.5 * near
        np.fill_diagonal(ties, 0.0)
        laplacian = np.diag(ties.sum(axis=1) + 0.05) - ties
        steps_up = self.yes.sum(axis=0) - self.yes.sum(axis=1)
        self.about_concepts[f"level by {source}"] = solve(laplacian, steps_up, assume_a="pos")

    def _add_rates(self, near: FloatArray, how: str) -> None:
        """What became of pairs like this one; near[i, k] says how much k counts for i."""
        yes, asked = self.yes, self.asked
        near_labels, near_signed_labels = near @ self.labels, near @ self.signed_labels

        def weights_and_rates(
            sources: IntArray, like_targets: FloatArray
        ) -> tuple[FloatArray, FloatArray]:
            weight = near_labels[sources] @ like_targets
            return weight, near_signed_labels[sources] @ like_targets / (weight + LITTLE)

        def likely(sources: IntArray, like_targets: FloatArray) -> FloatArray:
            return np.maximum(weights_and_rates(sources, like_targets)[1], 0.0)

        def rates(sources: IntArray, targets: IntArray) -> dict[str, FloatArray]:
            like_targets, like_sources = near[targets].T, near[sources]
            weight, rate = weights_and_rates(sources, like_targets)
            of_sources, to_targets = yes[sources], yes[:, targets]
            after = np.flatnonzero(of_sources.any(axis=0))
            before = np.flatnonzero(to_targets.any(axis=1))
            return {
                f"labels of like pairs {how}": rate,
                f"number of like pairs {how}": np.log(weight + LITTLE**2),
                f"the source with like targets {how}": (of_sources @ like_targets)
                / (asked[sources] @ like_targets + LITTLE),
                f"like sources with the target {how}": (like_sources @ to_targets)
                / (like_sources @ asked[:, targets] + LITTLE),
                f"over a known step, then a likely one {how}": of_sources[:, after]
                @ likely(after, like_targets),
                f"over a likely step, then a known one {how}": likely(sources, near[before].T)
                @ to_targets[before],
            }

        self.worked_out.append(rates)
        self._add_places(near, how)

    def _add_places(self, near: FloatArray, how: str) -> None:
        """Whether concepts like this one come first, or later."""
        near = near.astype(np.float64)
        first, later = near @ self.yes.sum(axis=1), near @ self.yes.sum(axis=0)
        self.about_concepts |= {
            f"like concepts as sources {how}": first / (near @ self.asked.sum(axis=1) + LITTLE),
            f"like concepts as targets {how}": later / (near @ self.asked.sum(axis=0) + LITTLE),
            f"like concepts rather first {how}": first / (first + later + LITTLE),
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


def label_matrix(known: LabelledPairs, label: int, n: int) -> SparseMatrix:
    """Give 1 where a pair has this label: n × n."""
    pairs = np.unique(known.pairs[known.labels == label], axis=0)
    return csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))


def _scaled_rows(matrix: SparseMatrix) -> SparseMatrix:
    """Divide each row by the root of its sum."""
    root = np.sqrt(np.maximum(np.asarray(matrix.sum(axis=1)), 1.0))
    return csr_array(matrix.multiply(1.0 / root[:, None]))


def _steps(paths: list[SparseMatrix]) -> FloatArray:
    """Give the length of the shortest path; where there is none, one more than the longest."""
    steps = np.full(paths[0].shape, len(paths) + 1.0)
    for length in range(len(paths), 0, -1):
        steps[paths[length - 1].nonzero()] = length
    return steps
