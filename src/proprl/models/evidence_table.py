"""All explicit evidence about ordered pairs, as the rows that classifiers learn from."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import diags_array

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.data.splits import LabelledPairs
from proprl.graphs.affinity import behaviour_affinity, text_affinity
from proprl.graphs.evidence import Evidence
from proprl.models.known_pairs import KnownPairs, fold_of, nearness
from proprl.models.pair_evidence import PairEvidence

# More of them leave more labels to describe a pair by, and take longer. With 20 the twentieth
# that is left out is hardly missed; with 10, validation AUC was 0.3 points lower.
FOLDS = 20
# So many parts of the concepts are taken for new in turn.
PARTS = 5
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
        self._near = {"texts": nearness(text_affinity(evidence.features))}
        if evidence.transitions is not None:
            self._near["behaviour"] = nearness(behaviour_affinity(evidence.transitions))
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

    def lessons(self, pairs: IntArray, salt: int) -> FloatArray:
        """Give the rows of pairs to learn from, dealt into folds anew for each salt.

        Every other time the labels of reverses are hidden: of a pair that is asked about later,
        the reverse is known now and then only, and must not be relied upon.
        """
        shown = self.reverse_labels and salt % 2 == 1
        return self._rows(pairs, salt, reverse_labels=shown)

    def lessons_about_newcomers(self, labelled: LabelledPairs) -> tuple[FloatArray, LabelledPairs]:
        """Give rows of pairs to learn from in which one concept is taken for new, and these pairs.

        Of a new concept there is a text and nothing else: no moves, no resources, no labels. Who
        has not learned from such pairs takes that silence for a no.
        """
        concepts = np.arange(self.evidence.concept_count)
        part = fold_of(np.column_stack([concepts, concepts]), PARTS, salt=0)
        rows, asked = [np.empty((0, len(self.names)), dtype=np.float32)], []
        for one in range(PARTS):
            new = part == one
            evidence = _without(self.evidence, new)
            one_is_new = np.flatnonzero(new[labelled.pairs].sum(axis=1) == 1)
            if evidence.views != self.evidence.views or not len(one_is_new):
                continue  # a tiny course: nothing is left to compare with
            others = self.known.take(np.flatnonzero(~new[self.known.pairs].any(axis=1)))
            table = EvidenceTable(evidence, others, reverse_labels=False)
            rows.append(table._by_all_labels(labelled.pairs[one_is_new]))
            asked.append(one_is_new)
        return np.vstack(rows), labelled.take(np.concatenate([np.empty(0, np.int64), *asked]))

    def _by_all_labels(self, pairs: IntArray) -> FloatArray:
        """Give the rows of pairs whose labels, and their reverses' labels, are not known here."""
        described = self._described_by(np.ones(len(self.known), dtype=bool)).rows(pairs)
        no_reverse = np.zeros((len(pairs), 1))
        return np.hstack([self._own.rows(pairs), described, no_reverse]).astype(np.float32)

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
        return KnownPairs(known, self._near, self.evidence.concept_count)


def _without(evidence: Evidence, concepts: npt.NDArray[np.bool_]) -> Evidence:
    """Give the evidence of a course that has nothing but texts for these concepts."""
    kept = diags_array((~concepts).astype(np.float64)).tocsr()
    B, M = evidence.transitions, evidence.incidence
    return Evidence(
        evidence.features,
        transitions=None if B is None else _cleaned(kept @ B @ kept),
        incidence=None if M is None else _cleaned(kept @ M),
    )


def _cleaned(matrix: SparseMatrix) -> SparseMatrix:
    matrix.eliminate_zeros()
    return matrix


def _signs(known: LabelledPairs, n: int) -> FloatArray:
    """Give 1 for a known prerequisite, -1 for a pair known to be none, 0 for a contradiction."""
    votes = np.zeros((n, n))
    np.add.at(votes, (known.pairs[:, 0], known.pairs[:, 1]), 2.0 * known.labels - 1.0)
    return np.asarray(np.sign(votes))
