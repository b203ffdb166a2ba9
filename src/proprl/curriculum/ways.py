"""Ways to learn: what leads to a concept, and what a learner is ready for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from proprl.arrays import FloatArray, IntArray
from proprl.curriculum.graph import PrerequisiteGraph
from proprl.data.lookup import find_concept
from proprl.errors import ProprlError
from proprl.graphs.closure import BoolArray

CERTAIN = 1.0


@dataclass(frozen=True)
class Step:
    """A concept to learn on the way."""

    concept: int
    after: tuple[int, ...]
    """What of the way, or of what is known, has to be learned just before."""
    needed: float
    """How surely the targets need it: the weakest link of the surest chain to one of them."""


@dataclass(frozen=True)
class Way:
    """What to learn, in order, to reach the targets."""

    targets: tuple[int, ...]
    steps: tuple[Step, ...]
    taken_as_known: tuple[int, ...]
    """Concepts nobody named that what is known needs: whoever knows a concept knows those."""
    weakest: tuple[int, int, float] | None
    """The learned prerequisite on the way that is least sure; None where labels confirm all."""


class Ways:
    """A prerequisite graph made ready for questions about learning."""

    def __init__(self, graph: PrerequisiteGraph) -> None:
        self.graph = graph
        self.n = len(graph.ids)
        self.sure = np.where(graph.confirmed, CERTAIN, graph.probabilities)

    @cached_property
    def _before(self) -> tuple[list[list[int]], list[list[float]]]:
        """The concepts just before each one, and how sure that is."""
        before: list[list[int]] = [[] for _ in range(self.n)]
        sure: list[list[float]] = [[] for _ in range(self.n)]
        for (i, j), p in zip(self.graph.pairs.tolist(), self.sure.tolist(), strict=True):
            before[j].append(i)
            sure[j].append(p)
        return before, sure

    def rows(self, concepts: Iterable[str]) -> list[int]:
        """Give the rows of concepts that are given by name or id."""
        return [find_concept(one, self.graph.ids, self.graph.names) for one in concepts]

    def way_to(
        self, targets: Sequence[str], known: Sequence[str] = (), *, at_least: float = 0.0
    ) -> Way:
        """Give the way to the targets; steps less surely needed than `at_least` are left out."""
        if not 0 <= at_least <= 1:
            raise ProprlError(f"at-least is a probability, from 0 to 1, not {at_least}")
        goals, said = self.rows(targets), self.rows(known)
        have = self._with_all_before(said)
        for goal in goals:
            if goal in have:
                raise ProprlError(self._is_known(goal, said))
        needed = self._needed(goals, have, at_least)
        order = self._in_order(needed)
        before, sure = self._before
        links = [
            (i, j, p)
            for j in order
            for i, p in zip(before[j], sure[j], strict=True)
            if i in needed and at_least <= p < CERTAIN
        ]
        return Way(
            targets=tuple(goals),
            steps=tuple(
                Step(j, tuple(i for i in before[j] if i in needed or i in have), needed[j])
                for j in order
            ),
            taken_as_known=tuple(sorted(have - set(said))),
            weakest=min(links, key=lambda link: link[2], default=None),
        )

    def _is_known(self, goal: int, said: Sequence[int]) -> str:
        name = self.graph.names[goal]
        if goal in said:
            return f"{name} is known already: name a target that is still to be learned"
        by = next(row for row in said if goal in self._with_all_before([row]))
        return (
            f"whoever knows {self.graph.names[by]} knows {name}, which it needs: name another "
            "target, or leave out what is not known after all"
        )

    def _with_all_before(self, rows: Iterable[int]) -> set[int]:
        before, _ = self._before
        met, waiting = set(rows), list(rows)
        while waiting:
            for i in before[waiting.pop()]:
                if i not in met:
                    met.add(i)
                    waiting.append(i)
        return met

    def _needed(self, goals: Sequence[int], have: set[int], at_least: float) -> dict[int, float]:
        """Give what is still to be learned, and how surely it is needed."""
        before, sure = self._before
        needed = dict.fromkeys(goals, CERTAIN)
        waiting = list(goals)
        while waiting:
            j = waiting.pop()
            for i, p in zip(before[j], sure[j], strict=True):
                link = min(p, needed[j])
                if i not in have and link >= at_least and link > needed.get(i, -1.0):
                    needed[i] = link
                    waiting.append(i)
        return needed

    def _in_order(self, needed: dict[int, float]) -> list[int]:
        """Put concepts in an order of learning: what a step has just made possible comes next."""
        before, _ = self._before
        order: list[int] = []
        done: set[int] = set()
        for last in sorted(needed):
            waiting = [last]
            while waiting:
                j = waiting[-1]
                missing = [i for i in before[j] if i in needed and i not in done]
                if missing:
                    waiting.append(min(missing))
                    continue
                waiting.pop()
                if j not in done:
                    done.add(j)
                    order.append(j)
        return order

    @cached_property
    def _matrix(self) -> csr_array:
        ones = np.ones(len(self.graph.pairs))
        return csr_array((ones, self.graph.pairs.T), shape=(self.n, self.n))

    def state(self, known: Sequence[str]) -> BoolArray:
        """Give what is known (n,), with all that it needs."""
        state = np.zeros(self.n, dtype=np.bool_)
        state[list(self._with_all_before(self.rows(known)))] = True
        return state

    def ready_for(self, state: BoolArray) -> IntArray:
        """Give the outer fringe: what is not known, and needs only what is known."""
        missing: FloatArray = self._matrix.T @ (~state).astype(np.float64)
        return np.flatnonzero(~state & (missing == 0))

    def learned_last(self, state: BoolArray) -> IntArray:
        """Give the inner fringe: what is known, and needed by nothing that is known."""
        leads_to: FloatArray = self._matrix @ state.astype(np.float64)
        return np.flatnonzero(state & (leads_to == 0))
