"""All explicit evidence about ordered pairs, as the rows that classifiers learn from."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits import LabelledPairs
from proprl.graphs.affinity import behaviour_affinity, text_affinity
from proprl.graphs.evidence import Evidence
from proprl.models.known_pairs import KnownPairs, fold_of
from proprl.models.pair_evidence import PairEvidence

# More of them leave more labels to describe a pair by, and take longer. With 20 the twentieth
# that is left out is hardly missed; with 10, validation AUC was 0.3 points lower.
FOLDS = 20
REVERSE = "label of the reverse"


class EvidenceTable:
    """What the course, and the labels of other pairs, say about an ordered pair.

    Every pair, its label known or not, is described by the labels outside its own fold (see
    `known_pairs`): no label is its own evidence, and pairs are described alike when they are
    learned from and when they are asked about. The label of the reverse order, where it is known,
    is a column of its own, the last one: prerequisites are irreversible.
    """

    def __init__(self, evidence: Evidence, known: LabelledPairs, *, reverse_labels: bool) -> None:
        self.evidence, self.known, self.reverse_labels = evidence, known, reverse_labels
        self._own = PairEvidence(evidence)
        self._affinities = {"texts": text_affinity(evidence.features)}
        if evidence.transitions is not None:
            self._affinities["behaviour"] = behaviour_affinity(evidence.transitions)
        self._signs = _signs(known, evidence.concept_count)

    @property
    def names(self) -> list[str]:
        """What each column says."""
        return [*self._own.names, *self._known_names, REVERSE]

    @cached_property
    def _known_names(self) -> list[str]:
        return self._described_by(np.zeros(len(self.known), dtype=bool)).names

    def rows(self, pairs: IntArray) -> FloatArray:
        """Give the numbers of each pair: (m, 2) -> (m, columns), single precision."""
        return self._rows(pairs, salt=0, reverse_labels=self.reverse_labels)

    def lessons(self, salt: int) -> FloatArray:
        """Give the rows of the known pairs, dealt into folds anew for each salt.

        Every other time the labels of reverses are hidden: of a pair that is asked about later,
        the reverse is known now and then only, and must not be relied upon.
        """
        shown = self.reverse_labels and salt % 2 == 1
        return self._rows(self.known.pairs, salt, reverse_labels=shown)

    def _rows(self, pairs: IntArray, salt: int, *, reverse_labels: bool) -> FloatArray:
        own = self._own.rows(pairs)
        reverse = np.zeros((len(pairs), 1))
        if reverse_labels:
            reverse[:, 0] = self._signs[pairs[:, 1], pairs[:, 0]]
        return np.hstack([own, self._by_other_folds(pairs, salt), reverse]).astype(np.float32)

    def _by_other_folds(self, pairs: IntArray, salt: int) -> FloatArray:
        fold_of_known = fold_of(self.known.pairs, FOLDS, salt)
        fold = fold_of(pairs, FOLDS, salt)
        rows = np.empty((len(pairs), len(self._known_names)))
        for one in np.unique(fold):
            rows[fold == one] = self._described_by(fold_of_known != one).rows(pairs[fold == one])
        return rows

    def _described_by(self, kept: npt.NDArray[np.bool_]) -> KnownPairs:
        known = LabelledPairs(self.known.pairs[kept], self.known.labels[kept])
        return KnownPairs(known, self._affinities, self.evidence.concept_count)


def _signs(known: LabelledPairs, n: int) -> FloatArray:
    """Give 1 for a known prerequisite, -1 for a pair known to be none, 0 for a contradiction."""
    votes = np.zeros((n, n))
    np.add.at(votes, (known.pairs[:, 0], known.pairs[:, 1]), 2.0 * known.labels - 1.0)
    return np.asarray(np.sign(votes))
