"""Ways to learn: what leads to a concept, and what a learner is ready for.

Every answer takes time in proportion to the concepts and pairs that it touches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

import numpy as np

from proprl.arrays import IntArray
from proprl.curriculum.graph import PrerequisiteGraph
from proprl.curriculum.way import CERTAIN, Known, Link, Point, Ready, Step, Taken, Way
from proprl.data.lookup import finder
from proprl.errors import ProprlError
from proprl.graphs.closure import BoolArray


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
        points = self._points(goals, order, at_least)
        learned = [
            link
            for j in order
            for link in self._links(j, steps_alone=True)
            if link.before in needed and at_least <= link.sure < CERTAIN
        ]
        return Way(
            targets=tuple(goals),
            steps=tuple(
                Step(
                    j,
                    tuple(i for i in self._just_before(j) if i in needed or i in knows.rows),
                    needed[j][0],
                    points[j].weakest,
                )
                for j in order
            ),
            known=knows,
            weakest=min(learned, key=lambda link: link.sure, default=None),
            points=points,
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

    def _links(self, j: int, *, steps_alone: bool = False) -> list[Link]:
        """Give what comes before a concept, or just before it: what follows from no others."""
        return [
            Link(self._before[k], j, self._sure[k])
            for k in range(self._first[j], self._first[j + 1])
            if self._is_step[k] or not steps_alone
        ]

    def _just_before(self, j: int) -> list[int]:
        return [link.before for link in self._links(j, steps_alone=True)]

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

    def _points(
        self, goals: Sequence[int], order: Sequence[int], at_least: float
    ) -> dict[int, Point]:
        """Give the unsure links that every chain from a concept to a goal goes along.

        Those links are the concept's dominators in the graph that leads back from the goals. In
        an acyclic graph the nearest one is the meeting point of those of what needs the concept.
        """
        of = dict.fromkeys(goals, Point())
        within = set(order)
        for j in reversed(order):
            here = of[j]
            for link in self._links(j):
                if link.before not in within or link.sure < at_least:
                    continue
                point = here if link.sure >= CERTAIN else here.behind(link)
                met = of.get(link.before)
                of[link.before] = point if met is None else met.meets(point)
        return of
