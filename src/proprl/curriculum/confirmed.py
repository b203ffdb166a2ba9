"""Which labels the graph must follow, and which are set aside: they contradict each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import rustworkx as rx

from proprl.arrays import IntArray
from proprl.data.splits.labelled import LabelledPairs, distinct_pairs, pair_codes
from proprl.errors import ProprlError
from proprl.graphs.closure import BoolArray, connect

EXACT = 15
"""Up to so many concepts on common cycles, the fewest edges are found; above it, few.

The search looks at every subset of the concepts: 32,768 of them for 15.
"""


@dataclass(frozen=True, eq=False)
class SettledLabels:
    """Labels without contradictions, and the pairs in conflict; each pair once, in order."""

    kept: IntArray  # (m, 2), acyclic
    """Confirmed pairs that the graph must hold."""
    rejected: IntArray
    """Pairs that a person said are no prerequisites."""
    contradicted: IntArray
    """Pairs that were both confirmed and rejected."""
    mutual: IntArray
    """Confirmed pairs whose reverse is confirmed as well."""
    cyclic: IntArray
    """Confirmed pairs set aside because with the others they close a longer cycle."""

    @property
    def conflicts(self) -> IntArray:
        """All pairs that were set aside, in order."""
        return distinct_pairs(np.vstack([self.contradicted, self.mutual, self.cyclic]))


def settle_labels(n: int, labelled: LabelledPairs) -> SettledLabels:
    """Return which labels of n concepts hold, and which are set aside as in conflict.

    A pair with both labels is set aside, and so are both of two confirmed orders of a pair.
    Of longer cycles as few pairs as possible are set aside (see `edges_to_set_aside`).

    >>> pairs = np.array([[0, 1], [1, 2], [2, 0], [3, 4], [4, 3], [0, 4], [0, 4], [1, 4]])
    >>> settled = settle_labels(5, LabelledPairs(pairs, np.array([1, 1, 1, 1, 1, 1, 0, 0])))
    >>> settled.kept.tolist(), settled.rejected.tolist()
    ([[0, 1], [1, 2]], [[1, 4]])
    >>> settled.contradicted.tolist(), settled.mutual.tolist(), settled.cyclic.tolist()
    ([[0, 4]], [[3, 4], [4, 3]], [[2, 0]])
    """
    _check(n, labelled)
    positive = distinct_pairs(labelled.pairs[labelled.labels == 1])
    negative = distinct_pairs(labelled.pairs[labelled.labels == 0])
    contradicted = positive[_stands_in(positive, negative)]
    rejected = negative[~_stands_in(negative, positive)]
    confirmed = positive[~_stands_in(positive, negative)]
    in_both_orders = _stands_in(confirmed[:, ::-1], confirmed)
    one_way = confirmed[~in_both_orders]
    aside = edges_to_set_aside(n, one_way)
    return SettledLabels(
        kept=one_way[~aside],
        rejected=rejected,
        contradicted=contradicted,
        mutual=confirmed[in_both_orders],
        cyclic=one_way[aside],
    )


def _check(n: int, labelled: LabelledPairs) -> None:
    pairs = labelled.pairs
    for wrong, expected in (
        ((pairs >= n).any(axis=1), f"pairs must hold concept rows from 0 to {n - 1}"),
        (pairs[:, 0] == pairs[:, 1], "a concept is no prerequisite of itself: remove the label"),
    ):
        if wrong.any():
            entry = int(np.argmax(wrong))
            raise ProprlError(f"label {entry} is of {tuple(pairs[entry].tolist())}; {expected}")


def _stands_in(pairs: IntArray, others: IntArray) -> BoolArray:
    return np.isin(pair_codes(pairs), pair_codes(others))


def edges_to_set_aside(n: int, edges: IntArray) -> BoolArray:
    """Return a mask of few edges (distinct, no loops) without which there is no cycle: (m,).

    They are as few as possible where at most `EXACT` concepts lie on common cycles. Which ones
    depends on the edges alone, not on their order.

    >>> edges_to_set_aside(4, np.array([[0, 1], [1, 2], [2, 0], [2, 3]]))
    array([False, False,  True, False])
    """
    graph: rx.PyDiGraph[int, None] = rx.PyDiGraph()
    graph.add_nodes_from(list(range(n)))
    graph.add_edges_from_no_data([(i, j) for i, j in edges.tolist()])
    aside = np.zeros(len(edges), dtype=np.bool_)
    for component in rx.strongly_connected_components(graph):
        if len(component) == 1:
            continue
        rows = np.sort(component)
        inside = np.flatnonzero(np.isin(edges, rows).all(axis=1))
        places = np.searchsorted(rows, edges[inside])  # (edges inside, 2): rows of A
        A = np.zeros((len(rows), len(rows)), dtype=np.bool_)
        A[places[:, 0], places[:, 1]] = True
        back = _fewest_back(A) if len(rows) <= EXACT else _few_back(A)
        aside[inside] = back[places[:, 0], places[:, 1]]
    return aside


def _fewest_back(A: BoolArray) -> BoolArray:
    """Return the fewest edges that point backwards in any order of the concepts (k × k).

    best[S], the fewest within a set S of concepts, is found for ever larger sets: some concept v
    of S comes last, and its edges into the rest of S point backwards.
    """
    k = len(A)
    sets = np.arange(1 << k)  # bit v of a set: whether v is in it
    size = sum((sets >> v & 1 for v in range(k)), start=np.zeros_like(sets))
    targets = A @ (1 << np.arange(k))  # (k,): the set of v's targets
    best, last = np.full(1 << k, k * k), np.zeros_like(sets)
    best[0] = 0
    for count in range(1, k + 1):
        of_this_size = sets[size == count]
        for v in range(k):
            S = of_this_size[of_this_size >> v & 1 == 1]
            rest = S ^ (1 << v)
            fewest = best[rest] + size[rest & targets[v]]
            found = fewest <= best[S]
            best[S[found]], last[S[found]] = fewest[found], v

    order: list[int] = []  # from the last concept to the first
    left = (1 << k) - 1
    while left:
        order.append(int(last[left]))
        left ^= 1 << order[-1]
    return _pointing_back(A, order[::-1])


def _few_back(A: BoolArray) -> BoolArray:
    """Return few edges without which A has no cycle (k × k): after Eades, Lin and Smyth (1993).

    What has no edges out goes to the end, what has none in to the front; else the concept with
    the most edges out beyond those in. Then every edge that closes no cycle any more comes back.
    """
    k = len(A)
    out, into = A.sum(axis=1), A.sum(axis=0)
    left = np.ones(k, dtype=np.bool_)
    head: list[int] = []
    tail: list[int] = []
    for _ in range(k):
        ends, starts = np.flatnonzero(left & (out == 0)), np.flatnonzero(left & (into == 0))
        if ends.size:
            v = int(ends[-1])
            tail.append(v)
        else:
            v = int(starts[0]) if starts.size else int(np.argmax(np.where(left, out - into, -k)))
            head.append(v)
        left[v] = False
        out, into = out - A[:, v], into - A[v]
    back = _pointing_back(A, head + tail[::-1])

    reach = np.eye(k, dtype=np.bool_)
    for i, j in np.argwhere(A & ~back).tolist():
        connect(reach, i, j)
    for i, j in np.argwhere(back).tolist():
        if not reach[j, i]:
            connect(reach, i, j)
            back[i, j] = False
    return back


def _pointing_back(A: BoolArray, order: list[int]) -> BoolArray:
    place = np.empty(len(A), dtype=np.int64)
    place[order] = np.arange(len(A))
    return A & (place[:, None] > place[None, :])
