"""The reliability plot as shapes: what the model says against what comes true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from proprl.evaluation.metrics import Bin
from proprl.report.curve import Tick
from proprl.report.drawing import px

WIDTH, HEIGHT = 380.0, 360.0
LEFT, RIGHT, TOP, BOTTOM = 54.0, 16.0, 12.0, 48.0
# A dot's area grows with its pairs, between these radii.
SMALLEST, LARGEST = 3.0, 11.0


@dataclass(frozen=True)
class Dot:
    """A bin: where it lies, how large it is drawn, and what it says in words."""

    x: float
    y: float
    radius: float
    text: str


@dataclass(frozen=True)
class ReliabilityPlot:
    """Bins against the diagonal, on which every probability means what it says."""

    description: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    diagonal: str
    dots: tuple[Dot, ...]


def reliability_plot(bins: Sequence[Bin]) -> ReliabilityPlot | None:
    """Give the plot; None where nothing was scored."""
    if not bins:
        return None
    most = max(one.pairs for one in bins)
    dots = tuple(
        Dot(
            _x(one.said),
            _y(one.came_true),
            radius=SMALLEST + (LARGEST - SMALLEST) * sqrt(one.pairs / most),
            text=_words(one),
        )
        for one in bins
    )
    marks = [k / 5 for k in range(6)]
    return ReliabilityPlot(
        description="; ".join(dot.text for dot in dots) + ".",
        x_ticks=tuple(Tick(_x(mark), f"{mark:.1f}") for mark in marks),
        y_ticks=tuple(Tick(_y(mark), f"{mark:.1f}") for mark in marks),
        diagonal=f"M{px(_x(0))} {px(_y(0))}L{px(_x(1))} {px(_y(1))}",
        dots=dots,
    )


def _words(one: Bin) -> str:
    pairs = "1 pair" if one.pairs == 1 else f"{one.pairs:,} pairs"
    return f"{pairs} given {one.said:.2f} on average: {one.came_true:.2f} came true"


def _x(probability: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * probability


def _y(share: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share)
