"""Where every concept and every arrow of the drawing stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean

import rustworkx as rx

from proprl.curriculum import Edge
from proprl.report.layers import Layered, crossings, neighbours, set_in_layers
from proprl.report.lettering import LINE_HEIGHT, text_width, wrap

PAGE_WIDTH = 1152.0  # what a window of 1200 pixels leaves: six layers
BOX_WIDTH = 140.0
WIDEST_BOX = 230.0
ROW_GAP = 13.0
BEND_HEIGHT = 6.0
TEXT_MARGIN = 10.0
PORT_GAP = 9.0
ISLAND_SIDE = 20.0
ISLAND_MARGIN = 12.0  # above and below
ISLAND_GAP = 14.0
LAYER_GAP = 2 * ISLAND_SIDE + ISLAND_GAP  # so that the layers of neighbouring islands line up
TANGLED = 6  # crossings
SETTLING = 10

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A concept: its name in lines, and its rectangle."""

    name: str
    lines: tuple[str, ...]
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Route:
    """An edge's way: an S-curve through each gap, a straight line past each layer between."""

    edge: Edge
    points: tuple[Point, ...]
    """Start and end of each curve, in turn; the last one is the tip of the arrow."""


@dataclass(frozen=True)
class Island:
    """Concepts that hang together, and the rectangle around them."""

    boxes: tuple[Box, ...]
    routes: tuple[Route, ...]
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Layout:
    """The whole drawing; coordinates are pixels from the upper left corner."""

    islands: tuple[Island, ...]
    left_out: tuple[Edge, ...]
    """Edges that would point backwards; they occur only where concepts share a name."""
    width: float
    height: float


def lay_out(edges: Sequence[Edge]) -> Layout:
    """Place the concepts of an acyclic graph: what is learned first stands left.

    Concepts that nothing connects form islands, the largest on top.
    """
    names = list(dict.fromkeys(name for edge in edges for name in (edge.source, edge.target)))
    row = {name: k for k, name in enumerate(names)}
    graph: rx.PyDiGraph[str, None] = rx.PyDiGraph(check_cycle=True)
    graph.add_nodes_from(names)
    drawn, left_out = [], []
    for edge in edges:
        try:
            if edge.source == edge.target:
                raise rx.DAGWouldCycle
            graph.add_edge(row[edge.source], row[edge.target], None)
            drawn.append(edge)
        except rx.DAGWouldCycle:
            left_out.append(edge)
    box_width = _box_width(names)
    islands = []
    for members in rx.weakly_connected_components(graph):
        inside = [names[k] for k in sorted(members)]
        islands.append(_island(inside, [e for e in drawn if row[e.source] in members], box_width))
    # Equal sizes keep the order of their strongest edges.
    islands.sort(key=lambda i: (-len(i.boxes), row[i.boxes[0].name]))
    islands = _pack(islands)
    return Layout(
        tuple(islands),
        tuple(left_out),
        width=max((i.x + i.width for i in islands), default=0.0),
        height=max((i.y + i.height for i in islands), default=0.0),
    )


def _box_width(names: Sequence[str]) -> float:
    """Give one width for all boxes, so that layers line up: the longest word fits."""
    longest = max((text_width(word) for name in names for word in name.split()), default=0.0)
    return min(max(BOX_WIDTH, longest + 2 * TEXT_MARGIN), WIDEST_BOX)


def _island(names: Sequence[str], edges: Sequence[Edge], box_width: float) -> Island:
    row = {name: k for k, name in enumerate(names)}
    pairs = [(row[edge.source], row[edge.target]) for edge in edges]
    layered = set_in_layers(len(names), pairs)
    lines = [wrap(name, box_width - 2 * TEXT_MARGIN) for name in names]
    before, after = neighbours(len(names), pairs)
    heights = [
        max(len(lines[k]) * LINE_HEIGHT, max(len(before[k]), len(after[k])) * PORT_GAP) + 14
        for k in range(len(names))
    ]
    heights += [BEND_HEIGHT] * (sum(map(len, layered.layers)) - len(names))
    centres = _settle(layered, heights)
    top = min(c - h / 2 for c, h in zip(centres, heights, strict=True)) - ISLAND_MARGIN
    centres = [centre - top for centre in centres]
    pitch = _pitch(layered, box_width)
    left = {
        item: ISLAND_SIDE + depth * pitch
        for depth, layer in enumerate(layered.layers)
        for item in layer
    }
    boxes = [
        Box(name, lines[k], left[k], centres[k] - heights[k] / 2, box_width, heights[k])
        for k, name in enumerate(names)
    ]
    return Island(
        tuple(boxes),
        tuple(_routes(edges, layered, left, centres, box_width)),
        x=0.0,
        y=0.0,
        width=(len(layered.layers) - 1) * pitch + box_width + 2 * ISLAND_SIDE,
        height=max(c + h / 2 for c, h in zip(centres, heights, strict=True)) + ISLAND_MARGIN,
    )


def _pitch(layered: Layered, box_width: float) -> float:
    """Give the distance from layer to layer: twice the usual where arrows are tangled."""
    pitch = box_width + LAYER_GAP
    twice = 2 * (len(layered.layers) - 1) * pitch + box_width + 2 * ISLAND_SIDE
    tangled = crossings(layered.layers, layered.links) > TANGLED
    return 2 * pitch if tangled and twice <= PAGE_WIDTH else pitch


def _settle(layered: Layered, heights: Sequence[float]) -> list[float]:
    """Give each item's vertical centre: near its neighbours', and clear of its layer's others."""
    before, after = neighbours(len(heights), layered.links)
    centres = [0.0] * len(heights)
    for turn in range(SETTLING):
        last = turn == SETTLING - 1
        side, layers = (before, layered.layers) if turn % 2 == 0 else (after, layered.layers[::-1])
        for layer in layers:
            wanted = []
            for item in layer:
                near = before[item] + after[item] if last else side[item]
                wanted.append(fmean(centres[n] for n in near) if near else centres[item])
            settled = _spread(wanted, [heights[item] for item in layer])
            for item, centre in zip(layer, settled, strict=True):
                centres[item] = centre
    return centres


def _spread(wanted: Sequence[float], heights: Sequence[float]) -> list[float]:
    """Give the centres nearest to the wanted ones (least squares) that keep order and distance.

    >>> _spread([0.0, 0.0], [20.0, 20.0])
    [-16.5, 16.5]
    """
    offsets = [0.0]
    for upper, lower in pairwise(heights):
        offsets.append(offsets[-1] + (upper + lower) / 2 + ROW_GAP)
    # Without the offsets it is isotonic regression: pool neighbours that stand in the wrong order.
    pools: list[list[float]] = []
    for value, offset in zip(wanted, offsets, strict=True):
        pools.append([value - offset])
        while len(pools) > 1 and fmean(pools[-2]) > fmean(pools[-1]):
            lower_pool = pools.pop()
            pools[-1] += lower_pool
    shifts = [shift for pool in pools for shift in [fmean(pool)] * len(pool)]
    return [shift + offset for shift, offset in zip(shifts, offsets, strict=True)]


def _routes(
    edges: Sequence[Edge],
    layered: Layered,
    left: dict[int, float],
    centres: Sequence[float],
    box_width: float,
) -> list[Route]:
    ways = layered.routes
    leaving = _ports([way[0] for way in ways], [centres[way[1]] for way in ways])
    coming = _ports([way[-1] for way in ways], [centres[way[-2]] for way in ways])
    routes = []
    for edge, items, out, into in zip(edges, ways, leaving, coming, strict=True):
        source, *bends, target = items
        points = [(left[source] + box_width, centres[source] + out)]
        for bend in bends:
            points += [(left[bend], centres[bend]), (left[bend] + box_width, centres[bend])]
        points.append((left[target], centres[target] + into))
        routes.append(Route(edge, tuple(points)))
    return routes


def _ports(concepts: Sequence[int], towards: Sequence[float]) -> list[float]:
    """Give each edge its own place on the side of its concept's box, in the order of heights."""
    ports = [0.0] * len(concepts)
    for concept in set(concepts):
        mine = [k for k, other in enumerate(concepts) if other == concept]
        mine.sort(key=lambda k: (towards[k], k))
        for place, k in enumerate(mine):
            ports[k] = (place - (len(mine) - 1) / 2) * PORT_GAP
    return ports


def _pack(islands: Sequence[Island]) -> list[Island]:
    """Set islands side by side where the page is wide enough, else below one another."""
    page = max([PAGE_WIDTH, *(island.width for island in islands)])
    placed: list[Island] = []
    for island in islands:
        spots = []
        for x in (0.0, *(other.x + other.width + ISLAND_GAP for other in placed)):
            if x + island.width <= page:
                above = [
                    other.y + other.height + ISLAND_GAP
                    for other in placed
                    if other.x < x + island.width + ISLAND_GAP
                    and x < other.x + other.width + ISLAND_GAP
                ]
                spots.append((max(above, default=0.0), x))
        y, x = min(spots)
        placed.append(_moved(island, x, y))
    return placed


def _moved(island: Island, dx: float, dy: float) -> Island:
    return replace(
        island,
        x=island.x + dx,
        y=island.y + dy,
        boxes=tuple(replace(box, x=box.x + dx, y=box.y + dy) for box in island.boxes),
        routes=tuple(
            replace(route, points=tuple((x + dx, y + dy) for x, y in route.points))
            for route in island.routes
        ),
    )
