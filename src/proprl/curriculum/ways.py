"""Ways to learn: what leads to a concept, and what a learner is ready for.

Every answer takes time in proportion to the concepts and pairs that it touches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from proprl.arrays import IntArray
from proprl.curriculum.graph import PrerequisiteGraph
from proprl.data.lookup import finder
from proprl.errors import ProprlError
from proprl.graphs.closure import BoolArray

CERTAIN = 1.0


class Link(NamedTuple):
    """One prerequisite by rows: learn `before` before `after`."""

    before: int
    after: int
    sure: float
    """The probability; 1 where a label confirms it."""


@dataclass(frozen=True)
class Taken:
    """A concept nobody named that is taken as known: what is known needs it."""

    concept: int
    because: int
    """The known concept that needs it most surely."""
    sure: float
    """The weakest link of the surest chain to that one."""


@dataclass(frozen=True)
class Known:
    """What a learner knows."""

    said: tuple[int, ...]
    taken: tuple[Taken, ...]
    """What the others need: whoever knows a concept knows what it needs."""

    @cached_property
    def rows(self) -> set[int]:
        """All that is known."""
        return {*self.said, *(one.concept for one in self.taken)}


@dataclass(frozen=True)
class Step:
    """A concept to learn on the way."""

    concept: int
    after: tuple[int, ...]
    """What of the way, or of what is known, has to be learned just before."""
    needed: float
    """How surely the targets need it: the weakest link of the surest chain to one of them."""
    hangs_on: Link | None
    """The step can be skipped if this prerequisite is none; None: others need the step too."""


@dataclass(frozen=True)
class Way:
    """What to learn, in order, to reach the targets."""

    targets: tuple[int, ...]
    steps: tuple[Step, ...]
    known: Known
    weakest: Link | None
    """The learned prerequisite on the way that is least sure; None where labels confirm all."""


@dataclass(frozen=True)
class Ready:
    """A concept that can be learned now."""

    concept: int
    needed_for: int
    """So many concepts need it, by one step or several."""
    opens: tuple[int, ...]
    """What can be learned as soon as this one is known: nothing else is missing."""


class Ways:
    """A prerequisite graph made ready for questions about learning.

    Pairs that follow from others count with their own probability: what is likely by itself is
    needed, even where the steps that lead there are doubtful.
    """

    def __init__(self, graph: PrerequisiteGraph) -> None:
        self.graph = graph
        self.n = len(graph.ids)
        sure = np.where(graph.confirmed, CERTAIN, graph.probabilities)
        pairs = np.vstack([graph.pairs, graph.implied])
        by_end = np.lexsort((pairs[:, 0], pairs[:, 1]))
        self._pairs = pairs[by_end]
        self._first = np.searchsorted(self._pairs[:, 1], np.arange(self.n + 1)).tolist()
        self._before = self._pairs[:, 0].tolist()
        self._sure = np.concatenate([sure, graph.implied_probabilities])[by_end].tolist()
        self._is_step = (by_end < len(graph.pairs)).tolist()
        self._find = finder(graph.ids, graph.names)

    def rows(self, concepts: Iterable[str]) -> list[int]:
        """Give the rows of concepts that are given by name or id, each once."""
        return list(dict.fromkeys(self._find(one) for one in concepts))

    def known(self, known: Sequence[str], unknown: Sequence[str] = ()) -> Known:
        """Give what a learner knows, with all that it needs.

        What is said to be `unknown` is not taken as known because of a learned prerequisite.
        Where confirmed ones say that it is known, that is an error.
        """
        said, denied = self.rows(known), set(self.rows(unknown))
        names = self.graph.names
        if both := denied.intersection(said):
            raise ProprlError(f"{names[min(both)]} is said to be known, and not to be known")
        surest = self._surest(said, self._order(said, denied), denied)
        for row in denied & surest.keys():
            sure, because = surest.pop(row)
            if sure >= CERTAIN:
                raise ProprlError(
                    f"{names[row]} is said not to be known, but {names[because]} is, and labels "
                    f"confirm that it needs {names[row]}: leave out one of the two"
                )
        return Known(
            tuple(said),
            tuple(
                Taken(row, because, sure)
                for row, (sure, because) in sorted(surest.items())
                if row not in said
            ),
        )

    def way_to(
        self,
        targets: Sequence[str],
        known: Sequence[str] = (),
        *,
        unknown: Sequence[str] = (),
        at_least: float = 0.0,
    ) -> Way:
        """Give the way to the targets; steps less surely needed than `at_least` are left out."""
        if not 0 <= at_least <= 1:
            raise ProprlError(f"at-least is a probability, from 0 to 1, not {at_least}")
        goals, knows = self.rows(targets), self.known(known, unknown)
        if reached := [goal for goal in goals if goal in knows.rows]:
            raise ProprlError(self._is_known(reached[0], knows))
        order = self._order(goals, knows.rows)
        needed = self._surest(goals, order, at_least=at_least)
        order = [row for row in order if row in needed]
        hangs_on = self._hangs_on(goals, order, at_least)
        links = [
            link
            for j in order
            for link in self._links(j)
            if link.before in needed and at_least <= link.sure < CERTAIN
        ]
        return Way(
            targets=tuple(goals),
            steps=tuple(
                Step(
                    j,
                    tuple(i for i in self._just_before(j) if i in needed or i in knows.rows),
                    needed[j][0],
                    hangs_on[j],
                )
                for j in order
            ),
            known=knows,
            weakest=min(links, key=lambda link: link.sure, default=None),
        )

    def ready(self, known: Known) -> list[Ready]:
        """Give the outer fringe, what most need first: unknown, and needs only what is known."""
        state = self._state(known)
        missing = self._pairs[~state[self._pairs[:, 0]]]
        count = np.bincount(missing[:, 1], minlength=self.n)
        opens: dict[int, list[int]] = {}
        for i, j in missing[count[missing[:, 1]] == 1].tolist():
            if not state[j]:
                opens.setdefault(i, []).append(j)
        fringe = np.flatnonzero(~state & (count == 0))
        best_first = fringe[np.argsort(-self.needed_for[fringe], kind="stable")]
        return [
            Ready(i, int(self.needed_for[i]), tuple(opens.get(i, ()))) for i in best_first.tolist()
        ]

    def learned_last(self, known: Known) -> IntArray:
        """Give the inner fringe: what is known, and needed by nothing that is known."""
        state = self._state(known)
        leads_on = np.bincount(self._pairs[state[self._pairs[:, 1]], 0], minlength=self.n)
        return np.flatnonzero(state & (leads_on == 0))

    @cached_property
    def needed_for(self) -> IntArray:
        """For how many concepts each one is needed, by one step or several: (n,)."""
        follow = [0] * self.n  # a number for each concept; bit j: it is needed for concept j
        for j in reversed(self._order(range(self.n), ())):
            here = follow[j] | 1 << j
            for i in self._just_before(j):
                follow[i] |= here
        return np.array([bits.bit_count() for bits in follow], dtype=np.int64)

    def _state(self, known: Known) -> BoolArray:
        state = np.zeros(self.n, dtype=np.bool_)
        state[list(known.rows)] = True
        return state

    def _is_known(self, goal: int, known: Known) -> str:
        names = self.graph.names
        if goal in known.said:
            return f"{names[goal]} is known already: name a target that is still to be learned"
        by = next(one.because for one in known.taken if one.concept == goal)
        return (
            f"whoever knows {names[by]} knows {names[goal]}, which it needs: name another "
            "target, or say that it is not known"
        )

    def _links(self, j: int) -> list[Link]:
        """Give what comes before a concept."""
        here = range(self._first[j], self._first[j + 1])
        return [Link(self._before[k], j, self._sure[k]) for k in here]

    def _just_before(self, j: int) -> list[int]:
        """Give what comes just before a concept: the links that follow from no others."""
        here = range(self._first[j], self._first[j + 1])
        return [self._before[k] for k in here if self._is_step[k]]

    def _order(self, goals: Iterable[int], stop: Collection[int]) -> list[int]:
        """Put goals and all before them, but what is to `stop` at, in an order of learning.

        The order is the course's, but what a concept needs stands right before it.
        """
        met, waiting = set(goals), list(goals)
        while waiting:
            j = waiting.pop()
            for i in self._before[self._first[j] : self._first[j + 1]]:
                if i not in met and i not in stop:
                    met.add(i)
                    waiting.append(i)
        order: list[int] = []
        at = self._first.copy()
        entered: set[int] = set()
        for last in sorted(met):
            if last in entered:
                continue
            entered.add(last)
            way = [last]
            while way:
                j = way[-1]
                if at[j] == self._first[j + 1]:
                    order.append(way.pop())
                    continue
                i = self._before[at[j]]
                at[j] += 1
                if i in met and i not in entered:
                    entered.add(i)
                    way.append(i)
        return order

    def _surest(
        self,
        goals: Sequence[int],
        order: Sequence[int],
        denied: Collection[int] = (),
        at_least: float = 0.0,
    ) -> dict[int, tuple[float, int]]:
        """Give how surely some goal needs each concept of an order, and which goal that is."""
        surest = {goal: (CERTAIN, goal) for goal in goals}
        within = {*order, *denied}
        for j in reversed(order):
            if j not in surest:
                continue
            sure, goal = surest[j]
            for k in range(self._first[j], self._first[j + 1]):
                i, link = self._before[k], min(self._sure[k], sure)
                if i in within and at_least <= link and (i not in surest or link > surest[i][0]):
                    surest[i] = (link, goal)
        return surest

    def _hangs_on(
        self, goals: Sequence[int], order: Sequence[int], at_least: float
    ) -> dict[int, Link | None]:
        """Give the least sure link that every chain from a concept to a goal goes along.

        Those links are the concept's dominators in the graph that leads back from the goals. In
        an acyclic graph the nearest one is the meeting point of those of what needs the concept.
        """
        of = dict.fromkeys(goals, _Point(0, None))
        within = set(order)
        for j in reversed(order):
            here = of[j]
            for link in self._links(j):
                if link.before not in within or link.sure < at_least:
                    continue
                point = here if link.sure >= CERTAIN else here.behind(link)
                met = of.get(link.before)
                of[link.before] = point if met is None else met.meets(point)
        return {row: of[row].weakest for row in order}


class _Point:
    """An unsure link on all chains to the goals, with those that come after it."""

    def __init__(self, depth: int, weakest: Link | None, after: _Point | None = None) -> None:
        self.depth = depth
        self.weakest = weakest
        self.after = after or self

    def behind(self, link: Link) -> _Point:
        weaker = self.weakest is None or link.sure < self.weakest.sure
        return _Point(self.depth + 1, link if weaker else self.weakest, self)

    def meets(self, other: _Point) -> _Point:
        here = self
        while here is not other:
            if here.depth >= other.depth:
                here = here.after
            else:
                other = other.after
        return here
