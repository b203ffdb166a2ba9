"""Pictures for print: one style for all of them, saved as PNG and SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from proprl.errors import MissingExtraError
from proprl.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The width of one and of two columns of a printed page, in inches.
COLUMN, PAGE = 3.4, 7.0
# People who see no red or green can tell these apart (Okabe and Ito, 2008). In black and white,
# line styles and markers differ.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
MARKERS = ("o", "s", "^", "D", "v")
LINE_STYLES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))

STYLE_FILE = Path(__file__).with_name("print.mplstyle")


def new_figure(width: float, height: float, *, columns: int = 1, rows: int = 1) -> Figure:
    """Give an empty figure of that size in inches, with one axis for each panel."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("drawing figures", "plots") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.subplots(rows, columns, squeeze=False)
    return figure


def draw_curve(axis: Axes, index: int, label: str, points: Iterable[Sequence[float]]) -> None:
    """Draw a curve through points (x, y); other indexes look different, in colour or without."""
    axis.plot(
        *zip(*points, strict=True),
        color=COLOURS[index % len(COLOURS)],
        # One step further after each round, so that the sixth curve does not look like the first.
        linestyle=LINE_STYLES[(index + index // len(COLOURS)) % len(LINE_STYLES)],
        marker=MARKERS[index % len(MARKERS)],
        label=label,
    )


def draw_legend(figure: Figure, *, columns: int | None = None, panel: int = 0) -> None:
    """Draw one legend above all panels, of the curves of one panel; none where it has no curve."""
    handles, labels = figure.axes[panel].get_legend_handles_labels()
    if labels:
        columns = columns or len(labels)
        figure.legend(handles, labels, loc="outside upper center", ncols=columns)


def save_figure(draw: Callable[[], Figure], stem: Path) -> None:
    """Draw a figure and write it as PNG and SVG, whole or not at all."""
    try:
        from matplotlib import rc_context
    except ImportError:
        raise MissingExtraError("drawing figures", "plots") from None
    pictures = {}
    with rc_context(fname=STYLE_FILE):
        figure = draw()
        for ending in ("png", "svg"):
            buffer = BytesIO()
            # Without a date the same results give the same file.
            metadata = {"Date": None} if ending == "svg" else {}
            figure.savefig(buffer, format=ending, dpi=300, metadata=metadata)
            pictures[ending] = buffer.getvalue()
    for ending, picture in pictures.items():
        write_bytes(stem.with_name(f"{stem.name}.{ending}"), picture)
