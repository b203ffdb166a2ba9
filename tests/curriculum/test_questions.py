"""Which pairs are asked about, and what is said of why."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proprl.curriculum import questions
from proprl.curriculum.questions import Standing, drawn_by_lot, spread, worth_asking
from proprl.data.splits.labelled import LabelledPairs
from proprl.errors import ProprlError
from proprl.estimator import ProPRL
from proprl.graphs.closure import what_follows

# 0 → 1 → 2 is confirmed; 3, 4 and 5 stand alone.
FOLLOWS = what_follows(6, np.array([[0, 1], [1, 2]]))
OPEN = np.array(
    [(i, j) for i in range(6) for j in range(6) if i != j and not (FOLLOWS | FOLLOWS.T)[i, j]]
)


def standing(said: dict[tuple[int, int], float]) -> Standing:
    return Standing.of(OPEN, np.array([said.get((i, j), 0.0) for i, j in OPEN.tolist()]), FOLLOWS)


def at(values: Any, pair: tuple[int, int]) -> float:
    return float(values[(pair == OPEN).all(axis=1)][0])


def test_a_yes_puts_in_order_what_stands_before_and_behind() -> None:
    new = standing({}).new
    # 2 → 3 brings 0, 1 and 2 before 3; 3 → 0 brings 3 before 0, 1 and 2; 3 → 4 itself alone.
    assert [at(new, pair) for pair in ((2, 3), (3, 0), (3, 1), (3, 4))] == [3, 3, 2, 1]
    for i, j in OPEN.tolist():
        after = what_follows(6, np.array([[0, 1], [1, 2], [i, j]]))
        assert at(new, (i, j)) == after.sum() - FOLLOWS.sum()


def test_an_answer_is_worth_most_in_doubt_and_where_much_follows() -> None:
    worth = standing({(3, 4): 0.5, (2, 3): 0.5, (4, 5): 0.9, (3, 5): 0.0}).worth()
    assert at(worth, (3, 4)) == pytest.approx(0.25 * np.log2(2))
    assert at(worth, (2, 3)) == pytest.approx(0.25 * np.log2(4))
    assert at(worth, (4, 5)) == pytest.approx(0.09 * np.log2(2))
    assert at(worth, (3, 5)) == 0


def test_an_answer_is_worth_more_where_both_orders_are_likely_or_a_circle_closes() -> None:
    worth = standing({(3, 4): 0.3, (4, 3): 0.15}).worth()
    assert at(worth, (3, 4)) == pytest.approx(0.21 * 1.25)
    worth = standing({(3, 4): 0.5, (4, 5): 0.5, (5, 3): 0.5}).worth()
    assert at(worth, (3, 4)) == pytest.approx(0.25 * 2)


def test_a_circle_is_made_of_likely_steps() -> None:
    circle = standing({(2, 3): 0.6, (3, 0): 0.4, (3, 4): 0.9, (4, 0): 0.1}).in_circle
    found = {(i, j) for i, j in OPEN.tolist() if at(circle, (i, j))}
    assert found == {(2, 3), (3, 0)}


@given(st.lists(st.floats(0, 1), min_size=len(OPEN), max_size=len(OPEN)), st.integers(1, 40))
def test_no_pair_is_asked_in_both_orders_and_as_many_as_there_are(
    worth: list[float], count: int
) -> None:
    chosen = OPEN[spread(OPEN, np.array(worth), count)]
    assert len({frozenset(pair) for pair in chosen.tolist()}) == len(chosen)
    assert len(chosen) == min(count, len(OPEN) // 2)
    assert chosen[0].tolist() == OPEN[int(np.argmax(worth))].tolist()


def test_a_batch_is_not_about_one_concept() -> None:
    pairs = np.array([[0, k] for k in range(1, 11)] + [[k, k + 10] for k in range(11, 16)])
    worth = np.r_[np.full(10, 1.0), np.full(5, 0.3)]
    chosen = pairs[spread(pairs, worth, 6)]
    assert (chosen == 0).any(axis=1).sum() == 2  # the third is worth a quarter


class Scorer:
    """Says 0.3 of every pair; texts speak for it, learners' moves against."""

    def score(self, pairs: Any) -> Any:
        return np.full(len(pairs), 0.3)

    def details(self, pairs: Any) -> Any:
        worth = {"base": -2.0, "texts": 1.5, "moves": -0.8, "labels": 0.1}
        return {kind: np.full(len(pairs), value) for kind, value in worth.items()}


@pytest.mark.parametrize(
    ("p", "q", "circle", "sides", "words"),
    [
        (0.4, 0.1, True, None, "with other likely steps it closes a circle"),
        (0.4, 0.3, False, None, "both orders look likely"),
        (0.4, 0.1, False, ("texts", "moves"), "the texts speak for it, the moves of learners"),
        (0.4, 0.1, False, None, "it could go either way, and a yes would put 1,234 pairs in order"),
        (0.1, 0.1, False, None, "a yes would put 1,234 pairs in order"),
    ],
)
def test_it_says_why(p: float, q: float, circle: bool, sides: Any, words: str) -> None:
    matrix = np.array([[0, p], [q, 0]])
    assert questions._why(matrix, (0, 1), 1234.0, circle, sides).startswith(words)


def test_kinds_disagree_if_both_sides_are_heard() -> None:
    scorer = cast(Any, Scorer())
    assert questions._sides(scorer, OPEN[:1]) == [("texts", "moves")]
    assert questions._sides(scorer, OPEN[:0]) == []


def test_where_kinds_disagree_it_asks_sooner() -> None:
    class OfOnePair(Scorer):
        def details(self, pairs: Any) -> Any:
            here = (pairs == [3, 4]).all(axis=1)
            return {"texts": np.where(here, 1.5, 0.1), "moves": np.where(here, -0.8, 0.1)}

    for p, first in ((0.4, [3, 4]), (0.1, [5, 3])):  # 0.24 · 1.5 and 0.09 · 1.5, against 0.25
        found = standing({(3, 4): p, (5, 3): 0.5})
        chosen = questions.choose(found, cast(Any, OfOnePair()), 1)
        assert OPEN[chosen].tolist() == [first]


def test_nothing_is_asked_that_has_an_answer_or_follows(fitted: ProPRL) -> None:
    model, n = fitted.fitted_, len(fitted.fitted_.concept_ids)
    row = {concept: k for k, concept in enumerate(model.concept_ids)}
    answered = LabelledPairs.empty()
    met: set[frozenset[int]] = set()
    for label in (1, 0):  # a batch of yes, then a batch of no
        asked = worth_asking(model, 5, answered=answered)
        pairs = np.array([(row[one.source_id], row[one.target_id]) for one in asked])
        known = questions.known_pairs(model, answered)
        follows = what_follows(n, known.positives)
        assert not (follows | follows.T)[tuple(pairs.T)].any()
        assert met.isdisjoint(map(frozenset, pairs.tolist()))
        met |= {frozenset(pair) for pair in pairs.tolist()}
        answered = answered.joined(LabelledPairs(pairs, np.full(len(pairs), label)))


def test_a_draw_is_by_known_chance_and_nobody_can_pass_over_a_pair(fitted: ProPRL) -> None:
    model = fitted.fitted_
    drawn = drawn_by_lot(model, 7)
    assert drawn == drawn_by_lot(model, 7)
    assert {one.origin for one in drawn} == {"drawn"}
    every = drawn_by_lot(model, 10**6)
    assert drawn[0].chance == pytest.approx(7 / len(every))
    assert every[0].chance == 1.0
    first = drawn[0]
    row = [model.concept_ids.index(end) for end in (first.source_id, first.target_id)]
    answered = LabelledPairs(np.array([row]), np.array([0]))
    others = drawn_by_lot(model, 10**6, answered=answered)
    assert len(others) == len(every) - 2  # neither order is drawn again


def test_the_estimator_asks(fitted: ProPRL) -> None:
    assert [one.origin for one in fitted.questions(3)] == ["asked"] * 3
    with pytest.raises(ProprlError, match="must be 1 or more"):
        fitted.questions(0)
