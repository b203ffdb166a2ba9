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
from proprl.models.order import AT_ONCE, expected_order, order_by_others, reading_likeness
from proprl.models.pair_evidence import PairEvidence
from proprl.models.pair_numbers import turned_round
from proprl.models.roles import likeness, role_affinity

Sources: TypeAlias = Literal["course and labels", "course", "labels"]
"""Whether the course, the labels of other pairs, or both are evidence."""
Newcomer: TypeAlias = Literal["no label", "only a text"]
"""What there is of a new concept: all but labels, or a text and nothing else."""

# More folds leave more labels to describe a pair by, and take longer. With 20 the twentieth that
# is left out is hardly missed; with 10, validation AUC was 0.3 points lower.
FOLDS = 20
# Rows of so many pairs at most are kept for the next question: they take 1 kB each.
KEPT = 10_000
# So many parts of the concepts are taken for new in turn.
PARTS = 5


class EvidenceTable:
    """What the course, and the labels of other pairs, say about an ordered pair.

    In `rows` every pair, its label known or not, is described by the labels outside its own fold
    (see `known_pairs`): no label is its own evidence, and pairs are described alike when they are
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
        folds: int = FOLDS,
    ) -> None:
        self.evidence, self.known = evidence, known
        self.sources, self.roles, self.folds = sources, roles, folds
        self._own = PairEvidence(evidence)
        affinities = {"texts": text_affinity(evidence.features)}
        if evidence.transitions is not None:
            affinities["behaviour"] = behaviour_affinity(evidence.transitions)
        self._alike = likeness(list(affinities.values()))
        if evidence.passages is not None:
            affinities["passages"] = passage_affinity(evidence.passages, evidence.features)
        self._near = {source: nearness(affinity) for source, affinity in affinities.items()}
        self._last: dict[int, tuple[IntArray, FloatArray]] = {}

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
        other.known, other._last = known, {}
        return other

    def rows(self, pairs: IntArray, salt: int = 0) -> FloatArray:
        """Give the numbers of each pair: (m, 2) -> (m, columns), single precision.

        Another salt deals pairs into other folds. The last rows are kept: whoever asks about pairs
        mostly asks about their reverses next.
        """
        if salt in self._last:
            before, rows = self._last[salt]
            if np.array_equal(before, pairs):
                return rows
            if np.array_equal(before, pairs[:, ::-1]):
                return turned_round(rows, self.names)
        self._last.pop(salt, None)  # before others are made: they may be large
        return self._keep(
            pairs, salt, self._joined(pairs, lambda: self._by_other_folds(pairs, salt))
        )

    def rows_of_known(self, salt: int = 0, *, then: IntArray) -> FloatArray:
        """Give the rows of the known pairs. Whoever asks about pairs `then` need not wait again.

        Most of the time goes into what a fold's labels say of concepts, whatever pairs are asked
        about: so both are described together.
        """
        m, rows = len(self.known), self.rows(np.vstack([self.known.pairs, then]), salt)
        self._keep(then, salt, rows[m:].copy())
        return rows[:m]

    def _keep(self, pairs: IntArray, salt: int, rows: FloatArray) -> FloatArray:
        rows.flags.writeable = False  # they are handed out again
        self._last[salt] = pairs.copy(), rows
        return rows

    def forget_many(self) -> None:
        """Let go of the last rows if they are too many to be kept for another question."""
        self._last = {salt: last for salt, last in self._last.items() if len(last[0]) <= KEPT}

    @property
    def tells_order(self) -> bool:
        """Whether somebody has read about the concepts, and labels are evidence."""
        return self.evidence.readings is not None and "labels" in self.sources

    def order(self, pairs: IntArray) -> FloatArray:
        """Give how surely each source comes before its target: (m, 2) -> (m,).

        0 where nothing tells; see `tells_order`.
        """
        order = np.zeros(len(pairs))
        if self._read_alike is None:
            return order
        known = self.known.positives
        if len(known) <= AT_ONCE:
            return order_by_others(pairs, known, self._read_alike)
        fold_of_known, fold = (fold_of(some, self.folds, salt=0) for some in (known, pairs))
        for one in np.unique(fold):
            here = fold == one
            others = known[fold_of_known != one]
            order[here] = expected_order(others, self._read_alike)[tuple(pairs[here].T)]
        return order

    @cached_property
    def _read_alike(self) -> FloatArray | None:
        R = self.evidence.readings if self.tells_order else None
        return None if R is None else reading_likeness(R)

    def newness(self, pairs: IntArray, salt: int = 0) -> FloatArray:
        """Say how new the newer concept of each pair is: (m, 2) -> (m,).

        1 if there is only its text, 0.5 if just labels are missing, 0 if one of the labels that
        describe the pair is about it. Where labels are no evidence, none is missing.
        """
        only_a_text = _only_a_text(self.evidence)[pairs]
        if "labels" not in self.sources:
            return np.asarray(only_a_text.any(axis=1).astype(np.float64))
        labels = np.zeros((self.evidence.concept_count, self.folds), dtype=np.int64)
        fold_of_known = fold_of(self.known.pairs, self.folds, salt)
        for concept in self.known.pairs.T:
            np.add.at(labels, (concept, fold_of_known), 1)
        in_other_folds = labels.sum(axis=1, keepdims=True) - labels
        unlabelled = in_other_folds[pairs, fold_of(pairs, self.folds, salt)[:, None]] == 0
        return np.asarray((np.where(only_a_text, 1.0, 0.5) * unlabelled).max(axis=1))

    def lessons_about_newcomers(
        self, asked: LabelledPairs, there_is: Newcomer
    ) -> tuple[FloatArray, LabelledPairs]:
        """Give rows of pairs in which a concept is taken for new, and these pairs.

        A fifth of the concepts is taken for new at a time, and no label about any of them
        describes a pair.
        """
        concepts = np.arange(self.evidence.concept_count)
        part = fold_of(np.column_stack([concepts, concepts]), PARTS, salt=0)
        rows, chosen = [np.empty((0, len(self.names)), dtype=np.float32)], [np.empty(0, np.int64)]
        for one in range(PARTS):
            new = part == one
            others = np.flatnonzero(~new[self.known.pairs].any(axis=1))
            table = self.knowing(self.known.take(others))
            bare = table if there_is == "no label" else table._with_texts_alone(new)
            holds_new = np.flatnonzero(new[asked.pairs].any(axis=1))
            if bare is None or not len(holds_new):
                continue
            rows.append(bare._by_all_labels(asked.pairs[holds_new]))
            chosen.append(holds_new)
        return np.vstack(rows), asked.take(np.concatenate(chosen))

    def _with_texts_alone(self, concepts: npt.NDArray[np.bool_]) -> EvidenceTable | None:
        """Give the table of a course that has nothing but texts for these concepts.

        None if there is nothing else in this course either, or nothing is left to compare with.
        """
        before, after = self.evidence, _without(self.evidence, concepts)
        if _only_a_text(before).all() or (after.views, after.passages is None) != (
            before.views,
            before.passages is None,
        ):
            return None
        return EvidenceTable(
            after, self.known, sources=self.sources, roles=self.roles, folds=self.folds
        )

    def _by_all_labels(self, pairs: IntArray) -> FloatArray:
        """Give the rows of pairs of which no label, nor one of their reverses, is known here."""
        everything = np.ones(len(self.known), dtype=bool)
        return self._joined(pairs, lambda: self._described_by(everything).rows(pairs))

    def _joined(self, pairs: IntArray, by_labels: Callable[[], FloatArray]) -> FloatArray:
        own = [self._own.rows(pairs)] if "course" in self.sources else []
        labels = [by_labels()] if "labels" in self.sources else []
        return np.hstack([*own, *labels]).astype(np.float32)

    def _by_other_folds(self, pairs: IntArray, salt: int) -> FloatArray:
        fold_of_known = fold_of(self.known.pairs, self.folds, salt)
        fold = fold_of(pairs, self.folds, salt)
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


def _only_a_text(evidence: Evidence) -> npt.NDArray[np.bool_]:
    """Say of which concepts there are neither moves nor resources: (n,).

    Passages do not count: a concept that resources mention, but do not hold, is rare.
    """
    nothing = np.ones(evidence.concept_count, dtype=bool)
    if evidence.transitions is not None:
        nothing &= (evidence.transitions.sum(axis=0) + evidence.transitions.sum(axis=1)) == 0
    if evidence.incidence is not None:
        nothing &= evidence.incidence.sum(axis=1) == 0
    return nothing


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
        readings=evidence.readings,
    )
