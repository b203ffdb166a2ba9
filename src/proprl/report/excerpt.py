"""The piece of a map that is drawn: connected, and small enough to read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import rustworkx as rx

from proprl.curriculum import Edge
from proprl.report.layers import crossings, set_in_layers

CONCEPTS = 36
LAYERS = 6  # so many stand side by side on a page without small print
STARTS = 24
CROSSING = 1.0  # what a crossing costs the eye; an edge is worth 1 or 2

Graph = rx.PyDiGraph[str, Edge]


def excerpt(edges: Sequence[Edge], concepts: int = CONCEPTS, layers: int = LAYERS) -> list[Edge]:
    """Give the edges within one connected piece of an acyclic map, in the order given.

    A piece grows from an edge by the concept that has most edges with it, learned ones counting
    twice, while no way through it is longer than the layers. It is tried from the first learned
    edges, else from the first confirmed ones; the piece with most edges and few crossings is kept.
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
        _grown(graph, {row[edge.source_id], row[edge.target_id]}, concepts, layers)
        for edge in islice(starts, STARTS)
    ]
    if not pieces:
        return []
    best = max((graph.subgraph(sorted(piece)) for piece in pieces), key=_worth)
    chosen = set(best.nodes())
    return [edge for edge in edges if {edge.source_id, edge.target_id} <= chosen]


def _grown(graph: Graph, piece: set[int], concepts: int, layers: int) -> set[int]:
    while len(piece) < concepts:
        gain: dict[int, tuple[float, float]] = {}  # value of the edges, and the strongest of them
        for inside in piece:
            for a, b, edge in (*graph.in_edges(inside), *graph.out_edges(inside)):
                outside = a if b == inside else b
                if outside not in piece:
                    value, strongest = gain.get(outside, (0.0, 0.0))
                    strongest = max(strongest, edge.probability)
                    gain[outside] = (value + _value(edge), strongest)
        for concept in sorted(gain, key=lambda c: (gain[c], -c), reverse=True):
            if rx.dag_longest_path_length(graph.subgraph([*piece, concept])) < layers:
                piece = piece | {concept}
                break
        else:
            break
    return piece


def _worth(piece: Graph) -> float:
    layered = set_in_layers(len(piece), list(piece.edge_list()))
    tangles = crossings(layered.layers, layered.links)
    return sum(map(_value, piece.edges())) - CROSSING * tangles


def _value(edge: Edge) -> float:
    return 1.0 if edge.confirmed else 2.0
