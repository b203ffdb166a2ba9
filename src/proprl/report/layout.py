"""Where every concept and every arrow of the drawing stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from proprl.curriculum.graph import Edge
from proprl.report.layers import Layered, crossings, neighbours, set_in_layers
from proprl.report.lettering import LINE_HEIGHT, text_width, wrap

PAGE_WIDTH = 1152.0  # what a window of 1200 pixels leaves
BOX_WIDTH = 140.0
WIDEST_BOX = 230.0
ROW_GAP = 13.0
BEND_HEIGHT = 6.0
TEXT_MARGIN = 10.0
PORT_GAP = 9.0
SIDE = 20.0
LAYER_GAP = 54.0
TANGLED = 6  # crossings
SETTLING = 10

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A concept: its name in lines, and its rectangle."""

    id: str
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
class Layout:
    """The whole drawing; coordinates are pixels from the upper left corner."""

    boxes: tuple[Box, ...]
    routes: tuple[Route, ...]
    width: float
    height: float


def lay_out(edges: Sequence[Edge]) -> Layout:
    """Place the concepts of an acyclic graph: what is learned first stands left."""
    names = {i: name for e in edges for i, name in ends(e)}
    row = {concept: k for k, concept in enumerate(names)}
    pairs = [(row[edge.source_id], row[edge.target_id]) for edge in edges]
    layered = set_in_layers(len(names), pairs)
    box_width = _box_width(list(names.values()))
    lines = [wrap(name, box_width - 2 * TEXT_MARGIN) for name in names.values()]
    before, after = neighbours(len(names), pairs)
    heights = [
        max(len(lines[k]) * LINE_HEIGHT, max(len(before[k]), len(after[k])) * PORT_GAP) + 14
        for k in range(len(names))
    ]
    heights += [BEND_HEIGHT] * (sum(map(len, layered.layers)) - len(names))
    centres = _settle(layered, heights)
    top = min((c - h / 2 for c, h in zip(centres, heights, strict=True)), default=0.0) - SIDE
    centres = [centre - top for centre in centres]
    pitch = _pitch(layered, box_width)
    left = {
        item: SIDE + depth * pitch for depth, layer in enumerate(layered.layers) for item in layer
    }
    boxes = [
        Box(concept, name, lines[k], left[k], centres[k] - heights[k] / 2, box_width, heights[k])
        for k, (concept, name) in enumerate(names.items())
    ]
    return Layout(
        tuple(boxes),
        tuple(_routes(edges, layered, left, centres, box_width)),
        width=max((box.x + box_width + SIDE for box in boxes), default=0.0),
        height=max((c + h / 2 for c, h in zip(centres, heights, strict=True)), default=0.0) + SIDE,
    )


def ends(edge: Edge) -> tuple[tuple[str, str], tuple[str, str]]:
    """Give id and name of both concepts."""
    return (edge.source_id, edge.source), (edge.target_id, edge.target)


def _box_width(names: Sequence[str]) -> float:
    """Give one width for all boxes, so that layers line up: the longest word fits."""
    longest = max((text_width(word) for name in names for word in name.split()), default=0.0)
    return min(max(BOX_WIDTH, longest + 2 * TEXT_MARGIN), WIDEST_BOX)


def _pitch(layered: Layered, box_width: float) -> float:
    """Give the distance from layer to layer: twice the usual where arrows are tangled."""
    pitch = box_width + LAYER_GAP
    twice = 2 * (len(layered.layers) - 1) * pitch + box_width + 2 * SIDE
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
