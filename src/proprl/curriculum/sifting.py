"""An order of the concepts in which much weight points forward, found by moving single concepts.

A quick first answer for `proprl.curriculum.acyclic`, which also says how far it is from the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

import numpy as np
import rustworkx as rx

from proprl.arrays import FloatArray, IntArray
from proprl.graphs.closure import BoolArray

SWEEPS = 50
# Nothing that was learned outweighs what a person said.
LAW = 1e6


def sifted_order(
    n: int, law: IntArray, pairs: IntArray, weights: FloatArray, *, until: float
) -> IntArray:
    """Give each concept's place (n,): `law` points forward, and so does much of the weight.

    Concept after concept goes to the place that is best while the others stay, until a sweep
    moves none or the clock (`time.monotonic`) reaches `until`.

    >>> pairs, weights = np.array([[0, 1], [1, 2], [2, 0]]), np.array([2.0, 2.0, 1.0])
    >>> sifted_order(3, np.empty((0, 2), dtype=int), pairs, weights, until=monotonic() + 1)
    array([0, 1, 2])
    """
    arcs = np.vstack([law, pairs])
    w = np.concatenate([np.full(len(law), LAW), weights])
    place = _first_order(n, law, pairs, weights).astype(np.float64)
    ends = np.concatenate([arcs[:, 0], arcs[:, 1]])  # each arc stands at both of its concepts
    others = np.concatenate([arcs[:, 1], arcs[:, 0]])
    # What a concept gains by standing behind a neighbour: an arc from it, or loses: an arc to it.
    gains = np.concatenate([-w, w])
    by_concept = np.argsort(ends, kind="stable")
    bounds = np.searchsorted(ends[by_concept], np.arange(n + 1))
    for _ in range(SWEEPS):
        moved = False
        for v in range(n):
            mine = by_concept[bounds[v] : bounds[v + 1]]
            if len(mine):
                moved |= _move(place, v, others[mine], gains[mine])
        place[np.argsort(place, kind="stable")] = np.arange(n)
        if not moved or monotonic() > until:
            break
    return place.astype(np.int64)


def _move(place: FloatArray, v: int, neighbours: IntArray, gains: FloatArray) -> bool:
    """Put v between the neighbours where it gains most; whether it gained anything."""
    places = place[neighbours]
    order = np.argsort(places, kind="stable")
    places = places[order]
    worth = np.concatenate([[0.0], np.cumsum(gains[order])])  # of standing behind so many
    now, best = int(np.searchsorted(places, place[v])), int(np.argmax(worth))
    if worth[best] <= worth[now] + 1e-12:
        return False
    low = places[best - 1] if best else places[0] - 1
    high = places[best] if best < len(places) else places[-1] + 1
    middle = (low + high) / 2
    if not low < middle < high:
        return False
    place[v] = middle
    return True


def _first_order(n: int, law: IntArray, pairs: IntArray, weights: FloatArray) -> IntArray:
    """Give each concept's place in an order of the law; where it is free, sources come first."""
    balance = np.bincount(pairs[:, 0], weights, n) - np.bincount(pairs[:, 1], weights, n)
    rank = np.empty(n, dtype=np.int64)
    rank[np.argsort(-balance, kind="stable")] = np.arange(n)
    graph: rx.PyDiGraph[int, None] = rx.PyDiGraph()
    graph.add_nodes_from(rank.tolist())
    graph.add_edges_from_no_data([(i, j) for i, j in law.tolist()])
    by_rank = np.argsort(rank)
    order = rx.lexicographical_topological_sort(graph, key=lambda r: f"{r:09d}")
    place = np.empty(n, dtype=np.int64)
    place[by_rank[order]] = np.arange(n)
    return place


def admitted(
    n: int,
    law: IntArray,
    rejected: IntArray,
    pairs: IntArray,
    *,
    place: IntArray,
    priority: Sequence[int] | IntArray,
) -> BoolArray:
    """Give which pairs to take (m,): forward ones, by priority, while no rejected pair follows."""
    ahead: list[list[int]] = [[] for _ in range(n)]
    behind: list[list[int]] = [[] for _ in range(n)]
    # Row x: whether x follows from each rejected pair's first concept, and leads to its second.
    after = np.zeros((n, len(rejected)), dtype=np.bool_)
    before = np.zeros((n, len(rejected)), dtype=np.bool_)
    after[rejected[:, 0], np.arange(len(rejected))] = True
    before[rejected[:, 1], np.arange(len(rejected))] = True

    def add(i: int, j: int) -> None:
        ahead[i].append(j)
        behind[j].append(i)
        _spread(after, ahead, i, j)
        _spread(before, behind, j, i)

    for i, j in law.tolist():
        add(i, j)
    taken = np.zeros(len(pairs), dtype=np.bool_)
    forward = place[pairs[:, 0]] < place[pairs[:, 1]]
    for k in np.asarray(priority)[forward[priority]].tolist():
        i, j = pairs[k].tolist()
        if not (after[i] & before[j]).any():
            add(i, j)
            taken[k] = True
    return taken


def _spread(mask: BoolArray, ways: list[list[int]], start: int, first: int) -> None:
    """Pass what `start` carries on to `first` and all that it leads to."""
    waiting = [(start, first)]
    while waiting:
        x, y = waiting.pop()
        if (mask[x] & ~mask[y]).any():
            mask[y] |= mask[x]
            waiting += [(y, z) for z in ways[y]]
