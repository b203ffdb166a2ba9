"""What to ask a person next: pairs whose answers help the map most, or pairs drawn by lot."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import rustworkx as rx

from proprl.arrays import FloatArray, IntArray
from proprl.curriculum.all_pairs import scored
from proprl.curriculum.graph import LEARNED_FROM
from proprl.curriculum.summary import names_apart
from proprl.data.splits.labelled import ASKED, DRAWN, LabelledPairs
from proprl.errors import ProprlError
from proprl.fitted import Fitted
from proprl.graphs.closure import BoolArray, what_follows
from proprl.models.base import PairScorer
from proprl.pairs.background import open_pairs
from proprl.progress import SILENT, Progress

QUESTIONS = 10
"""So many pairs are asked about at a time."""
AGAIN = 0.5
"""What a question counts once more for each earlier one of its batch about one of its concepts."""
SHORTLIST, SHORTLIST_EACH = 500, 20
"""So many pairs are looked at more closely, at least, and for each that is asked."""
LEAST = 1e-12
"""No probability counts as less, so that none is divided by 0."""
EVEN = 0.5
"""Both orders are in doubt if the less likely is so many times as likely as the other."""
UNSURE = (0.25, 0.75)
"""Between these probabilities a pair may well be a prerequisite, and may well not."""
AGAINST = 0.5
"""Kinds of evidence disagree if each side adds so much, in log-odds."""
SIDES = {
    "labels": "your other answers",
    "moves": "the moves of learners",
    "resources": "the resources",
    "texts": "the texts",
    "reader": "what a language model reads",
}
"""The kinds of evidence, as the subject of a sentence."""


@dataclass(frozen=True)
class Question:
    """A question to a person: is `source` needed before `target`."""

    source: str
    target: str
    probability: float
    """What the model says of it."""
    source_id: str
    target_id: str
    reverse_probability: float
    """What the model says of the other order."""
    why: str
    """In a few words, why it is asked."""
    origin: str = ASKED
    chance: float | None = None
    """The chance of being drawn, of a pair that was drawn by lot."""


@dataclass(frozen=True)
class Standing:
    """What is known about a course before a question: labels, and what a model says."""

    pairs: IntArray  # (m, 2), open ones
    matrix: FloatArray  # (n, n), the probability of each open pair, 0 of the others
    follows: BoolArray  # (n, n), what follows from confirmed labels

    @classmethod
    def of(cls, pairs: IntArray, probabilities: FloatArray, follows: BoolArray) -> Standing:
        """Give the standing of open pairs with these probabilities."""
        matrix = np.zeros(follows.shape)
        matrix[tuple(pairs.T)] = probabilities
        return cls(pairs, matrix, follows)

    def worth(self) -> FloatArray:
        """Say what an answer about each open pair is worth: (m,).

        It is p (1 - p) log₂(1 + new): how much it is in doubt, and how much would follow. It is
        half as much again where both orders are equally likely, and double in a circle.
        """
        p, q = self.matrix[tuple(self.pairs.T)], self.matrix[tuple(self.pairs[:, ::-1].T)]
        both = np.minimum(p, q) / np.maximum(np.maximum(p, q), LEAST)
        return np.asarray(p * (1 - p) * np.log2(1 + self.new) * (1 + both / 2 + self.in_circle))

    @cached_property
    def new(self) -> FloatArray:
        """How many pairs a yes to each open pair would put in order: (m,)."""
        reach = (self.follows | np.eye(len(self.follows), dtype=np.bool_)).astype(np.float32)
        return np.asarray((reach.T @ (1 - reach) @ reach.T)[tuple(self.pairs.T)])

    @cached_property
    def in_circle(self) -> BoolArray:
        """Whether each open pair closes a circle with other believed ones: (m,)."""
        believed = (self.matrix >= LEARNED_FROM) | self.follows
        graph: rx.PyDiGraph[int, None] = rx.PyDiGraph()
        graph.add_nodes_from(range(len(believed)))
        graph.add_edges_from_no_data([(i, j) for i, j in np.argwhere(believed).tolist()])
        group = np.empty(len(believed), dtype=np.int64)
        for k, concepts in enumerate(rx.strongly_connected_components(graph)):
            group[concepts] = k
        first, then = self.pairs.T
        circle: BoolArray = believed[first, then] & (group[first] == group[then])
        return circle


def spread(pairs: IntArray, worth: FloatArray, count: int) -> IntArray:
    """Give the places of the pairs to ask: worth most, and spread over the concepts.

    One order of a pair is asked at most, and each further question about a concept counts half.

    >>> pairs = np.array([[0, 1], [1, 0], [0, 2], [3, 4]])
    >>> spread(pairs, np.array([1.0, 0.9, 0.8, 0.5]), 2).tolist()
    [0, 3]
    """
    left = worth.astype(np.float64)
    chosen: list[int] = []
    while len(chosen) < min(count, len(pairs)):
        best = int(np.argmax(left))
        if left[best] < 0:
            break
        chosen.append(best)
        met = np.isin(pairs, pairs[best]).sum(axis=1)
        left *= AGAIN**met
        left[met == 2] = -1.0
    return np.array(chosen, dtype=np.int64)


def choose(standing: Standing, scorer: PairScorer, count: int) -> IntArray:
    """Give the places of the open pairs to ask, the first one first.

    Where kinds of evidence disagree, an answer is worth half as much again. Only the pairs that
    are worth most are looked at for that: telling the kinds apart takes time.
    """
    worth = standing.worth()
    short = np.argsort(-worth, kind="stable")[: max(SHORTLIST, SHORTLIST_EACH * count)]
    disagree = [sides is not None for sides in _sides(scorer, standing.pairs[short])]
    worth = worth[short] * (1 + np.array(disagree, dtype=np.float64) / 2)
    return np.asarray(short[spread(standing.pairs[short], worth, count)])


def worth_asking(
    fitted: Fitted,
    count: int = QUESTIONS,
    *,
    answered: LabelledPairs | None = None,
    progress: Progress = SILENT,
) -> list[Question]:
    """Give the pairs whose answers help the map most, spread over the course.

    They are in doubt, and much would follow from them. Nothing is asked that has an answer, or
    follows from confirmed labels, in this or the other order.
    """
    if count < 1:
        raise ProprlError(f"a number of {count} questions asks nothing: it must be 1 or more")
    n, known = len(fitted.concept_ids), known_pairs(fitted, answered)
    pairs = np.argwhere(open_pairs(known, n)).astype(np.int64)
    probabilities = scored(fitted, pairs, progress)
    standing = Standing.of(pairs, probabilities, what_follows(n, known.positives))
    chosen = choose(standing, fitted.scorer, count)
    asked, new, circle = pairs[chosen], standing.new[chosen], standing.in_circle[chosen]
    sides = _sides(fitted.scorer, asked)
    return [
        _question(fitted, pair, standing.matrix, _why(standing.matrix, pair, *facts))
        for pair, *facts in zip(
            map(tuple, asked.tolist()), new.tolist(), circle.tolist(), sides, strict=True
        )
    ]


def drawn_by_lot(
    fitted: Fitted, count: int, *, answered: LabelledPairs | None = None
) -> list[Question]:
    """Give open pairs drawn by lot, each with the same chance: they tell how rare yes is.

    While nothing is answered, the same pairs are drawn again: nobody can pass over a pair.
    """
    if count < 1:
        raise ProprlError(f"a draw of {count} pairs asks nothing: it must be 1 or more")
    n, known = len(fitted.concept_ids), known_pairs(fitted, answered)
    pairs = np.argwhere(open_pairs(known, n)).astype(np.int64)
    state = hashlib.sha256(known.pairs.tobytes() + fitted.course_fingerprint.encode())
    rng = np.random.default_rng(int.from_bytes(state.digest()[:8], "big"))
    drawn = pairs[rng.permutation(len(pairs))[:count]]
    matrix = np.zeros((n, n))
    for both in (drawn, drawn[:, ::-1]):
        matrix[tuple(both.T)] = fitted.fit.score(both) if len(both) else 0.0
    why = "it was drawn by lot, to learn how rare prerequisites are"
    chance = len(drawn) / max(len(pairs), 1)
    return [
        _question(fitted, (i, j), matrix, why, origin=DRAWN, chance=chance)
        for i, j in drawn.tolist()
    ]


def known_pairs(fitted: Fitted, answered: LabelledPairs | None) -> LabelledPairs:
    """Give all pairs that somebody has spoken of: labels of every part, and answers."""
    parts = fitted.split.validation, fitted.split.test, *([] if answered is None else [answered])
    return fitted.split.train.joined(*parts)


def _question(
    fitted: Fitted,
    pair: tuple[int, ...],
    matrix: FloatArray,
    why: str,
    *,
    origin: str = ASKED,
    chance: float | None = None,
) -> Question:
    (i, j), ids = pair, fitted.concept_ids
    names = names_apart(ids, fitted.concept_names)
    forth, back = float(matrix[i, j]), float(matrix[j, i])
    return Question(names[i], names[j], forth, ids[i], ids[j], back, why, origin, chance)


def _sides(scorer: PairScorer, pairs: IntArray) -> list[tuple[str, str] | None]:
    """Give for each pair the kinds that speak most for it and against it, where both are heard."""
    details = scorer.details(pairs) if len(pairs) else {}
    kinds = [kind for kind in details if kind in SIDES]
    if not kinds:
        return [None] * len(pairs)
    worth = np.stack([details[kind] for kind in kinds])  # (kinds, m)
    heard = (worth.max(axis=0) >= AGAINST) & (worth.min(axis=0) <= -AGAINST)
    best, worst = worth.argmax(axis=0).tolist(), worth.argmin(axis=0).tolist()
    return [
        (kinds[k], kinds[m]) if yes else None
        for k, m, yes in zip(best, worst, heard.tolist(), strict=True)
    ]


def _why(
    matrix: FloatArray,
    pair: tuple[int, ...],
    new: float,
    circle: bool,
    sides: tuple[str, str] | None,
) -> str:
    """Say in a few words why a pair is asked."""
    i, j = pair
    p, q = float(matrix[i, j]), float(matrix[j, i])
    if circle:
        return "with other likely steps it closes a circle, and one of them must go"
    if min(p, q) >= EVEN * max(p, q) and max(p, q) >= UNSURE[0]:
        return "both orders look likely"
    if sides is not None:
        return f"{SIDES[sides[0]]} speak for it, {SIDES[sides[1]]} against"
    much = f"a yes would put {new:,.0f} pairs in order" if new > 1 else ""
    if UNSURE[0] <= p <= UNSURE[1]:
        return "it could go either way" + (f", and {much}" if much else "")
    return much or "little is known about these two"
