"""What the paper reports, and the sets and metrics that it reports on."""

from __future__ import annotations

from proprl.experiments.settings.load import packaged

SETS = ("ucd", "lecturebank", "mooc")
"""The public sets, in the order of the paper's tables."""
METRICS = ("accuracy", "f1", "auc")
NAMES = {
    "accuracy": "ACC",
    "f1": "F1",
    "auc": "AUC",
    "ordered_share": "ordered share",
    "mean_margin": "mean margin",
}
"""The headings of the metrics in tables."""


def published(table: str, method: str, course: str, metric: str) -> float | None:
    """Give a number of one of the paper's tables; None where it has none.

    >>> published("table1", "proprl", "mooc", "auc")
    0.9605
    """
    paper = packaged("published.toml")
    numbers = paper[table].get(method, {}).get(course)
    metrics = paper["metrics"][table]
    return float(numbers[metrics.index(metric)]) if numbers and metric in metrics else None
