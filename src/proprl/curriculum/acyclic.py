r"""The acyclic choice of weighted pairs that is worth most, and how much a better one could be.

Pairs that are law are kept, and some pairs (rejected ones) may not follow. Leaving out costs a
pair's weight:

.. math:: \min \sum_e w_e y_e \quad \text{with} \quad \sum_{e \in C} y_e \ge 1

for every C: the pairs of a cycle, or of a way from a to b of a rejected pair (a, b), without those
that are law. There are too many C to write down. They are added where an answer breaks them, and
the program is solved again. Each answer is a bound: no choice loses less.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from time import monotonic

import numpy as np
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from proprl.arrays import FloatArray, IntArray
from proprl.curriculum.sifting import admitted, sifted_order
from proprl.graphs.closure import BoolArray

SECONDS = 10.0
"""So long the best choice is looked for, beyond a first good one."""

# A share of the weight; what is nearer to the optimum than this is the optimum.
EXACT = 1e-6
# So many cuts are added at a time at most, and ways searched from so many concepts.
CUTS_AT_ONCE, STARTS_AT_ONCE = 2_000, 1_000
# Law costs nothing to go along, but a zero is no arc for the search.
FREE = 1e-9


@dataclass(frozen=True, eq=False)
class Problem:
    """Which of the `pairs` to keep, so that with `law` they make no cycle."""

    n: int
    law: IntArray  # (k, 2), acyclic
    rejected: IntArray  # (r, 2), none follows from the law
    pairs: IntArray  # (m, 2)
    weights: FloatArray  # (m,), positive

    def part(self, rows: IntArray) -> tuple[Problem, IntArray]:
        """Give what is within some concepts (sorted), and the places of its pairs."""
        law, rejected, pairs = (
            np.flatnonzero(np.isin(of, rows).all(axis=1))
            for of in (self.law, self.rejected, self.pairs)
        )
        inside = Problem(
            len(rows),
            np.searchsorted(rows, self.law[law]),
            np.searchsorted(rows, self.rejected[rejected]),
            np.searchsorted(rows, self.pairs[pairs]),
            self.weights[pairs],
        )
        return inside, pairs


@dataclass(frozen=True, eq=False)
class Choice:
    """Which pairs are kept, and how good that is."""

    kept: BoolArray  # (m,)
    lost: float
    """The weight of what is left out."""
    least: float
    """No choice loses less."""

    def gap(self, problem: Problem) -> float:
        """Give by which share of the optimum a better choice could at most be worth more."""
        whole = float(problem.weights.sum())
        missed = self.lost - self.least
        return missed / (whole - self.least) if missed > EXACT * whole else 0.0


def best_choice(problem: Problem, *, seconds: float = SECONDS) -> Choice:
    """Give the choice that loses least weight, or a good one when the time is over.

    >>> pairs, weights = np.array([[0, 1], [1, 2], [2, 0]]), np.array([3.0, 2.0, 1.0])
    >>> nothing = np.empty((0, 2), dtype=int)
    >>> best_choice(Problem(3, nothing, nothing, pairs, weights)).kept
    array([ True,  True, False])
    """
    arcs = np.vstack([problem.law, problem.pairs, problem.rejected[:, ::-1]])
    ones = np.ones(len(arcs))
    graph = csr_array((ones, arcs.T), shape=(problem.n, problem.n))
    _, component = connected_components(graph, connection="strong")
    # What can close a cycle, or lead along a rejected pair, lies within a strong component.
    contested = component[problem.pairs[:, 0]] == component[problem.pairs[:, 1]]
    kept, lost, least = ~contested, 0.0, 0.0
    found = np.unique(component[problem.pairs[contested, 0]], return_counts=True)
    until = monotonic() + seconds
    for one in found[0][np.argsort(found[1], kind="stable")]:  # the small ones first
        part, places = problem.part(np.flatnonzero(component == one))
        choice = _best_of_part(part, until)
        kept[places] = choice.kept
        lost, least = lost + choice.lost, least + choice.least
    return Choice(kept, lost, least)


def _best_of_part(problem: Problem, until: float) -> Choice:
    search = _Search(problem, until)
    search.relaxed()
    search.whole()
    return search.best


@dataclass
class _Search:
    """The program with the cuts found so far."""

    problem: Problem
    until: float
    best: Choice = field(init=False)
    place: IntArray = field(init=False)
    cuts: dict[tuple[int, ...], None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        of = self.problem
        self.place = sifted_order(of.n, of.law, of.pairs, of.weights, until=self.until)
        kept = self._admit(np.argsort(-of.weights, kind="stable"))
        self.best = Choice(kept, float(of.weights[~kept].sum()), 0.0)
        self._add(self._ways_of(self.best.kept))

    def relaxed(self) -> None:
        """Raise the bound with the linear relaxation: pairs may be left out in part."""
        while not self.done:
            y = self._solved(whole=False)
            if y is None or not self._add(self._short_ways(y)):
                return

    def whole(self) -> None:
        """Leave out pairs as a whole, until an answer breaks nothing."""
        while not self.done:
            y = self._solved(whole=True)
            if y is None:
                return
            kept = y < 0.5
            if self._add(self._short_ways(np.where(kept, 0.0, 1.0))):
                of = self.problem
                hoped = of.weights * np.where(kept, 1.0, 0.1)
                self.place = sifted_order(of.n, of.law, of.pairs, hoped, until=self.until)
                kept = self._admit(np.lexsort((-of.weights, ~kept)))
            self._offer(kept)

    @property
    def done(self) -> bool:
        """Whether the answer is the best, or the time is over."""
        near = EXACT * float(self.problem.weights.sum())
        return self.best.lost - self.best.least <= near or monotonic() >= self.until

    def _admit(self, priority: IntArray) -> BoolArray:
        of = self.problem
        return admitted(of.n, of.law, of.rejected, of.pairs, place=self.place, priority=priority)

    def _offer(self, kept: BoolArray) -> None:
        lost = float(self.problem.weights[~kept].sum())
        if lost < self.best.lost:
            self.best = replace(self.best, kept=kept, lost=lost)

    def _add(self, cuts: Iterator[tuple[int, ...]]) -> bool:
        """Add cuts; whether one of them is new."""
        before = len(self.cuts)
        for cut in cuts:
            self.cuts[cut] = None
            if len(self.cuts) >= before + CUTS_AT_ONCE or monotonic() >= self.until:
                break
        return len(self.cuts) > before

    def _solved(self, *, whole: bool) -> FloatArray | None:
        """Give how much of each pair is left out (m,), and raise the bound; None: no time."""
        left = self.until - monotonic()
        if left <= 0 or not self.cuts:
            return None if self.cuts else np.zeros(len(self.problem.pairs))
        columns = np.concatenate([np.array(cut) for cut in self.cuts])
        ends = np.cumsum([0, *map(len, self.cuts)])
        A = csr_array(
            (np.ones(len(columns)), columns, ends), shape=(len(ends) - 1, len(self.problem.pairs))
        )
        said = milp(
            self.problem.weights,
            integrality=np.full(A.shape[1], int(whole)),
            bounds=(0, 1),
            constraints=LinearConstraint(A, lb=1),
            options={"time_limit": left},
        )
        bound = said.fun if not whole and said.success else said.mip_dual_bound
        if bound is not None and np.isfinite(bound):
            least = min(self.best.lost, max(self.best.least, float(bound)))
            self.best = replace(self.best, least=least)
        return None if said.x is None else np.asarray(said.x)

    def _ways_of(self, kept: BoolArray) -> Iterator[tuple[int, ...]]:
        """Give, for each pair left out, a cut that says why."""
        yield from self._short_ways(np.where(kept, 0.0, 1.0), at_most=1.5)

    def _short_ways(self, y: FloatArray, at_most: float = 1.0) -> Iterator[tuple[int, ...]]:
        """Give cuts whose left side is less than `at_most`: cycles, and ways along rejections."""
        of = self.problem
        arcs = np.vstack([of.pairs, of.law])
        length = np.concatenate([np.maximum(y, 0) + 1e-6, np.full(len(of.law), FREE)])
        graph = csr_array((length, arcs.T), shape=(of.n, of.n))
        which = {(i, j): k for k, (i, j) in enumerate(of.pairs.tolist())}
        # A cycle is a pair and a way back from its end to its beginning.
        wanted = np.vstack([of.pairs[:, ::-1], of.rejected])
        closing = np.concatenate([y, np.zeros(len(of.rejected))])
        back = np.concatenate([np.arange(len(of.pairs)), np.full(len(of.rejected), -1)])
        starts = np.unique(wanted[:, 0])
        for some in np.array_split(starts, -(-len(starts) // STARTS_AT_ONCE)):
            far, previous = dijkstra(graph, indices=some, return_predecessors=True, limit=at_most)
            row = np.searchsorted(some, wanted[:, 0])
            here = np.flatnonzero(np.isin(wanted[:, 0], some))
            row = row[here]
            total = far[row, wanted[here, 1]] + closing[here]
            broken = np.flatnonzero(total < at_most - 1e-3)
            for k in broken[np.argsort(total[broken], kind="stable")]:
                start, end = wanted[here[k]].tolist()
                pairs = [which[p] for p in _way(previous[row[k]], start, end) if p in which]
                if back[here[k]] >= 0:
                    pairs.append(int(back[here[k]]))
                yield tuple(sorted(pairs))


def _way(previous: IntArray, start: int, end: int) -> list[tuple[int, int]]:
    way = []
    while end != start:
        way.append((int(previous[end]), end))
        end = int(previous[end])
    return way
