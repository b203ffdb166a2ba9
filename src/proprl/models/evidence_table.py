"""All explicit evidence about ordered pairs, as the rows that classifiers learn from."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import diags_array

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits import LabelledPairs
from proprl.graphs.affinity import behaviour_affinity, passage_affinity, text_affinity
from proprl.graphs.evidence import Evidence
from proprl.models.known_pairs import KnownPairs, fold_of, nearness
from proprl.models.pair_evidence import PairEvidence
from proprl.models.roles import likeness, role_affinity

Sources: TypeAlias = Literal["course and labels", "course", "labels"]
"""Whether the course, the labels of other pairs, or both are evidence."""

# More of them leave more labels to describe a pair by, and take longer. With 20 the twentieth
# that is left out is hardly missed; with 10, validation AUC was 0.3 points lower.
FOLDS = 20
# So many parts of the concepts are taken for new in turn.
PARTS = 5


class EvidenceTable:
    """What the course, and the labels of other pairs, say about an ordered pair.

    Every pair, its label known or not, is described by the labels outside its own fold (see
    `known_pairs`): no label is its own evidence, and pairs are described alike when they are
    learned from and when they are asked about. A pair's reverse is in its fold, so its label is
    not seen here either; see `reverse_labels`.
    """

    def __init__(
        self,
        evidence: Evidence,
        known: LabelledPairs,
        *,
        sources: Sources = "course and labels",
        roles: bool = True,
    ) -> None:
        self.evidence, self.known, self.sources, self.roles = evidence, known, sources, roles
        self._own = PairEvidence(evidence)
        affinities = {"texts": text_affinity(evidence.features)}
        if evidence.transitions is not None:
            affinities["behaviour"] = behaviour_affinity(evidence.transitions)
        self._alike = likeness(list(affinities.values()))
        if evidence.passages is not None:
            affinities["passages"] = passage_affinity(evidence.passages, evidence.features)
        self._near = {source: nearness(affinity) for source, affinity in affinities.items()}

    @property
    def names(self) -> list[str]:
        """What each column says."""
        own = self._own.names if "course" in self.sources else []
        return [*own, *(self._known_names if "labels" in self.sources else [])]

    @cached_property
    def _known_names(self) -> list[str]:
        return self._described_by(np.zeros(len(self.known), dtype=bool)).names

    def knowing(self, known: LabelledPairs) -> EvidenceTable:
        """Give the table of the same course when other labels are known."""
        other = copy(self)
        other.known = known
        return other

    def rows(self, pairs: IntArray, salt: int = 0) -> FloatArray:
        """Give the numbers of each pair: (m, 2) -> (m, columns), single precision.

        Another salt deals pairs into other folds.
        """
        return self._joined(pairs, lambda: self._by_other_folds(pairs, salt))

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
            table = EvidenceTable(evidence, others, sources=self.sources, roles=self.roles)
            rows.append(table._by_all_labels(labelled.pairs[one_is_new]))
            asked.append(one_is_new)
        return np.vstack(rows), labelled.take(np.concatenate([np.empty(0, np.int64), *asked]))

    def _by_all_labels(self, pairs: IntArray) -> FloatArray:
        """Give the rows of pairs of which no label, nor one of their reverses, is known here."""
        everything = np.ones(len(self.known), dtype=bool)
        return self._joined(pairs, lambda: self._described_by(everything).rows(pairs))

    def _joined(self, pairs: IntArray, by_labels: Callable[[], FloatArray]) -> FloatArray:
        own = [self._own.rows(pairs)] if "course" in self.sources else []
        labels = [by_labels()] if "labels" in self.sources else []
        return np.hstack([*own, *labels]).astype(np.float32)

    def _by_other_folds(self, pairs: IntArray, salt: int) -> FloatArray:
        fold_of_known = fold_of(self.known.pairs, FOLDS, salt)
        fold = fold_of(pairs, FOLDS, salt)
        described = np.empty((len(pairs), len(self._known_names)))
        for one in np.unique(fold):
            here = fold == one
            described[here] = self._described_by(fold_of_known != one).rows(pairs[here])
        return described

    def _described_by(self, kept: npt.NDArray[np.bool_]) -> KnownPairs:
        known = LabelledPairs(self.known.pairs[kept], self.known.labels[kept])
        near = self._near
        if self.roles:
            near = near | {"roles": nearness(role_affinity(known, self._alike))}
        return KnownPairs(known, near, self.evidence.concept_count)


def _without(evidence: Evidence, concepts: npt.NDArray[np.bool_]) -> Evidence:
    """Give the evidence of a course that has nothing but texts for these concepts."""
    kept = diags_array((~concepts).astype(np.float64)).tocsr()
    B, M, P = evidence.transitions, evidence.incidence, evidence.passages
    return Evidence(
        evidence.features,
        transitions=None if B is None else kept @ B @ kept,
        incidence=None if M is None else kept @ M,
        resource_links=evidence.resource_links,
        passages=None if P is None else np.where(concepts[:, None], 0.0, P),
    )
