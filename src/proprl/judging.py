"""How well a fitted model judges labelled pairs, and what such figures hold for."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, cast

import numpy as np

from proprl.arrays import FloatArray
from proprl.data.course import Course
from proprl.data.splits.labelled import CHOSEN, LabelledPairs, unordered_codes
from proprl.errors import ProprlError, UnknownConceptError
from proprl.evaluation.base_rate import at_rate
from proprl.evaluation.metrics import (
    ENOUGH_TO_CHOOSE,
    Bin,
    calibration_error,
    evaluate_scores,
    reliability,
)
from proprl.fitted import Expected, Fitted
from proprl.models.base import CrossFits

How: TypeAlias = Literal["test", "train", "validation", "cross-fitted"]

HOW = {
    "test": "Test: labels of pairs that were not learned from, in either order.",
    "train": "Training: the model has learned from these very labels.",
    "validation": "Validation: the threshold was chosen on these labels.",
    "cross-fitted": "Cross-fitted: each label was judged by a model that had not learned from it.",
}

# These metrics need a threshold, these labels of both kinds, and these what is said of the pairs
# turned round.
OF_A_THRESHOLD = ("accuracy", "f1", "precision", "recall", "mutual_share", "threshold")
BOTH_LABELS = ("accuracy", "f1", "precision", "recall", "auc", "average_precision")
BOTH_ORDERS = ("ordered_share", "one_way_ordered", "mean_margin", "mutual_share")


@dataclass(frozen=True)
class Judged:
    """What was said of labelled pairs, beside their labels."""

    how: How
    labelled: LabelledPairs
    said: FloatArray  # (m,)
    said_turned_round: FloatArray | None  # (m,); None where it was not judged
    threshold: float | None
    """A pair is called a prerequisite from here on; None where nothing is."""
    base_rate: float | None
    """The share of prerequisites for which `said` holds; None: that among labels."""
    expected: Expected | None
    """How many prerequisites there are where no label says so, as far as that can be told."""

    @property
    def rate(self) -> float:
        """The share of these pairs that are prerequisites."""
        return self.labelled.positive_share

    @property
    def one_sided(self) -> bool:
        """Whether all these labels say the same."""
        return len(np.unique(self.labelled.labels)) < 2

    @property
    def compared(self) -> FloatArray | None:
        """What was said, at the rate of these labels; None where all labels are the same."""
        if self.one_sided:
            return None
        if self.base_rate is None:
            return self.said
        return at_rate(self.said, self.base_rate, self.rate)

    def metrics(self) -> dict[str, float | int | None]:
        """Give every metric; one that means nothing (all labels say the same) is None.

        The calibration error is at the rate of these labels. `base_rate` is that of the map.
        """
        labels = self.labelled.labels
        if not len(labels):
            return {"pairs": 0, "positives": 0}
        turned, compared = self.said_turned_round, self.compared
        found: dict[str, float | int | None] = dict(
            evaluate_scores(
                labels,
                self.said,
                self.said if turned is None else turned,
                pairs=self.labelled.pairs,
                threshold=self.threshold or 0.0,
            )
        )
        if self.threshold is None:
            found |= dict.fromkeys(OF_A_THRESHOLD)
        if self.one_sided:
            found |= dict.fromkeys(BOTH_LABELS)
        error = None if compared is None else calibration_error(labels, compared)
        found["calibration_error"] = error
        if turned is None:
            found |= dict.fromkeys(BOTH_ORDERS)
        found["base_rate"] = self.base_rate if self.expected else None
        return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in found.items()}

    def reliability(self) -> list[Bin]:
        """Say what was said of the pairs, at the rate of their labels, and what came true."""
        compared = self.compared
        return [] if compared is None else reliability(self.labelled.labels, compared)

    def doubts(self) -> list[str]:
        """Say why these labels can measure little, if that is so."""
        count = len(self.labelled)
        doubts = []
        if 0 < count < ENOUGH_TO_CHOOSE:
            labels = f"{count} label{'' if count == 1 else 's'}"
            doubts.append(f"Only {labels} to judge by: these figures tell next to nothing.")
        if count and self.one_sided:
            answer = "yes" if self.labelled.labels.all() else "no"
            doubts.append(
                f"All labels say {answer}: how well yes is told from no cannot be measured by them."
            )
        return doubts

    def sentences(self) -> list[str]:
        """Say how the figures came to be, and for which pairs they hold."""
        chosen = (self.labelled.origin == CHOSEN).all()
        holds = (
            f"These figures are for {'pairs that people chose' if chosen else 'labelled pairs'}: "
            f"{self.rate:.0%} of these {len(self.labelled)} are prerequisites."
        )
        if self.expected and self.expected.number and self.rate * self.expected.one_in > 1:
            holds += (
                " Among pairs that no label settles only about 1 in "
                f"{self.expected.one_in:,.0f} is, so more of what it suggests there is wrong."
            )
        return [HOW[self.how], *self.doubts(), holds]


def judge(
    fitted: Fitted, how: How, labelled: LabelledPairs, said: FloatArray | None = None
) -> Judged:
    """Judge labelled pairs by what a model says of them in both orders, or by what is given."""
    turned_round = None
    if said is None:
        said = fitted.fit.score(labelled.pairs)
        turned_round = fitted.fit.score(labelled.pairs[:, ::-1].copy())
    return Judged(
        how,
        labelled,
        said,
        turned_round,
        threshold=None if fitted.positives_alone else fitted.report.threshold,
        base_rate=fitted.fit.base_rate,
        expected=fitted.expected,
    )


def judge_held_out(fitted: Fitted) -> Judged:
    """Judge the known labels by scores that did not come from them, as far as there are any."""
    held_out, calibration = fitted.fit.held_out, fitted.fit.calibration
    if held_out is None or calibration is None or held_out.labels == fitted.split.validation:
        return judge(fitted, "validation", fitted.split.validation)
    said = calibration.probability(held_out.scores)
    return judge(fitted, "cross-fitted", held_out.labels, said)


def judge_part(fitted: Fitted, part: str) -> Judged:
    """Judge a part of the split: "train", "validation" or "test"."""
    if part not in fitted.parts:
        raise ProprlError(f"there is no part {part!r}; known: {', '.join([*fitted.parts, 'auto'])}")
    learned_from = part == "validation" and isinstance(fitted.scorer, CrossFits)
    return judge(fitted, "train" if learned_from else cast(How, part), fitted.parts[part])


def unseen_labels(fitted: Fitted, course: Course | None = None) -> LabelledPairs:
    """Give the labelled pairs that were neither learned nor chosen from, in either order.

    They come from the course, or without one from the test part of the split. Who has learned
    that A comes before B knows much of B before A: such a pair is no test.
    """
    labelled = fitted.split.test if course is None else _labels_of(fitted, course)
    seen = np.isin(unordered_codes(labelled.pairs), unordered_codes(fitted.known.pairs))
    return labelled.take(np.flatnonzero(~seen))


def _labels_of(fitted: Fitted, course: Course) -> LabelledPairs:
    """Give the labels of a course, each concept by its row in the model."""
    labelled = course.labelled_pairs()
    row_of_id = {concept: row for row, concept in enumerate(fitted.concept_ids)}
    rows = np.array([row_of_id.get(concept, -1) for concept in course.ids], dtype=np.int64)
    asked = np.unique(labelled.pairs)
    unknown = [course.ids[row] for row in asked if rows[row] < 0]
    if unknown:
        raise UnknownConceptError(
            f"{len(unknown)} of the {len(asked)} concepts with labels in {course.name} are "
            f"unknown to the model, such as {unknown[0]!r}: it was trained on {fitted.course_name}"
        )
    return replace(labelled, pairs=rows[labelled.pairs])
