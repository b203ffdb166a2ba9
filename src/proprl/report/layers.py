"""Concepts set in layers, so that every prerequisite points from left to right."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import rustworkx as rx

Link = tuple[int, int]

SWEEPS = 12


@dataclass(frozen=True)
class Layered:
    """Items in layers: concepts 0..n-1, then the bends of edges that pass through a layer."""

    layers: list[list[int]]
    """The items of each layer, top to bottom; the leftmost layer first."""
    routes: list[list[int]]
    """For each edge the items it visits, one in each layer from its source to its target."""

    @property
    def links(self) -> list[Link]:
        """Give the steps of all routes; each joins neighbouring layers."""
        return [link for route in self.routes for link in pairwise(route)]


def set_in_layers(count: int, edges: Sequence[Link]) -> Layered:
    """Set the concepts 0..count-1 of an acyclic graph in layers with few crossings.

    >>> set_in_layers(3, [(0, 1), (1, 2), (0, 2)])
    Layered(layers=[[0], [1, 3], [2]], routes=[[0, 1], [1, 2], [0, 3, 2]])
    """
    depths = depths_of(count, edges)
    layers: list[list[int]] = [[] for _ in range(max(depths, default=-1) + 1)]
    for concept, depth in enumerate(depths):
        layers[depth].append(concept)
    routes = []
    bend = count
    for source, target in edges:
        route = [source]
        for layer in layers[depths[source] + 1 : depths[target]]:
            layer.append(bend)
            route.append(bend)
            bend += 1
        routes.append([*route, target])
    layered = Layered(layers, routes)
    _untangle(layered)
    return layered


def crossings(layers: Sequence[Sequence[int]], links: Sequence[Link]) -> int:
    """Count the pairs of links that cross."""
    place = {item: k for layer in layers for k, item in enumerate(layer)}
    depth = {item: d for d, layer in enumerate(layers) for item in layer}
    passed: list[list[int]] = [[] for _ in layers]  # where the links met so far end, sorted
    total = 0
    for _, end, gap in sorted((place[a], place[b], depth[a]) for a, b in links):
        total += len(passed[gap]) - bisect_right(passed[gap], end)
        insort(passed[gap], end)
    return total


def depths_of(count: int, edges: Sequence[Link]) -> list[int]:
    """Give each concept's layer: as far left as it can stand, unless it is mostly needed later."""
    graph: rx.PyDiGraph[int, None] = rx.PyDiGraph()
    graph.add_nodes_from(list(range(count)))
    graph.add_edges_from_no_data(list(edges))
    order = list(rx.topological_sort(graph))
    before, after = neighbours(count, edges)
    depths = [0] * count
    for concept in order:
        depths[concept] = max((depths[p] + 1 for p in before[concept]), default=0)
    # A concept with more edges to the right than to the left moves towards what needs it:
    # its arrows get shorter, and nothing has to pass by.
    for concept in reversed(order):
        if len(after[concept]) > len(before[concept]):
            depths[concept] = min(depths[t] for t in after[concept]) - 1
    return depths


def neighbours(count: int, links: Sequence[Link]) -> tuple[list[list[int]], list[list[int]]]:
    """Give, for each of `count` items, what links come from and what they lead to."""
    before: list[list[int]] = [[] for _ in range(count)]
    after: list[list[int]] = [[] for _ in range(count)]
    for a, b in links:
        before[b].append(a)
        after[a].append(b)
    return before, after


def _untangle(layered: Layered) -> None:
    """Reorder each layer, in place, by sweeps that put items beside their neighbours."""
    layers, links = layered.layers, layered.links
    before, after = neighbours(sum(map(len, layers)), links)
    best, fewest = [list(layer) for layer in layers], crossings(layers, links)
    for sweep in range(SWEEPS):
        if sweep % 2 == 0:
            for left, layer in pairwise(layers):
                _sort_by_barycentre(layer, left, before)
        else:
            for layer, right in reversed(list(pairwise(layers))):
                _sort_by_barycentre(layer, right, after)
        _swap_neighbours(layers, before, after)
        if (now := crossings(layers, links)) < fewest:
            best, fewest = [list(layer) for layer in layers], now
    layers[:] = best


def _sort_by_barycentre(layer: list[int], fixed: list[int], sides: list[list[int]]) -> None:
    place = {item: (k + 0.5) / len(fixed) for k, item in enumerate(fixed)}
    wanted = {
        item: sum(place[n] for n in sides[item]) / len(sides[item])
        if sides[item]
        else (k + 0.5) / len(layer)
        for k, item in enumerate(layer)
    }
    layer.sort(key=wanted.__getitem__)


def _swap_neighbours(
    layers: list[list[int]], before: list[list[int]], after: list[list[int]]
) -> None:
    """Swap items that stand next to each other wherever that undoes a crossing."""
    place = {item: k for layer in layers for k, item in enumerate(layer)}

    def tangles(upper: int, lower: int) -> int:
        return sum(
            place[u] > place[v]
            for side in (before, after)
            for u in side[upper]
            for v in side[lower]
        )

    for layer in layers:
        for k in range(len(layer) - 1):
            upper, lower = layer[k], layer[k + 1]
            if tangles(lower, upper) < tangles(upper, lower):
                layer[k], layer[k + 1] = lower, upper
                place[upper], place[lower] = k + 1, k
