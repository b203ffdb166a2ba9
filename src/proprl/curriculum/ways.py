"""Ways to learn: what leads to a concept, and what a learner is ready for.

Every answer takes time in proportion to the concepts and pairs of the map.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from proprl.arrays import FloatArray, IntArray
from proprl.curriculum.graph import PrerequisiteGraph
from proprl.curriculum.way import CERTAIN, Known, Link, Point, Ready, Step, Taken, Way
from proprl.data.lookup import finder
from proprl.errors import ProprlError
from proprl.graphs.closure import BoolArray

NOT_NEEDED = -1.0


class Ways:
    """A prerequisite graph made ready for questions about learning.

    Pairs that follow from others count with their own probability: what is likely by itself is
    needed, even where the steps that lead there are doubtful.
    """

    def __init__(self, graph: PrerequisiteGraph) -> None:
        self.graph = graph
        self.n = len(graph.ids)
        self._find = finder(graph.ids, graph.names)
        sure = np.where(graph.confirmed, CERTAIN, graph.probabilities)
        pairs = np.vstack([graph.pairs, graph.implied])
        # A link stands in one place of these four; they are sorted by what comes after.
        by_end = np.lexsort((pairs[:, 0], pairs[:, 1]))
        self._before, self._after = pairs[by_end].T
        self._sure = np.concatenate([sure, graph.implied_probabilities])[by_end]
        self._is_step = by_end < len(graph.pairs)
        self._first = np.searchsorted(self._after, np.arange(self.n + 1))

    def rows(self, concepts: Iterable[str]) -> list[int]:
        """Give the rows of concepts that are given by name or id, each once."""
        return list(dict.fromkeys(self._find(one) for one in concepts))

    def known(self, known: Sequence[str], unknown: Sequence[str] = ()) -> Known:
        """Give what a learner knows, with all that it needs.

        What is said to be `unknown` is not taken as known because of a learned prerequisite.
        Where confirmed ones say that it is known, that is an error.
        """
        said, denied = self.rows(known), self.rows(unknown)
        names, stop = self.graph.names, self._mask(denied)
        if both := [row for row in said if stop[row]]:
            raise ProprlError(f"{names[both[0]]} is said to be known, and not to be known")
        have = self._all_before(said, stop)
        sure, because = self._surest(said, have)
        for row in denied:
            if sure[row] >= CERTAIN:
                raise ProprlError(
                    f"{names[row]} is said not to be known, but {names[because[row]]} is, and "
                    f"labels confirm that it needs {names[row]}: leave out one of the two"
                )
        have[said] = False
        taken = np.flatnonzero(have)
        columns = (taken.tolist(), because[taken].tolist(), sure[taken].tolist())
        return Known(tuple(said), tuple(map(Taken, *columns)))

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
        state = self._mask(knows.rows)
        if reached := [goal for goal in goals if state[goal]]:
            raise ProprlError(self._is_known(reached[0], knows))
        open_ = self._all_before(goals, state)
        sure, _ = self._surest(goals, open_, at_least)
        needed = open_ & (sure > NOT_NEEDED)
        order = [row for row in self._order(open_) if needed[row]]
        points = self._points(order, needed, sure, at_least)
        columns = (
            order,
            self._just_before(order, needed, needed | state),
            sure[order].tolist(),
            [points[j].weakest if j in points else None for j in order],
        )
        return Way(
            targets=tuple(goals),
            steps=tuple(map(Step, *columns)),
            known=knows,
            weakest=self._weakest(needed, at_least),
            points=points,
        )

    def ready(self, known: Known) -> list[Ready]:
        """Give the outer fringe, what most need first: unknown, and needs only what is known."""
        state = self._mask(known.rows)
        open_ = np.flatnonzero(~state[self._before])
        missing = np.bincount(self._after[open_], minlength=self.n)
        opens: dict[int, list[int]] = {}
        last = open_[(missing[self._after[open_]] == 1) & ~state[self._after[open_]]]
        for i, j in zip(self._before[last].tolist(), self._after[last].tolist(), strict=True):
            opens.setdefault(i, []).append(j)
        fringe = np.flatnonzero(~state & (missing == 0))
        best_first = fringe[np.argsort(-self.needed_for[fringe], kind="stable")]
        return [
            Ready(i, count, tuple(opens.get(i, ())))
            for i, count in zip(
                best_first.tolist(), self.needed_for[best_first].tolist(), strict=True
            )
        ]

    def learned_last(self, known: Known) -> IntArray:
        """Give the inner fringe: what is known, and needed by nothing that is known."""
        state = self._mask(known.rows)
        state[self._before[state[self._after]]] = False
        return np.flatnonzero(state)

    @cached_property
    def needed_for(self) -> IntArray:
        """For how many concepts each one is needed, by one step or several: (n,)."""
        follow = [0] * self.n  # a number for each concept; bit j: it is needed for concept j
        bit = [1 << j for j in range(self.n)]
        before, after = self._before[self._is_step], self._after[self._is_step]
        late_first = np.argsort(-self._level[before], kind="stable")
        for i, j in zip(before[late_first].tolist(), after[late_first].tolist(), strict=True):
            follow[i] |= follow[j] | bit[j]
        return np.array([bits.bit_count() for bits in follow], dtype=np.int64)

    @cached_property
    def _level(self) -> IntArray:
        """How many links the longest way to each concept has: (n,)."""
        level = np.zeros(self.n, dtype=np.int64)
        by_start = np.argsort(self._before, kind="stable")
        after = self._after[by_start]
        first = np.searchsorted(self._before[by_start], np.arange(self.n + 1))
        missing = np.diff(self._first)
        here = np.flatnonzero(missing == 0)
        while len(here):
            after_these = after[_ranges(first[here], first[here + 1])]
            level[after_these] = level[here[0]] + 1
            missing -= np.bincount(after_these, minlength=self.n)
            here = np.unique(after_these[missing[after_these] == 0])
        return level

    def _mask(self, rows: Iterable[int]) -> BoolArray:
        mask = np.zeros(self.n, dtype=np.bool_)
        mask[list(rows)] = True
        return mask

    def _is_known(self, goal: int, known: Known) -> str:
        names = self.graph.names
        if goal in known.said:
            return f"{names[goal]} is known already: name a target that is still to be learned"
        by = next(one.because for one in known.taken if one.concept == goal)
        return (
            f"whoever knows {names[by]} knows {names[goal]}, which it needs: name another "
            "target, or say that it is not known"
        )

    def _all_before(self, goals: Sequence[int], stop: BoolArray) -> BoolArray:
        """Give goals and all before them (n,), but what is to `stop` at."""
        met = self._mask(goals)
        here = np.flatnonzero(met)
        while len(here):
            before = self._before[_ranges(self._first[here], self._first[here + 1])]
            here = np.unique(before[~met[before] & ~stop[before]])
            met[here] = True
        return met

    def _surest(
        self, goals: Sequence[int], within: BoolArray, at_least: float = 0.0
    ) -> tuple[FloatArray, IntArray]:
        """Give how surely some goal needs each concept, and which one: (n,) and (n,).

        Chains go along the concepts `within`; what lies just before those counts too.
        """
        sure, goal = np.full(self.n, NOT_NEEDED), np.full(self.n, -1)
        sure[goals], goal[goals] = CERTAIN, goals
        links = np.flatnonzero(within[self._after] & (self._sure >= at_least))
        links = links[np.argsort(-self._level[self._after[links]], kind="stable")]
        ends = np.flatnonzero(np.diff(self._level[self._after[links]])) + 1
        for some in np.split(links, ends):  # what comes last in the course is settled first
            before, after = self._before[some], self._after[some]
            worth = np.minimum(self._sure[some], sure[after])
            better = np.flatnonzero(worth > sure[before])
            better = better[np.argsort(worth[better], kind="stable")]  # the last one stands
            sure[before[better]] = worth[better]
            goal[before[better]] = goal[after[better]]
        return sure, goal

    def _order(self, within: BoolArray) -> list[int]:
        """Put concepts in an order of learning.

        It is the course's own, but what a concept needs stands right before it.
        """
        links = within[self._after] & within[self._before]
        before = self._before[links].tolist()
        first = np.searchsorted(self._after[links], np.arange(self.n + 1)).tolist()
        at, entered, order = first.copy(), (~within).tolist(), []
        for last in np.flatnonzero(within).tolist():
            if entered[last]:
                continue
            entered[last] = True
            way = [last]
            while way:
                j = way[-1]
                if at[j] == first[j + 1]:
                    order.append(way.pop())
                    continue
                i = before[at[j]]
                at[j] += 1
                if not entered[i]:
                    entered[i] = True
                    way.append(i)
        return order

    def _points(
        self, order: Sequence[int], needed: BoolArray, sure: FloatArray, at_least: float
    ) -> dict[int, Point]:
        """Give the unsure links that every chain from a concept to a goal goes along.

        Those links are the concept's dominators in the graph that leads back from the goals. In
        an acyclic graph the nearest one is the meeting point of those of what needs the concept.
        """
        unsure = needed & (sure < CERTAIN)
        links = np.flatnonzero(
            unsure[self._before] & needed[self._after] & (self._sure >= at_least)
        )
        links = links[np.argsort(self._before[links], kind="stable")]
        after, p = self._after[links].tolist(), self._sure[links].tolist()
        first = np.searchsorted(self._before[links], np.arange(self.n + 1)).tolist()
        goal, points = Point(), dict[int, Point]()
        for i in reversed(order):
            begin, end = first[i], first[i + 1]
            if begin == end:
                continue
            met = points.get(after[begin], goal)
            for k in range(begin + 1, end):
                if met is goal:
                    break
                met = met.meets(points.get(after[k], goal))
            # No other chain goes along a link that is one of several.
            if end - begin == 1 and p[begin] < CERTAIN:
                met = met.behind(Link(i, after[begin], p[begin]))
            points[i] = met
        return points

    def _just_before(
        self, order: Sequence[int], needed: BoolArray, there: BoolArray
    ) -> list[tuple[int, ...]]:
        """Give for each concept what has to be learned just before it, of what is there."""
        steps = self._is_step & needed[self._after] & there[self._before]
        before = self._before[steps].tolist()
        first = np.searchsorted(self._after[steps], np.arange(self.n + 1)).tolist()
        return [tuple(before[first[j] : first[j + 1]]) for j in order]

    def _weakest(self, needed: BoolArray, at_least: float) -> Link | None:
        """Give the learned step that is least sure."""
        learned = np.flatnonzero(
            self._is_step
            & needed[self._before]
            & needed[self._after]
            & (self._sure < CERTAIN)
            & (self._sure >= at_least)
        )
        if not len(learned):
            return None
        k = learned[np.argmin(self._sure[learned])]
        return Link(int(self._before[k]), int(self._after[k]), float(self._sure[k]))


def _ranges(starts: IntArray, ends: IntArray) -> IntArray:
    """Give all numbers of several ranges.

    >>> _ranges(np.array([0, 7]), np.array([2, 10])).tolist()
    [0, 1, 7, 8, 9]
    """
    counts = ends - starts
    return np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
