"""What a person is told first: only what deserves it, and only what a model can know."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from proprl.arrays import FloatArray, IntArray
from proprl.calibrating import Fit
from proprl.curriculum.graph import PrerequisiteGraph, prerequisite_graph
from proprl.curriculum.questions import worth_asking
from proprl.curriculum.summary import (
    about,
    contradictions,
    expected_words,
    label_words,
    learned_words,
    map_counts,
    sure_of,
)
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.estimator import PrerequisiteModel
from proprl.evaluation.base_rate import Calibration
from proprl.fitted import Fitted
from proprl.models.base import FitReport
from proprl.models.registry import method_settings
from proprl.report.page import report_data

# Numbers → Fractions → Ratios are confirmed, Trees → Numbers was rejected by twenty people; two
# concepts are called Graphs.
IDS = ("numbers", "fractions", "ratios", "plots", "networks", "trees")
NAMES = ("Numbers", "Fractions", "Ratios", "Graphs", "Graphs", "Trees")
KNOWN = LabelledPairs(np.array([[0, 1], [1, 2], *[[5, 0]] * 20]), np.array([1, 1, *[0] * 20]))
HELD_BACK = LabelledPairs(np.array([[3, 0]]), np.array([1]))
KNOWS_HOW_RARE = Calibration(base_rate=0.1, interval=(0.05, 0.2), believed=0.4, open_pairs=20)


class Oracle:
    """Says what it is told to say of a pair, else 0.01."""

    def __init__(self, said: dict[tuple[int, int], float]) -> None:
        self.said = said

    def details(self, _: IntArray) -> dict[str, FloatArray]:
        return {}

    def score(self, pairs: IntArray) -> FloatArray:
        return np.array([self.said.get((i, j), 0.01) for i, j in pairs.tolist()])


def model_that_says(
    said: dict[tuple[int, int], float], calibration: Calibration | None = KNOWS_HOW_RARE
) -> PrerequisiteModel:
    report = FitReport(views=(), missing_views=("behaviour",), threshold=0.5)
    # A calibration with slope 1 and intercept 0 leaves the oracle's numbers as they are.
    fit = Fit(cast(Any, Oracle(said)), report, calibration, None)
    model = PrerequisiteModel()
    model.fitted_ = Fitted(
        method="sequitur",
        preset="default",
        settings=method_settings("sequitur", "default"),
        seed=1,
        fit=fit,
        split=PairSplit(KNOWN, LabelledPairs.empty(), HELD_BACK, "given", False),
        background=0,
        concept_ids=IDS,
        concept_names=NAMES,
        encoder="none",
        course_name="small",
        course_subject="",
        course_fingerprint="",
        notes=(),
        transitions=None,
        incidence=None,
    )
    return model


def drawn(said: dict[tuple[int, int], float], threshold: float = 0.3) -> PrerequisiteGraph:
    pairs, p = np.array(list(said)).reshape(-1, 2), np.array(list(said.values()))
    return prerequisite_graph(IDS, NAMES, KNOWN, pairs, p, threshold=threshold)


def test_it_is_sure_only_of_what_is_likely_and_learned() -> None:
    said = {(2, 3): 0.85, (3, 5): 0.79, (0, 1): 0.99}
    sure = sure_of(model_that_says(said).fitted_, drawn(said))
    assert [(edge.source_id, edge.target_id) for edge in sure] == [("ratios", "plots")]
    assert (sure[0].source, sure[0].target) == ("Ratios", "Graphs (plots)")


def test_what_a_person_has_labelled_is_not_called_a_find() -> None:
    said = {(3, 0): 0.95}  # kept apart as a test
    graph = drawn(said)
    assert len(graph) == 3
    assert sure_of(model_that_says(said).fitted_, graph) == []


def test_without_a_base_rate_it_is_sure_of_nothing_and_promises_nothing() -> None:
    said = {(2, 3): 0.99}
    model = model_that_says(said, calibration=None)
    assert sure_of(model.fitted_, drawn(said)) == []
    (words,) = expected_words(model.fitted_)
    assert "cannot be told" in words
    assert "far fewer may be right" in learned_words(model.fitted_, drawn(said))[0]


def test_it_asks_what_is_in_doubt_and_would_settle_much() -> None:
    # Ratios has two concepts before it, Fractions one: more follows from Ratios → Trees.
    said = {(2, 5): 0.3, (1, 4): 0.3, (3, 4): 0.02}
    first, second = worth_asking(model_that_says(said).fitted_, 2)
    assert (first.source_id, first.target_id, first.probability) == ("ratios", "trees", 0.3)
    assert (second.source_id, second.target_id) == ("fractions", "networks")


def test_each_pair_is_asked_about_once_and_labels_never() -> None:
    asked = worth_asking(
        model_that_says({(3, 0): 0.5, (0, 3): 0.5, (0, 2): 0.5, (2, 0): 0.5}).fitted_, 10
    )
    pairs = [frozenset((one.source_id, one.target_id)) for one in asked]
    assert len(pairs) == len(set(pairs)) == 8
    # Both orders of a labelled pair, and what follows from labels, are settled.
    settled = [{"plots", "numbers"}, {"numbers", "ratios"}]
    assert all({edge.source_id, edge.target_id} not in settled for edge in asked)


def test_with_every_pair_settled_there_is_nothing_to_ask() -> None:
    model = model_that_says({})
    every = np.array([(i, j) for i in range(6) for j in range(i + 1, 6)])
    known = LabelledPairs(every, np.zeros(len(every), dtype=np.int64))
    model.fitted_ = replace(model.fitted_, split=replace(model.fitted_.split, train=known))
    assert worth_asking(model.fitted_) == []
    data = report_data(model.fitted_, None, model.judged())
    assert data["ask"]["words"] == "Nothing: every pair has a label, or follows from one."
    assert data["map"] is None


def test_the_expected_number_comes_with_its_range_and_says_that_it_is_rough() -> None:
    number, settled, advice = expected_words(model_that_says({}).fitted_)
    assert number == (
        "About 2 prerequisites, most likely between 1 and 4, are expected among the 20 pairs that "
        "no label settles. This is a rough estimate from labels that people chose, and may be "
        "several times off."
    )
    assert settled.startswith("A pair is settled if")
    assert advice.startswith("Only pairs drawn by lot can tell: draw some of these pairs by lot")


@pytest.mark.parametrize(("high", "wide"), [(0.2, False), (0.9, True)])
def test_labels_drawn_by_lot_tell_and_more_of_them_narrow_the_range(
    high: float, wide: bool
) -> None:
    rates = replace(KNOWS_HOW_RARE, interval=(0.05, high))
    model = model_that_says({}, calibration=rates)
    drawn_pair = LabelledPairs(
        np.array([[4, 5]]), np.array([0]), np.array(["drawn"]), np.array([0.1])
    )
    split = replace(model.fitted_.split, train=KNOWN.joined(drawn_pair))
    model.fitted_ = replace(model.fitted_, split=split)
    number, _, *advice = expected_words(model.fitted_)
    assert "rough" not in number
    assert [words.split(".")[0] for words in advice] == ["The range is wide"] * wide


@pytest.mark.parametrize(
    ("number", "words"), [(0.2, "0"), (7.6, "8"), (31.4, "31"), (186, "190"), (1234.5, "1,200")]
)
def test_estimates_have_two_digits_at_most(number: float, words: str) -> None:
    assert about(number) == words


def test_the_map_is_counted_beside_the_labels_alone() -> None:
    said = {(2, 3): 0.6, (2, 5): 0.4}
    model = model_that_says(said)
    # Numbers, Fractions, Ratios in a row; then Graphs and Trees after Ratios: 3 + 3 + 3 pairs.
    assert list(map_counts(model.labels_alone()).values()) == [2, 0, 3, 3]
    assert list(map_counts(drawn(said)).values()) == [4, 2, 9, 1]
    (learned,) = learned_words(model.fitted_, drawn(said))
    assert learned == (
        "2 steps are learned, with probabilities 0.40 to 0.60. If these hold, expect about 1 of "
        "them to be right."
    )
    confirmed, test = label_words(model.fitted_, drawn(said))
    assert confirmed.startswith("2 confirmed labels are in the map: 2 as steps of their own, 0 by")
    assert test == "1 label is kept apart as a test, and was not used for the map."


def test_what_was_left_out_is_said_with_the_reason() -> None:
    said = {(2, 0): 0.9, (5, 1): 0.8, (1, 5): 0.7, (5, 3): 0.6, (3, 0): 0.5}
    words = learned_words(model_that_says(said).fitted_, drawn(said))
    *_, left_out, best = words
    assert left_out.startswith("Left out, though likely enough: ")
    assert "a circle" in left_out
    assert "a pair that you rejected would follow" in left_out
    assert best == "No other choice of learned steps is worth more."


def test_learned_steps_that_are_test_labels_are_counted_and_what_these_say() -> None:
    said = {(2, 3): 0.6, (3, 4): 0.5, (4, 5): 0.4}
    model = model_that_says(said)
    assert not any("test" in words for words in learned_words(model.fitted_, drawn(said)))
    one = replace(model.fitted_.split, test=LabelledPairs(np.array([[2, 3]]), np.array([0])))
    model.fitted_ = replace(model.fitted_, split=one)
    words = learned_words(model.fitted_, drawn(said))
    assert words[1] == "1 of them is a label kept apart as a test: 0 say yes."
    pairs = np.array([[2, 3], [3, 4], [0, 5]])
    three = replace(model.fitted_.split, test=LabelledPairs(pairs, np.array([1, 1, 0])))
    model.fitted_ = replace(model.fitted_, split=three)
    words = learned_words(model.fitted_, drawn(said))
    assert words[1] == "2 of them are labels kept apart as a test: 2 say yes."


def test_where_all_is_left_out_nothing_is_called_unlikely() -> None:
    said = {(2, 0): 0.9}
    assert learned_words(model_that_says(said).fitted_, drawn(said)) == [
        "Nothing is learned.",
        "Left out, though likely enough: 1 because they would close a circle.",
    ]
    assert learned_words(model_that_says({}).fitted_, drawn({(2, 3): 0.1})) == [
        "Nothing is learned: no pair without a label is likely enough."
    ]


def test_labels_that_contradict_each_other_are_listed_by_name_and_id() -> None:
    labels = LabelledPairs(np.array([[3, 4], [4, 3], [0, 1]]), np.array([1, 1, 1]))
    model = model_that_says({})
    model.fitted_ = replace(model.fitted_, split=replace(model.fitted_.split, train=labels))
    data = report_data(model.fitted_, model.labels_alone(), model.judged())
    assert {(first, then) for first, then, _ in data["map"]["doubtful"]} == {
        ("Graphs (plots)", "Graphs (networks)"),
        ("Graphs (networks)", "Graphs (plots)"),
    }


def test_contradictions_are_counted_and_the_first_are_named() -> None:
    assert contradictions(model_that_says({}).fitted_) == []
    circle = LabelledPairs(np.array([[0, 1], [1, 2], [2, 0], [0, 2]]), np.array([1, 1, 1, 0]))
    assert contradictions(with_labels(circle)) == [
        "1 label contradicts others and is set aside in the map: Ratios → Numbers.",
        "Ratios is needed before Numbers, Numbers before Fractions, Fractions before Ratios; "
        "the label Ratios → Numbers is set aside.",
        "1 label says no, yet it follows from labels that say yes: Numbers → Ratios.",
    ]
    ways = np.array([[3, 4], [4, 3], [0, 1], [1, 0]])
    assert contradictions(with_labels(LabelledPairs(ways, np.ones(4, dtype=np.int64)))) == [
        "4 labels contradict others and are set aside in the map: Numbers → Fractions, "
        "Fractions → Numbers, Graphs (plots) → Graphs (networks), ..."
    ]


def with_labels(known: LabelledPairs) -> Fitted:
    """Give a model that knows these labels."""
    fitted = model_that_says({}).fitted_
    return replace(fitted, split=replace(fitted.split, train=known))


def test_a_report_without_a_base_rate_says_so_in_place_of_the_list() -> None:
    model = model_that_says({(2, 3): 0.99}, calibration=None)
    data = report_data(model.fitted_, drawn({(2, 3): 0.99}), model.judged())
    assert data["sure"]["edges"] == ()
    assert "cannot be told" in data["sure"]["words"]
