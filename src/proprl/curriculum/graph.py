"""From scored pairs to an acyclic prerequisite graph that people can follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import rustworkx as rx

from proprl.arrays import FloatArray, IntArray
from proprl.data.lookup import find_concept

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True)
class Edge:
    """One prerequisite: learn `source` before `target`."""

    source: str
    target: str
    probability: float


@dataclass(frozen=True, repr=False)
class PrerequisiteGraph:
    """An acyclic graph of prerequisites, without edges that follow from others."""

    ids: tuple[str, ...]
    names: tuple[str, ...]
    pairs: IntArray  # (m, 2), strongest first
    probabilities: FloatArray  # (m,)
    dropped: int = 0
    """Edges left out because, with stronger ones, they would have closed a cycle."""

    def __repr__(self) -> str:
        return f"PrerequisiteGraph({len(self)} prerequisites among {len(self.ids)} concepts)"

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Edge]:
        for (i, j), p in zip(self.pairs.tolist(), self.probabilities.tolist(), strict=True):
            yield Edge(self.names[i], self.names[j], p)

    def path_to(self, target: str, known: Sequence[str] = ()) -> list[str]:
        """Give the concepts to learn, in order, to reach `target` from what is known.

        Whoever knows a concept is taken to know its prerequisites too.
        """
        goal = find_concept(target, self.ids, self.names)
        graph = self._digraph()
        have: set[int] = set()
        for concept in known:
            row = find_concept(concept, self.ids, self.names)
            have |= {row, *rx.ancestors(graph, row)}
        needed = ({goal} | rx.ancestors(graph, goal)) - have
        order = rx.lexicographical_topological_sort(graph, key=lambda row: f"{row:09d}")
        return [self.names[row] for row in order if row in needed]

    def to_networkx(self) -> nx.DiGraph:
        """Give the graph with ids as nodes; `name` and `probability` are attributes.

        Ids, because two concepts may have one name.
        """
        import networkx as nx

        graph = nx.DiGraph()
        for concept, name in zip(self.ids, self.names, strict=True):
            graph.add_node(concept, name=name)
        for (i, j), p in zip(self.pairs.tolist(), self.probabilities.tolist(), strict=True):
            graph.add_edge(self.ids[i], self.ids[j], probability=p)
        return graph

    def _digraph(self) -> rx.PyDiGraph[int, None]:
        graph: rx.PyDiGraph[int, None] = rx.PyDiGraph()
        graph.add_nodes_from(list(range(len(self.ids))))
        graph.add_edges_from_no_data([(i, j) for i, j in self.pairs.tolist()])
        return graph


def acyclic_graph(
    ids: Sequence[str],
    names: Sequence[str],
    pairs: IntArray,
    probabilities: FloatArray,
    *,
    threshold: float,
) -> PrerequisiteGraph:
    """Keep the believed pairs, strongest first, that close no cycle; then reduce.

    >>> pairs = np.array([[0, 1], [1, 2], [0, 2], [2, 0]])
    >>> graph = acyclic_graph("abc", "ABC", pairs, np.array([.9, .8, .7, .6]), threshold=.5)
    >>> [(edge.source, edge.target) for edge in graph], graph.dropped
    ([('A', 'B'), ('B', 'C')], 1)
    """
    believed = np.flatnonzero(probabilities >= threshold)
    # Equal probabilities are ordered by the pair itself, so that the graph is reproducible.
    order = believed[np.lexsort((pairs[believed, 1], pairs[believed, 0], -probabilities[believed]))]
    graph: rx.PyDiGraph[int, float] = rx.PyDiGraph(check_cycle=True, multigraph=False)
    graph.add_nodes_from(list(range(len(ids))))
    dropped = 0
    for index in order.tolist():
        i, j = pairs[index].tolist()
        try:
            graph.add_edge(i, j, float(probabilities[index]))
        except rx.DAGWouldCycle:
            dropped += 1
    reduced, position = rx.transitive_reduction(graph)
    original = {new: old for old, new in position.items()}
    edges = sorted(
        ((original[a], original[b]) for a, b in reduced.edge_list()),
        key=lambda edge: (-graph.get_edge_data(*edge), edge),
    )
    return PrerequisiteGraph(
        tuple(ids),
        tuple(names),
        np.array(edges, dtype=np.int64).reshape(-1, 2),
        np.array([graph.get_edge_data(*edge) for edge in edges], dtype=np.float64),
        dropped,
    )
