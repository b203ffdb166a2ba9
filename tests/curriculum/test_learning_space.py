"""What is believed of a learner, against all states of small graphs and on planted learners."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proprl.curriculum.learning_space import LearningSpace, before_answers
from proprl.errors import ProprlError

N = 8
UPWARDS = [(i, j) for i in range(N) for j in range(i + 1, N)]
FORK = np.array([[0, 1], [1, 2], [1, 3], [3, 4], [5, 4], [6, 7]])


def steps(pairs: list[tuple[int, int]]) -> np.ndarray:
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def enumerated(
    space: LearningSpace, answers: list[tuple[int, bool]], slip: float, guess: float
) -> np.ndarray:
    """How likely each concept is known, from the probabilities of all states."""
    needs = [[int(i) for i in np.flatnonzero(column)] for column in space.follows.T]
    chance, total = np.zeros(space.n), 0.0
    for state in product([False, True], repeat=space.n):
        if any(state[j] and not all(state[i] for i in needs[j]) for j in range(space.n)):
            continue
        prior = 0.0
        for p in space.learned.T:
            term = 1.0
            for j in range(space.n):
                if all(state[i] for i in needs[j]):
                    term *= p[j] if state[j] else 1 - p[j]
            prior += term
        for concept, knows in answers:
            yes = 1 - slip if state[concept] else guess
            prior *= yes if knows else 1 - yes
        chance += prior * np.array(state)
        total += prior
    return chance / total


@pytest.mark.parametrize("rates", [(0.0, 0.0), (0.1, 0.2), (0.0, 0.2), (0.2, 0.0)])
@pytest.mark.parametrize("answers", [[], [(3, False), (2, True), (7, False), (0, True)]])
def test_the_posterior_is_that_of_all_states(
    rates: tuple[float, float], answers: list[tuple[int, bool]]
) -> None:
    slip, guess = rates
    space = LearningSpace(N, FORK)
    belief = before_answers(space, slip=slip, guess=guess, learners=10_000)
    for concept, knows in answers:
        belief = belief.told(concept, knows)
    assert belief.chance == pytest.approx(enumerated(space, answers, slip, guess), abs=0.02)


def test_answers_that_speak_against_each_other_are_weighed_as_all_states_are() -> None:
    """4 needs 0, 1, 3 and 5, so an answer is wrong: here resampling leaves few, and moves help."""
    answers = [(4, True), (0, False), (3, False)]
    space = LearningSpace(N, FORK)
    belief = before_answers(space, slip=0.05, guess=0.05, learners=10_000)
    for concept, knows in answers:
        belief = belief.told(concept, knows)
    assert belief.chance == pytest.approx(enumerated(space, answers, 0.05, 0.05), abs=0.02)


def test_moves_lead_to_the_posterior_from_anywhere() -> None:
    """Without weighing: from imagined learners who know nothing, moves alone find it."""
    space = LearningSpace(N, FORK)
    belief = before_answers(space, slip=0.1, guess=0.1, learners=5_000)
    answers = ((3, True), (6, False))
    moved = replace(belief, known=np.zeros_like(belief.known), answers=answers)
    rng = np.random.default_rng(3)
    for sweep in range(100):
        moved = moved.stirred(rng, upwards=sweep % 2 == 0)
    assert moved.chance == pytest.approx(enumerated(space, list(answers), 0.1, 0.1), abs=0.02)


def test_concepts_are_learned_when_ready_as_in_orders_drawn_one_by_one() -> None:
    """Half of the way through the chain 0 → 1 with 2 beside it, two of three are known."""
    space = LearningSpace(3, np.array([[0, 1]]))
    half = space.learned.shape[1] // 2
    # Orders 012, 021 and 201: a quarter, a quarter and a half.
    assert space.learned[0, half] == pytest.approx(1.0, abs=0.01)  # among the first two
    assert space.learned[1, half] == pytest.approx(0.25, abs=0.03)
    assert space.learned[2, half] == pytest.approx(0.75, abs=0.03)


@given(
    st.lists(st.sampled_from(UPWARDS), unique=True),
    st.lists(st.tuples(st.integers(0, N - 1), st.booleans()), max_size=5),
    st.sampled_from([0.0, 0.05]),
)
@settings(max_examples=20, deadline=None)
def test_all_that_is_believed_respects_the_graph(
    pairs: list[tuple[int, int]], answers: list[tuple[int, bool]], error: float
) -> None:
    space = LearningSpace(N, steps(pairs))
    belief = before_answers(space, slip=error, guess=error, learners=60)
    for concept, knows in answers:
        if belief.contradiction(concept, knows) is None:
            belief = belief.told(concept, knows)
    for i, j in pairs:
        assert not (belief.known[j] & ~belief.known[i]).any()
        assert belief.chance[i] >= belief.chance[j]
    if not error:
        for concept, knows in belief.answers:
            same = space.follows[:, concept] if knows else space.follows[concept]
            assert (belief.chance[same] == knows).all()
            assert belief.chance[concept] == knows
    assert 0 <= belief.doubt <= 0.5


def test_the_same_answers_give_the_same_belief() -> None:
    one, other = (
        before_answers(LearningSpace(N, FORK)).told(3, True).told(2, False) for _ in range(2)
    )
    np.testing.assert_array_equal(one.known, other.known)
    assert one.best_question() == other.best_question()


def test_asks_in_the_middle_and_nothing_that_is_settled() -> None:
    chain = LearningSpace(7, np.array([[i, i + 1] for i in range(6)]))
    belief = before_answers(chain, slip=0, guess=0)
    assert belief.best_question() == 3
    asked = []
    while (concept := belief.best_question()) is not None:
        asked.append(concept)
        belief = belief.told(concept, concept < 5)
    assert len(asked) == 3  # of eight states
    assert belief.judged_known.tolist() == [True] * 5 + [False] * 2


def test_contradictions_are_seen_unless_answers_may_be_wrong() -> None:
    space = LearningSpace(N, FORK)
    sure = before_answers(space, slip=0, guess=0).told(4, True)
    assert sure.contradiction(1, False) == (1, 4)
    assert sure.contradiction(2, False) is None
    assert sure.contradiction(4, False) == (4, 4)
    no = before_answers(space, slip=0, guess=0).told(1, False)
    assert no.contradiction(2, True) == (1, 2)
    assert before_answers(space).told(4, True).contradiction(1, False) is None


def test_rates_of_one_half_and_more_are_refused() -> None:
    with pytest.raises(ProprlError, match=r"a guess happens in less than half .* not in 0\.5"):
        before_answers(LearningSpace(2, np.array([[0, 1]])), guess=0.5)


@pytest.mark.parametrize(("error", "right"), [(0.0, 0.95), (0.05, 0.88)])
def test_few_questions_tell_what_planted_learners_know(error: float, right: float) -> None:
    """Learners know the beginning of a random order; two concepts in five are asked about."""
    n, shares = 50, []
    rng = np.random.default_rng(11)
    pairs = {(int(rng.integers(0, j)), j) for j in range(1, n) for _ in range(2)}
    space = LearningSpace(n, steps(sorted(pairs)))
    for _ in range(3):
        knows = np.zeros(n, dtype=np.bool_)
        for _ in range(round(rng.uniform(0.1, 0.9) * n)):
            ready = [i for i in np.flatnonzero(~knows) if knows[space.before[i]].all()]
            knows[rng.choice(ready)] = True
        says = knows ^ (rng.random(n) < error)
        belief = before_answers(space, slip=error, guess=error)
        while len(belief.answers) < 0.4 * n - 1:
            concept = belief.best_question()
            if concept is None:
                break
            belief = belief.told(concept, bool(says[concept]))
        shares.append((belief.judged_known == knows).mean())
    assert np.mean(shares) >= right
