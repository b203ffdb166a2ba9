"""The report as one self-contained HTML page. What it says was decided elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from jinja2 import Environment, PackageLoader, StrictUndefined

from proprl.curriculum import Edge
from proprl.evaluation.metrics import Bin
from proprl.report import curve, reliability
from proprl.report.drawing import draw, px, shown_probability
from proprl.report.excerpt import excerpt
from proprl.report.layout import PAGE_WIDTH

LISTED = 500
"""So many prerequisites are written out; more would make the page slow."""

_ABBREVIATIONS = {"auc": "AUC", "f1": "F1"}
_NO_QUALITY = frozenset({"threshold", "base_rate"})  # a longer bar would not be better


@dataclass(frozen=True)
class Map:
    """The prerequisites that the model draws up, beside what follows from the labels alone."""

    edges: Sequence[Edge]
    """All of them; what is learned and what is confirmed, each by falling probability."""
    beside: Sequence[tuple[str, int, int]]
    """What is counted, without the model and in the map."""
    remarks: Sequence[str]
    """What is left out and why, in sentences."""
    doubtful: Sequence[tuple[str, str, str]]
    """Labels to look at again: first concept, second concept, what is wrong."""


@dataclass(frozen=True)
class EdgeList:
    """A few pairs, and what is to be said of them."""

    edges: Sequence[Edge]
    words: str


@dataclass(frozen=True)
class ReportData:
    """What the report shows of one model."""

    title: str
    facts: Sequence[tuple[str, str]]
    """Name and value, such as ("concepts", "158")."""
    metrics: Sequence[tuple[str, float | int | None, str]]
    """Name, value, and what it means in plain words."""
    epochs: Sequence[tuple[float, float | None]]
    """Training loss and validation AUC of each epoch."""
    best_epoch: int
    """Index into `epochs` of the one that was kept."""
    expected: Sequence[str]
    """How many prerequisites there are, and how sure that is, in sentences."""
    map: Map | None
    """None where nothing says from which probability on a prerequisite is drawn."""
    sure: EdgeList
    ask: EdgeList
    measured: Sequence[str] = ()
    """How the metrics came to be, and which pairs they hold for, in sentences."""
    reliability: Sequence[Bin] = ()
    """What was said of labelled pairs, and what came true."""
    notes: Sequence[str] = ()
    """Warnings, in sentences."""


@dataclass(frozen=True)
class _MetricRow:
    name: str
    shown: str
    bar: float | None
    """Per cent, for a quality from 0 to 1; counts and thresholds have no bar."""
    meaning: str


def render_report(data: ReportData) -> str:
    """Give the report as HTML that needs no other file; the same data give the same text."""
    environment = Environment(
        loader=PackageLoader("proprl.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["px"] = px
    environment.filters["probability"] = shown_probability
    return environment.get_template("page.html.j2").render(
        data=data,
        metrics=[_metric_row(*metric) for metric in data.metrics],
        drawing=draw(excerpt(data.map.edges)) if data.map and data.map.edges else None,
        listed=LISTED,
        reliability=reliability.reliability_plot(data.reliability),
        square=reliability,
        panels=curve.panels(data.epochs, data.best_epoch),
        frame=curve,
        page_width=PAGE_WIDTH,
    )


def _metric_row(name: str, value: float | int | None, meaning: str) -> _MetricRow:
    words = _ABBREVIATIONS.get(name, name.replace("_", " "))
    words = words[:1].upper() + words[1:]
    if value is None or not isfinite(value):
        return _MetricRow(words, "–", None, meaning)
    if isinstance(value, int):
        return _MetricRow(words, f"{value:,}", None, meaning)
    bar = 100 * value if 0 <= value <= 1 and name not in _NO_QUALITY else None
    return _MetricRow(words, f"{value:.3f}", bar, meaning)
