"""The learning curve as shapes: one panel for the loss, one for the AUC on validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, isfinite, log10

from proprl.report.drawing import px

WIDTH, HEIGHT = 540.0, 236.0
LEFT, RIGHT, TOP, BOTTOM = 54.0, 18.0, 16.0, 44.0
TICKS = 5


@dataclass(frozen=True)
class Tick:
    """A number beside an axis, and where it stands."""

    at: float
    text: str


@dataclass(frozen=True)
class Mark:
    """The epoch that was kept: its point, and a label on the side that has room."""

    x: float
    y: float
    text: str
    text_x: float
    text_y: float
    anchor: str


@dataclass(frozen=True)
class Panel:
    """One quantity over the epochs."""

    key: str
    title: str
    description: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    lines: tuple[str, ...]
    """Points of each unbroken stretch; a missing value breaks the line."""
    dots: tuple[tuple[float, float], ...]
    """Values whose neighbours are missing."""
    mark: Mark | None


def panels(epochs: Sequence[tuple[float, float | None]], best_epoch: int) -> list[Panel]:
    """Give a panel for the loss and one for the AUC; one without any value is left out."""
    losses = [_known(loss) for loss, _ in epochs]
    aucs = [_known(auc) for _, auc in epochs]
    drawn = [
        _panel("loss", "Training loss", losses, best_epoch, highest=inf),
        _panel("auc", "AUC on validation pairs", aucs, best_epoch, highest=1.0),
    ]
    return [panel for panel in drawn if panel is not None]


def _known(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def _panel(
    key: str, title: str, values: Sequence[float | None], best_epoch: int, highest: float
) -> Panel | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    scale = _ticks(min(known), max(known), highest)
    low, high = scale[0], scale[-1]
    last = max(len(values) - 1, 1)

    def x_of(epoch: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * epoch / last

    def y_of(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low)

    stretches = [[(x_of(e), y_of(v)) for e, v in part] for part in _stretches(values)]
    digits = max(0, -floor(log10(scale[1] - scale[0]) + 1e-9))
    digits += round((scale[1] - scale[0]) * 10**digits, 6) % 1 > 0  # a step of 0.25 needs two
    kept = values[best_epoch] if 0 <= best_epoch < len(values) else None
    return Panel(
        key,
        title,
        description=f"{title} over {len(values)} epochs, from {_first_to_last(known)}.",
        x_ticks=tuple(Tick(x_of(e), str(e + 1)) for e in _epoch_ticks(len(values))),
        y_ticks=tuple(Tick(y_of(v), f"{v:.{digits}f}") for v in scale),
        lines=tuple(
            " ".join(f"{px(x)},{px(y)}" for x, y in part) for part in stretches if len(part) > 1
        ),
        dots=tuple(part[0] for part in stretches if len(part) == 1),
        mark=None if kept is None else _mark(best_epoch, kept, x_of(best_epoch), y_of(kept)),
    )


def _first_to_last(known: Sequence[float]) -> str:
    return f"{known[0]:.3f} to {known[-1]:.3f}; lowest {min(known):.3f}, highest {max(known):.3f}"


def _mark(epoch: int, value: float, x: float, y: float) -> Mark:
    on_right = x < WIDTH * 0.6
    below = y < (TOP + HEIGHT - BOTTOM) / 2  # where the curve is not
    return Mark(
        x,
        y,
        text=f"epoch {epoch + 1} kept: {value:.3f}",
        text_x=x + 8 if on_right else x - 8,
        text_y=HEIGHT - BOTTOM - 10 if below else TOP + 12,
        anchor="start" if on_right else "end",
    )


def _stretches(values: Sequence[float | None]) -> Iterator[list[tuple[int, float]]]:
    stretch: list[tuple[int, float]] = []
    for epoch, value in enumerate(values):
        if value is not None:
            stretch.append((epoch, value))
        elif stretch:
            yield stretch
            stretch = []
    if stretch:
        yield stretch


def _ticks(low: float, high: float, highest: float) -> list[float]:
    """Give round numbers, at even steps, from below `low` to above `high`.

    >>> _ticks(0.52, 0.93, highest=1.0)
    [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    """
    if high - low < 1e-6 * max(abs(high), 1):
        around = max(abs(high) * 0.1, 0.05)
        low, high = low - around, min(high + around, highest)
    rough = (high - low) / TICKS
    unit = 10.0 ** floor(log10(rough))
    step = next(m * unit for m in (1, 2, 2.5, 5, 10) if m * unit >= rough * 0.999)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


def _epoch_ticks(count: int) -> list[int]:
    """Give the epochs, counted from 0, whose number stands below the axis: 1, then round ones."""
    if count <= 10:
        return list(range(count))
    rough = count / 8
    unit = 10 ** floor(log10(rough))
    step = next(m * unit for m in (1, 2, 5, 10) if m * unit >= rough)
    return [0, *range(step - 1, count, step)]
