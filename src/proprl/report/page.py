"""The report: what it shows of a model, as one HTML page that needs no other file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from proprl.curriculum.graph import Edge, PrerequisiteGraph, labels_alone_of
from proprl.curriculum.questions import Question, worth_asking
from proprl.curriculum.structure import topics_of
from proprl.curriculum.summary import (
    SURE,
    expected_words,
    kinds_missing,
    kinds_used,
    label_words,
    learned_words,
    map_counts,
    names_apart,
    sure_of,
    told_apart,
)
from proprl.evaluation.metrics import MEANING
from proprl.fitted import Fitted
from proprl.judging import Judged
from proprl.report.map_picture import map_svg

AT_FIRST = 10
"""So many edges are listed that the model is sure of."""
LISTED = 500
"""So many prerequisites are written out; more would make the page slow."""
ABBREVIATIONS = {"auc": "AUC", "f1": "F1"}
NO_QUALITY = frozenset({"threshold", "base_rate"})  # a longer bar would not be better


def report_data(fitted: Fitted, graph: PrerequisiteGraph | None, judged: Judged) -> dict[str, Any]:
    """Gather what the report shows of a model; without a graph it draws no map."""
    no_views = [
        f"The course has no {view}; the model does without." for view in kinds_missing(fitted)
    ]
    return {
        "title": fitted.course_name,
        "facts": [
            ("concepts", f"{len(fitted.concept_ids):,}"),
            ("labels", f"{sum(map(len, fitted.parts.values())):,}"),
            ("evidence", ", ".join(kinds_used(fitted))),
            ("method", f"{fitted.method}, preset {fitted.preset}, seed {fitted.seed}"),
        ],
        "metrics": [(name, n, MEANING.get(name, "")) for name, n in judged.metrics().items()],
        "measured": judged.sentences(),
        "expected": expected_words(fitted),
        "map": None if graph is None else _map(fitted, graph),
        "sure": _sure(fitted, graph),
        "ask": _ask(worth_asking(fitted)),
        "reliability": judged.reliability(),
        "notes": [*no_views, *fitted.notes, *fitted.split.notes],
    }


def _map(fitted: Fitted, graph: PrerequisiteGraph) -> dict[str, Any]:
    """Give the map's edges, learned ones first, beside what follows from the labels alone."""
    alone, counts = map_counts(labels_alone_of(fitted)), map_counts(graph)
    topics = topics_of(graph, fitted.topics)
    return {
        "edges": sorted(told_apart(graph), key=lambda edge: edge.confirmed),
        "beside": [(what, alone[what], count) for what, count in counts.items()],
        "remarks": [*learned_words(fitted, graph), *label_words(fitted, graph)],
        "doubtful": _doubtful(graph),
        "drawing": map_svg(graph, topics, fitted.course_name) if len(graph) else None,
    }


def _doubtful(graph: PrerequisiteGraph) -> list[tuple[str, str, str]]:
    """Give labels that contradict others: first concept, second, what is wrong."""
    names, labels = names_apart(graph.ids, graph.names), graph.labels
    found = (
        (labels.contradicted, "confirmed and rejected: set aside"),
        (labels.mutual, "confirmed in both orders: both set aside"),
        (labels.cyclic, "closes a circle with other labels: set aside"),
        (graph.implied_rejected, "rejected, but it follows from confirmed labels"),
    )
    return [(names[i], names[j], why) for pairs, why in found for i, j in pairs.tolist()]


def _sure(fitted: Fitted, graph: PrerequisiteGraph | None) -> dict[str, Any]:
    if fitted.expected is None:
        return _listed("Nothing: how rare prerequisites are cannot be told.")
    sure = [] if graph is None else sure_of(fitted, graph)
    if not sure:
        return _listed(f"Nothing: no step without a label has a probability of {SURE} or more.")
    words = f"Steps without a label that have a probability of at least {SURE}: there are"
    first = f", the first {AT_FIRST} here" if sure[AT_FIRST:] else ""
    return _listed(f"{words} {len(sure):,}{first}.", sure[:AT_FIRST])


def _ask(edges: Sequence[Edge | Question]) -> dict[str, Any]:
    if not edges:
        return _listed("Nothing: every pair has a label, or follows from one.")
    return _listed(
        "Pairs without a label that the model is in doubt about, and that would put many others "
        "in order. Your answers teach it most here.",
        edges,
    )


def _listed(words: str, edges: Sequence[Edge | Question] = ()) -> dict[str, Any]:
    return {"words": words, "edges": edges}


def render_report(data: Mapping[str, Any]) -> str:
    """Give the report as HTML that needs no other file; the same data give the same text.

    `data` is what `report_data` gathers.
    """
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
        metrics=[_metric_row(*metric) for metric in data["metrics"]],
        listed=LISTED,
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


def px(length: float) -> str:
    """Write a length with at most one digit after the point.

    >>> px(12.0), px(3.14159), px(-0.01)
    ('12', '3.1', '0')
    """
    return f"{round(length, 1) + 0.0:.1f}".removesuffix(".0")


def _metric_row(
    name: str, value: float | int | None, meaning: str
) -> tuple[str, str, float | None, str]:
    """Give a metric's name, value, bar (per cent, for a quality from 0 to 1) and meaning."""
    words = ABBREVIATIONS.get(name, name.replace("_", " "))
    words = words[:1].upper() + words[1:]
    if value is None or not isfinite(value):
        return words, "–", None, meaning
    if isinstance(value, int):
        return words, f"{value:,}", None, meaning
    bar = 100 * value if 0 <= value <= 1 and name not in NO_QUALITY else None
    return words, f"{value:.3f}", bar, meaning
