"""What the report shows of a model."""

from __future__ import annotations

from proprl.curriculum.graph import Edge, PrerequisiteGraph, labels_alone_of
from proprl.curriculum.naming import names_apart, told_apart
from proprl.curriculum.questions import worth_asking
from proprl.curriculum.summary import (
    SURE,
    expected_words,
    kinds_missing,
    kinds_used,
    label_words,
    learned_words,
    map_counts,
    sure_of,
)
from proprl.evaluation.metrics import MEANING
from proprl.fitted import Fitted
from proprl.judging import Judged
from proprl.report.page import EdgeList, Map, ReportData

AT_FIRST = 10
"""So many edges are listed."""


def report_data(fitted: Fitted, graph: PrerequisiteGraph | None, judged: Judged) -> ReportData:
    """Gather what the report shows of a model; without a graph it draws no map."""
    history = fitted.report.history
    return ReportData(
        title=fitted.course_name,
        facts=[
            ("concepts", f"{len(fitted.concept_ids):,}"),
            ("labels", f"{sum(map(len, fitted.parts.values())):,}"),
            ("evidence", ", ".join(kinds_used(fitted))),
            ("method", f"{fitted.method}, preset {fitted.preset}, seed {fitted.seed}"),
        ],
        metrics=[(name, value, MEANING.get(name, "")) for name, value in judged.metrics().items()],
        measured=judged.sentences(),
        epochs=[(epoch.loss, epoch.validation_auc) for epoch in history.epochs],
        best_epoch=history.best_epoch,
        expected=expected_words(fitted),
        map=None if graph is None else _map(fitted, graph),
        sure=_sure(fitted, graph),
        ask=_ask(worth_asking(fitted)),
        reliability=judged.reliability(),
        notes=[
            *(
                f"The course has no {view}; the model does without."
                for view in kinds_missing(fitted)
            ),
            *fitted.notes,
            *fitted.split.notes,
        ],
    )


def _map(fitted: Fitted, graph: PrerequisiteGraph) -> Map:
    edges = told_apart(graph)
    alone, counts = map_counts(labels_alone_of(fitted)), map_counts(graph)
    return Map(
        edges=sorted(edges, key=lambda edge: edge.confirmed),
        beside=[(what, alone[what], count) for what, count in counts.items()],
        remarks=[*learned_words(fitted, graph), *label_words(fitted, graph)],
        doubtful=_doubtful(graph),
    )


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


def _sure(fitted: Fitted, graph: PrerequisiteGraph | None) -> EdgeList:
    if fitted.expected is None:
        return EdgeList([], "Nothing: how rare prerequisites are cannot be told.")
    sure = [] if graph is None else sure_of(fitted, graph)
    if not sure:
        return EdgeList(
            [], f"Nothing: no step without a label has a probability of {SURE} or more."
        )
    words = (
        f"Steps without a label that have a probability of at least {SURE}: there are {len(sure):,}"
    )
    return EdgeList(
        sure[:AT_FIRST], words + (f", the first {AT_FIRST} here." if sure[AT_FIRST:] else ".")
    )


def _ask(edges: list[Edge]) -> EdgeList:
    if not edges:
        return EdgeList([], "Nothing: every pair has a label, or follows from one.")
    return EdgeList(
        edges,
        "Pairs without a label that the model is in doubt about, and that would put many others "
        "in order. Your answers teach it most here.",
    )
