"""What follows from edges: which concepts can be reached from which."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import rustworkx as rx

from proprl.arrays import IntArray

BoolArray: TypeAlias = npt.NDArray[np.bool_]
"""A mask, or a matrix whose row i, column j says whether something leads from i to j."""


def what_follows(n: int, edges: IntArray) -> BoolArray:
    """Return which ordered pairs (i, j) follow: some way of edges leads from i to j (n × n).

    An edge follows from itself. The diagonal is False, even where a cycle leads back.

    >>> what_follows(3, np.array([[0, 1], [1, 2]])).astype(int)
    array([[0, 1, 1],
           [0, 0, 1],
           [0, 0, 0]])
    """
    reach: BoolArray = np.eye(n, dtype=np.bool_)
    for i, j in edges.tolist():
        connect(reach, i, j)
    np.fill_diagonal(reach, False)
    return reach


def connect(reach: BoolArray, i: int, j: int) -> None:
    """Add the edge from i to j, and all that follows with it, to `reach`, in place.

    The diagonal of `reach` must be True: everything reaches itself.
    """
    if reach[i, j]:
        return
    before = np.flatnonzero(reach[:, i] & ~reach[:, j])  # the others reach all of it already
    reach[np.ix_(before, np.flatnonzero(reach[j]))] = True


def closure_and_steps(n: int, edges: IntArray) -> tuple[BoolArray, BoolArray]:
    """Return what follows from acyclic edges (n × n), and which edges do not follow from others.

    >>> reach, steps = closure_and_steps(3, np.array([[0, 1], [1, 2], [0, 2]]))
    >>> reach.astype(int).tolist(), steps.tolist()
    ([[0, 1, 1], [0, 0, 1], [0, 0, 0]], [True, True, False])
    """
    graph: rx.PyDiGraph[int, None] = rx.PyDiGraph()
    graph.add_nodes_from(list(range(n)))
    graph.add_edges_from_no_data([(i, j) for i, j in edges.tolist()])
    place = np.empty(n, dtype=np.int64)
    place[rx.topological_sort(graph)] = np.arange(n)
    reach: BoolArray = np.zeros((n, n), dtype=np.bool_)
    steps = np.zeros(len(edges), dtype=np.bool_)
    # From the last concept to the first; of one concept's edges those to the nearest ones first.
    for k in np.lexsort((place[edges[:, 1]], -place[edges[:, 0]])).tolist():
        i, j = edges[k].tolist()
        if not reach[i, j]:
            steps[k] = True
            reach[i] |= reach[j]
            reach[i, j] = True
    return reach, steps
