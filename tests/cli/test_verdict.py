"""What a person is told of one pair: the labels come first, then the model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from proprl.arrays import FloatArray, IntArray
from proprl.calibrating import Fit
from proprl.cli.verdict import Verdict, verdict
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.estimator import PrerequisiteModel
from proprl.evaluation.base_rate import Calibration
from proprl.fitted import Fitted
from proprl.models.base import FitReport, HeldOut
from proprl.models.registry import method_settings

NAMES = ("Points", "Angles", "Triangles", "Pythagoras", "Circles", "Spheres", "Graphs", "Trees")
# Points → Angles → … → Spheres is confirmed; Graphs → Trees was rejected by twenty people.
STEPS = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]
KNOWN = LabelledPairs(np.array([*STEPS, *[[6, 7]] * 20]), np.array([1] * 5 + [0] * 20))
MAP = Calibration(base_rate=0.1, interval=(0.05, 0.2), believed=0.2, open_pairs=20)


class Says:
    """Says the same of every pair."""

    def __init__(self, said: float) -> None:
        self.said = said

    def score(self, pairs: IntArray) -> FloatArray:
        return np.full(len(pairs), self.said)

    def details(self, _: IntArray) -> dict[str, FloatArray]:
        return {}


def model_that_says(
    said: float,
    known: LabelledPairs = KNOWN,
    calibration: Calibration | None = MAP,
    without_label: FloatArray | None = None,
) -> PrerequisiteModel:
    report = FitReport(views=(), missing_views=(), threshold=0.5)
    held_out = None
    if without_label is not None:
        held_out = HeldOut(known, without_label, np.zeros(0))
    model = PrerequisiteModel()
    model.fitted_ = Fitted(
        method="sequitur",
        preset="default",
        settings=method_settings("sequitur", "default"),
        seed=1,
        fit=Fit(cast(Any, Says(said)), report, calibration, held_out),
        split=PairSplit(known, LabelledPairs.empty(), LabelledPairs.empty(), "all", False),
        background=0,
        concept_ids=tuple(name.lower() for name in NAMES),
        concept_names=NAMES,
        encoder="none",
        course_name="geometry",
        course_subject="",
        course_fingerprint="",
        notes=(),
        transitions=None,
        incidence=None,
    )
    return model


def told(model: PrerequisiteModel, source: str, target: str) -> Verdict:
    return verdict(model, model.explain(source, target))


def test_a_label_is_the_answer_and_what_the_model_says_without_it_stands_beside() -> None:
    model = model_that_says(0.9, without_label=np.where(KNOWN.labels == 1, 0.61, 0.27))
    assert told(model, "Points", "Angles") == Verdict(
        "Yes: your label says so. (Without it the model would say 0.61.)", True
    )
    assert told(model, "Graphs", "Trees") == Verdict(
        "No: your label says so. (Without it the model would say 0.27.)", False
    )


def test_a_model_that_has_seen_every_label_says_so() -> None:
    assert told(model_that_says(0.9), "Points", "Angles").words == (
        "Yes: your label says so. (The model, which knows it, says 0.90.)"
    )


def test_what_follows_from_labels_names_the_chain_if_it_is_short() -> None:
    model = model_that_says(0.01)
    assert told(model, "Points", "Triangles") == Verdict(
        "This follows from your labels: Points → Angles → Triangles.", True
    )
    assert told(model, "Points", "Spheres").words == "This follows from your labels, in 5 steps."


def test_what_the_labels_turn_round_cannot_hold_whatever_the_model_says() -> None:
    model = model_that_says(0.99)
    assert told(model, "Pythagoras", "Angles") == Verdict(
        "Your labels already put Angles before Pythagoras (Angles → Triangles → Pythagoras), "
        "so this cannot hold.",
        False,
    )
    assert told(model, "Angles", "Points").words == (
        "Your labels already put Points before Angles, so this cannot hold."
    )


def test_a_rejected_pair_that_follows_all_the_same_is_pointed_out() -> None:
    rejected = KNOWN.joined(LabelledPairs(np.array([[0, 2]]), np.array([0])))
    words = told(model_that_says(0.9, rejected), "Points", "Triangles").words
    assert words.startswith("No: your label says so.")
    assert words.endswith("Yet it follows from your other labels: Points → Angles → Triangles.")


def test_labels_that_contradict_each_other_leave_it_to_the_model() -> None:
    both = KNOWN.joined(LabelledPairs(np.array([[7, 6], [7, 6]]), np.array([0, 1])))
    assert told(model_that_says(0.9, both), "Trees", "Graphs") == Verdict(
        "Your labels contradict each other here: the map sets some aside. "
        "Trees is believed to be a prerequisite of Graphs."
    )


def test_a_label_that_closes_a_circle_is_said_to_be_set_aside() -> None:
    circle = KNOWN.joined(LabelledPairs(np.array([[2, 0]]), np.array([1])))
    aside = "Your labels contradict each other here: the map sets some aside. "
    model = model_that_says(0.9, circle)
    assert told(model, "Triangles", "Points").words == (
        f"{aside}Others already put Points before Triangles (Points → Angles → Triangles), so "
        "this cannot hold."
    )
    assert told(model, "Points", "Triangles").words == (
        f"{aside}This follows from others: Points → Angles → Triangles."
    )


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (0.35, "Trees is believed to be a prerequisite of Points."),
        (
            0.349,
            "Trees may be a prerequisite of Points: 0.34 is among the likeliest pairs, but too "
            "little for the map (0.35 or more).",
        ),
        (0.19, "Trees is not believed to be a prerequisite of Points."),
    ],
)
def test_what_is_believed_is_what_the_map_takes(said: float, words: str) -> None:
    assert told(model_that_says(said), "Trees", "Points") == Verdict(words)


def test_without_a_base_rate_the_threshold_of_labelled_pairs_decides() -> None:
    words = "Trees is not believed to be a prerequisite of Points."
    assert told(model_that_says(0.45, calibration=None), "Trees", "Points").words == words


def test_too_few_labels_say_neither_yes_nor_no() -> None:
    few = KNOWN.take(np.arange(4))
    assert told(model_that_says(0.9, few), "Trees", "Points").words == (
        "Too few labels to say yes or no."
    )
    assert told(model_that_says(0.9, few), "Points", "Triangles").by_labels


def test_labels_that_all_say_yes_do_not_tell_what_to_believe() -> None:
    alike = KNOWN.take(np.tile(np.arange(5), 4))
    model = model_that_says(0.9, alike, replace(MAP, believed=None))
    words = "Trees before Points: nothing says from where on to believe it."
    assert told(model, "Trees", "Points").words == words
