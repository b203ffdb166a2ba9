"""What to show a person first: pairs the model is sure of, pairs worth asking about."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

import polars as pl

from proprl.curriculum import Edge, PrerequisiteGraph
from proprl.estimator import PrerequisiteModel
from proprl.evaluation.glossary import MEANING
from proprl.features.evidence import NONE
from proprl.report import ReportData

DRAWN = 40
EVIDENCE = {"resource": "resources", "behaviour": "behaviour"}


def sure_and_unsure(
    model: PrerequisiteModel, graph: PrerequisiteGraph, count: int = 5
) -> tuple[list[Edge], list[Edge]]:
    """Give unlabelled pairs the model is surest of, and those nearest to its threshold.

    The sure ones come from the reduced graph: that counting comes before machine learning
    follows from smaller steps and tells nobody anything. Each concept is shown at most once in
    a list, so that the lists tell many stories.
    """
    fitted = model.fitted_
    names = fitted.concept_names
    labelled = {
        (names[i], names[j]) for part in fitted.parts.values() for i, j in part.pairs.tolist()
    }
    scored = model.predict_all(supported=True)
    doubt = (pl.col("probability") - model.threshold_).abs()
    doubtful = scored.sort(doubt, maintain_order=True).select(
        "source_name", "target_name", "probability"
    )
    ask = (Edge(*row) for row in doubtful.iter_rows())
    return _fresh(graph, labelled, count), _fresh(ask, labelled, count)


def report_data(
    model: PrerequisiteModel,
    graph: PrerequisiteGraph,
    metrics: Mapping[str, float | int | None],
    sure: list[Edge],
    ask: list[Edge],
) -> ReportData:
    """Gather what the report shows of a model."""
    fitted = model.fitted_
    report, history = fitted.report, fitted.report.history
    texts = [] if fitted.encoder == NONE else ["texts"]
    return ReportData(
        title=fitted.course_name,
        facts=[
            ("concepts", f"{len(fitted.concept_ids):,}"),
            ("labelled pairs", f"{sum(len(part) for part in fitted.parts.values()):,}"),
            ("evidence", ", ".join([*texts, *(EVIDENCE[view] for view in report.views)])),
            ("text encoder", fitted.encoder),
            ("method", f"{fitted.method}, preset {fitted.preset}"),
            ("seed", str(fitted.seed)),
            ("prerequisites in the graph", f"{len(graph):,}"),
        ],
        metrics=[(name, value, MEANING.get(name, "")) for name, value in metrics.items()],
        epochs=[(epoch.loss, epoch.validation_auc) for epoch in history.epochs],
        best_epoch=history.best_epoch,
        edges=list(graph)[:DRAWN],
        sure=sure,
        ask=ask,
        reliability=model.reliability(),
        notes=[
            *(
                f"The course has no {view} view; it was switched off."
                for view in report.missing_views
            ),
            *fitted.split.notes,
        ],
    )


def _fresh(edges: Iterable[Edge], labelled: Container[tuple[str, str]], count: int) -> list[Edge]:
    """Give the first edges without a label whose concepts have not been shown yet."""
    chosen: list[Edge] = []
    shown: set[str] = set()
    for edge in edges:
        ends = {edge.source, edge.target}
        if (edge.source, edge.target) not in labelled and not ends & shown:
            chosen.append(edge)
            shown |= ends
        if len(chosen) == count:
            break
    return chosen
