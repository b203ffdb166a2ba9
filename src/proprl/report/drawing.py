"""The layout as shapes: what the template writes into the SVG of the prerequisites."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor

from proprl.curriculum.graph import Edge
from proprl.report.layout import Box, Layout, Point, lay_out
from proprl.report.lettering import FONT_SIZE, LINE_HEIGHT

ARROW_LENGTH = 9.0
ARROW_HALF = 4.0
SMALLEST_FONT = 11.0
LEVELS = 4


@dataclass(frozen=True)
class Arrow:
    """An edge to draw: its line, its head, and how it looks.

    The level is 0 for a confirmed edge; for a learned one it grows with the probability, from 1
    to `LEVELS`.
    """

    edge: Edge
    line: str
    head: str
    level: int


@dataclass(frozen=True)
class Label:
    """A concept to draw: its box, and each line of its name with the line's height."""

    box: Box
    lines: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Drawing:
    """Everything the template needs; learned arrows come last, so that they lie on top."""

    layout: Layout
    arrows: tuple[Arrow, ...]
    labels: tuple[Label, ...]
    legend: tuple[tuple[int, str], ...]
    """Level and range of probabilities of the learned edges in words, the strongest first."""
    confirmed: int
    """How many of the edges are confirmed."""
    narrowest: float
    """The width down to which the drawing may shrink without small print."""


def draw(edges: Sequence[Edge]) -> Drawing:
    """Draw the edges of an acyclic graph from left (learn first) to right (learn later)."""
    layout = lay_out(edges)
    bounds = _bounds([edge.probability for edge in edges if not edge.confirmed])
    arrows = [
        Arrow(
            route.edge,
            _line(route.points),
            _head(route.points[-1]),
            0 if route.edge.confirmed else _level(route.edge.probability, bounds),
        )
        for route in layout.routes
    ]
    return Drawing(
        layout,
        arrows=tuple(sorted(arrows, key=lambda arrow: arrow.level)),
        labels=tuple(map(_label, layout.boxes)),
        legend=_legend(bounds),
        confirmed=sum(edge.confirmed for edge in edges),
        narrowest=layout.width * SMALLEST_FONT / FONT_SIZE,
    )


def shown_probability(probability: float) -> str:
    """Give a probability with two digits; what is not certain never reads 1.00 or 0.00.

    >>> shown_probability(0.974), shown_probability(0.9991), shown_probability(1.0)
    ('0.97', '>0.99', '1.00')
    """
    if 0.995 <= probability < 1:
        return ">0.99"
    if 0 < probability < 0.005:
        return "<0.01"
    return f"{probability:.2f}"


def _bounds(probabilities: Sequence[float]) -> list[int]:
    """Cut the range that occurs into up to `LEVELS` equal parts, in whole hundredths.

    Where all are near each other a scale from 0 to 1 would paint them alike.
    """
    if not probabilities:
        return []
    lowest, highest = floor(_hundredths(min(probabilities))), ceil(_hundredths(max(probabilities)))
    parts = max(1, min(LEVELS, highest - lowest))
    return [lowest + round(k * (highest - lowest) / parts) for k in range(parts + 1)]


def _hundredths(probability: float) -> float:
    return round(probability * 100, 9)  # 0.55 * 100 is a little more than 55


def _level(probability: float, bounds: Sequence[int]) -> int:
    parts = len(bounds) - 1
    part = bisect_right(bounds[1:-1], _hundredths(probability))
    return LEVELS - parts + part + 1


def _legend(bounds: Sequence[int]) -> tuple[tuple[int, str], ...]:
    ranges = list(pairwise(bounds))
    return tuple(
        (LEVELS - k, f"{low / 100:.2f}" if low == high else f"{low / 100:.2f} to {high / 100:.2f}")
        for k, (low, high) in enumerate(reversed(ranges))
    )


def _line(points: Sequence[Point]) -> str:
    """Write the path: curves that leave and arrive level, so that arrow heads lie flat."""
    *way, (tip_x, tip_y) = points
    stops = [*way, (tip_x - ARROW_LENGTH + 1, tip_y)]
    path = [f"M{px(stops[0][0])} {px(stops[0][1])}"]
    for k, ((x0, y0), (x1, y1)) in enumerate(pairwise(stops)):
        if k % 2 == 1:
            path.append(f"H{px(x1)}")
            continue
        middle = (x0 + x1) / 2
        path.append(f"C{px(middle)} {px(y0)} {px(middle)} {px(y1)} {px(x1)} {px(y1)}")
    return "".join(path)


def _head(tip: Point) -> str:
    x, y = tip
    back = px(x - ARROW_LENGTH)
    return f"M{px(x)} {px(y)}L{back} {px(y - ARROW_HALF)}V{px(y + ARROW_HALF)}Z"


def _label(box: Box) -> Label:
    middle = box.y + box.height / 2
    first = middle - (len(box.lines) - 1) * LINE_HEIGHT / 2 + FONT_SIZE * 0.35
    return Label(box, tuple((line, first + k * LINE_HEIGHT) for k, line in enumerate(box.lines)))


def px(length: float) -> str:
    """Write a length with at most one digit after the point.

    >>> px(12.0), px(3.14159), px(-0.01)
    ('12', '3.1', '0')
    """
    return f"{round(length, 1) + 0.0:.1f}".removesuffix(".0")
