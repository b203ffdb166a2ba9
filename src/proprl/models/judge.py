"""Who judges pairs: it knows some labels, and learned from them what evidence is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Literal, Self

import numpy as np
import torch
from pydantic import Field, field_validator

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits import LabelledPairs
from proprl.evaluation.metrics import enough_to_choose
from proprl.features.readings import NOBODY, resolve_reader
from proprl.models.base import Settings, state_part
from proprl.models.evidence_table import FOLDS, EvidenceTable, Sources
from proprl.models.learners import Learners, Lessons
from proprl.models.order import ordered_logits
from proprl.models.reverse_labels import ReverseLabels, Which
from proprl.progress import SILENT, Progress
from proprl.training.objective import balanced_class_weights

# What the learners count in their mean.
COUNTS = {"trees": 2.0, "line": 1.0}
# What a lesson counts in which there is but a text of a newcomer: mostly there is more.
ONLY_TEXT = 0.3
# How many trees newcomers have for each tree of the others: theirs have more nodes.
TREES_OF_NEWCOMERS = 0.5
STEPS = 2  # of a progress bar: lessons, learning


class SequiturSettings(Settings):
    """How Sequitur's judges learn."""

    trees: int = Field(250, ge=1)
    leaf: int = Field(2, ge=1)
    """Rows that a leaf holds at least."""
    shyness: float = Field(100.0, gt=0)
    """How strongly the line's coefficients are drawn to 0."""
    folds: int = Field(FOLDS, ge=2, le=1_000)
    """A pair is described by the labels outside its own fold: more folds leave more of them."""
    dealt: int = Field(2, ge=1)
    """How often pairs are dealt into folds; each time gives every pair another row. It learns from
    all rows of a known pair, and judges a pair by the mean over its rows."""
    reverse_labels: Which = "positive"
    """Which known labels of the reverse order are evidence. With `both` of them, probabilities are
    those of pairs that are drawn like the labelled ones; see `reverse_labels`."""
    sources: Sources = "course and labels"
    """What else is evidence: the course, the labels of other pairs, or both."""
    roles: bool = True
    """Whether labels of other pairs count by likeness of role, too."""
    passages: bool = True
    """Whether passages of resources that mention a concept are its second text."""
    reader: str = Field("auto", validate_default=True)
    """The language model that reads about the concepts: "none", the name of an encoder such as
    language-model:FOLDER, or "auto", which is the one that is installed."""
    resource_order: bool = True
    """Whether the order of resources is evidence."""
    newcomers: bool = True
    """Whether concepts without a label, but for those in a pair's own fold, have learners of their
    own."""
    learners: Literal["trees and line", "trees", "line"] = "trees and line"
    """Whose logits count."""

    @property
    def reads_passages(self) -> bool:
        """See `Settings`."""
        return self.passages

    @property
    def read_by(self) -> str:
        """See `Settings`; what is read tells nothing without labels to learn it from.

        Where every known reverse counts, pairs are drawn like the labelled ones: a known reverse
        settles the order of some, and the others are hardly ever a positive turned round.
        """
        ordered = "labels" in self.sources and self.reverse_labels != "both"
        return self.reader if ordered else NOBODY

    @field_validator("reader")
    @classmethod
    def _concrete(cls, reader: str) -> str:
        """Settle who reads, so that the settings of a kept model or result say it."""
        return resolve_reader(reader)


@dataclass(frozen=True)
class Judge:
    """What is known, and what was learned from it. It has seen no label but those of its table."""

    table: EvidenceTable
    reverses: ReverseLabels
    of_known: Learners
    of_lone: Learners
    """Who judges lone pairs, whose reverse has no known label, where every such label counts."""
    of_newcomers: Learners | None
    """Who has a say about concepts without a label, lone or not; see `EvidenceTable.newness`."""
    dealt: int

    @classmethod
    def taught(
        cls,
        table: EvidenceTable,
        s: SequiturSettings,
        *,
        seed: int,
        then: IntArray | None = None,
        progress: Progress = SILENT,
    ) -> Self:
        """Learn from the known pairs of a table. `then` it will be asked about these, if any."""
        known = table.known
        reverses = ReverseLabels.learned(known, s.reverse_labels)
        then = known.pairs[:0] if then is None else then
        described = [table.rows_of_known(salt, then=then) for salt in range(s.dealt)]
        progress.step()

        def lessons(
            rows: FloatArray, asked: LabelledPairs, among: LabelledPairs, count: float = 1.0
        ) -> Lessons:
            classes = np.array(balanced_class_weights(torch.from_numpy(among.labels)))
            return Lessons(rows, asked.labels, count * classes[asked.labels])

        def learned(by: Lessons, trees: int) -> Learners:
            return Learners.taught(by, trees=trees, leaf=s.leaf, shyness=s.shyness, seed=seed)

        def learned_from(which: IntArray) -> Learners:
            asked = known.take(which)
            first, *again = (lessons(rows[which], asked, asked) for rows in described)
            return learned(first.and_(*again), s.trees)

        of_known = of_lone = learned_from(np.arange(len(known)))
        which = _lone(known, reverses, s.reverse_labels)
        lone = known.take(which)
        if len(lone) < len(known):
            of_lone = learned_from(which)
        of_newcomers = None
        if s.newcomers:
            no_label = table.lessons_about_newcomers(lone, "no label")
            only_a_text = table.lessons_about_newcomers(lone, "only a text")
            about_newcomers = lessons(*no_label, lone).and_(lessons(*only_a_text, lone, ONLY_TEXT))
            of_newcomers = learned(about_newcomers, ceil(s.trees * TREES_OF_NEWCOMERS))
        progress.step()
        return cls(table, reverses, of_known, of_lone, of_newcomers, s.dealt)

    def logits(self, pairs: IntArray) -> dict[str, FloatArray]:
        """Give what each learner says of each pair, without what its reverse adds."""
        there = self._said(pairs)
        if not self.table.tells_order:
            self.table.forget_many()
            return there
        back = self._said(pairs[:, ::-1])
        self.table.forget_many()
        order = self.table.order(pairs)
        # Who learned from the reverse would only repeat its label, which counts elsewhere if at
        # all (`reverse_labels`): then the order is left to what other pairs say.
        learned = self.reverses.labelled(pairs)
        return {
            name: ordered_logits(z, np.where(learned, z, back[name]), order)
            for name, z in there.items()
        }

    def _said(self, pairs: IntArray) -> dict[str, FloatArray]:
        """Give what each learner says of each pair, whatever is known of the order."""
        logits: dict[str, FloatArray] = {name: np.zeros(len(pairs)) for name in COUNTS}
        lone = np.zeros(len(pairs), dtype=bool)
        if self.of_lone is not self.of_known:
            lone = self.reverses.signs(pairs) == 0
        newness: FloatArray = np.zeros(len(pairs))
        for salt in range(self.dealt):
            x = self.table.rows(pairs, salt)
            if self.of_newcomers is not None:
                newness = self.table.newness(pairs, salt)
            for learners, share in (
                (self.of_known, (1 - newness) * ~lone),
                (self.of_lone, (1 - newness) * lone),
                (self.of_newcomers, newness),
            ):
                here = share > 0
                if learners is not None and here.any():
                    for name, z in learners.logits(x[here]).items():
                        logits[name][here] += share[here] * z / self.dealt
        return logits

    def state(self) -> dict[str, FloatArray]:
        """Give the labels it knows and what it learned from them."""
        known = self.table.known
        lone = {} if self.of_lone is self.of_known else self.of_lone.state()
        newcomers = {} if self.of_newcomers is None else self.of_newcomers.state()
        return {
            "known/pairs": known.pairs,
            "known/labels": known.labels,
            "reverses": self.reverses.weights,
            **self.of_known.state(),
            **{f"lone/{name}": array for name, array in lone.items()},
            **{f"newcomers/{name}": array for name, array in newcomers.items()},
        }

    @classmethod
    def restored(
        cls, state: Mapping[str, FloatArray], course: EvidenceTable, s: SequiturSettings
    ) -> Self:
        """Give back the judge that `state` was taken from, with the course's evidence."""
        pairs, labels = (state[f"known/{part}"].astype(np.int64) for part in ("pairs", "labels"))
        known = LabelledPairs(pairs, labels)
        # Who has no learners of their own has no part of the state.
        of_known = Learners.restored(state)
        lone, newcomers = state_part(state, "lone/"), state_part(state, "newcomers/")
        return cls(
            course.knowing(known),
            ReverseLabels(known, state["reverses"]),
            of_known,
            Learners.restored(lone) if lone else of_known,
            Learners.restored(newcomers) if newcomers else None,
            s.dealt,
        )


def _lone(known: LabelledPairs, reverses: ReverseLabels, which: Which) -> IntArray:
    """Give the places of the known pairs that those who judge lone pairs learn from.

    Where every known reverse counts, pairs are asked about that are drawn like the labelled ones.
    A negative whose reverse has no label is hardly ever a positive turned round, for that positive
    would have one. So lone pairs ask another question than the rest, and are learned from alone,
    unless they are too few.
    """
    lone = np.flatnonzero(reverses.signs(known.pairs) == 0)
    if which == "both" and enough_to_choose(known.labels[lone]):
        return lone
    return np.arange(len(known))
