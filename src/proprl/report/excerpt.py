"""The piece of a map that is drawn: connected, and small enough to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import rustworkx as rx

from proprl.curriculum.graph import Edge
from proprl.report.layers import crossings, depths_of, set_in_layers

MOST_CONCEPTS = 36
LAYERS = 6  # so many stand side by side on a page without small print
ROWS = 9
STARTS = 24
CROSSING = 1.0  # what a crossing costs the eye; an edge is worth 1 or 2

Graph = rx.PyDiGraph[str, Edge]


def excerpt(
    edges: Sequence[Edge], concepts: int = MOST_CONCEPTS, layers: int = LAYERS, rows: int = ROWS
) -> list[Edge]:
    """Give the edges within one connected piece of an acyclic map, in the order given.

    A piece grows from an edge by the concept that has most edges with it, learned ones counting
    twice, while it fits the page: so many layers, so many concepts in each. It is tried from the
    first learned edges, else from the first confirmed ones; the piece with most edges and few
    crossings is kept.
    """
    graph: Graph = rx.PyDiGraph()
    row: dict[str, int] = {}
    for edge in edges:
        for concept in (edge.source_id, edge.target_id):
            if concept not in row:
                row[concept] = graph.add_node(concept)
        graph.add_edge(row[edge.source_id], row[edge.target_id], edge)
    starts = [edge for edge in edges if not edge.confirmed] or edges
    pieces = [
        _grown(graph, [row[edge.source_id], row[edge.target_id]], concepts, layers, rows)
        for edge in starts[:STARTS]
    ]
    if not pieces:
        return []
    best = max((graph.subgraph(piece) for piece in pieces), key=_worth)
    chosen = set(best.nodes())
    return [edge for edge in edges if {edge.source_id, edge.target_id} <= chosen]


def _grown(graph: Graph, piece: list[int], concepts: int, layers: int, rows: int) -> list[int]:
    gain: dict[int, tuple[float, float]] = {}  # value of the edges, and the strongest of them
    met = set(piece)  # taken, or found not to fit

    def look_around(concept: int) -> None:
        for a, b, edge in (*graph.in_edges(concept), *graph.out_edges(concept)):
            beyond = a if b == concept else b
            if beyond not in met:
                value, strongest = gain.get(beyond, (0.0, 0.0))
                gain[beyond] = (value + _value(edge), max(strongest, edge.probability))

    for concept in piece:
        look_around(concept)
    while gain and len(piece) < concepts:
        best = max(gain, key=lambda concept: (gain[concept], -concept))
        del gain[best]
        met.add(best)
        if _fits(graph.subgraph([*piece, best]), layers, rows):
            piece = [*piece, best]
            look_around(best)
    return piece


def _fits(piece: Graph, layers: int, rows: int) -> bool:
    depths = depths_of(len(piece), list(piece.edge_list()))
    return max(depths) < layers and max(Counter(depths).values()) <= rows


def _worth(piece: Graph) -> float:
    layered = set_in_layers(len(piece), list(piece.edge_list()))
    tangles = crossings(layered.layers, layered.links)
    return sum(map(_value, piece.edges())) - CROSSING * tangles


def _value(edge: Edge) -> float:
    return 1.0 if edge.confirmed else 2.0
