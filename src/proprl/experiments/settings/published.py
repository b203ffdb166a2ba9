"""What the paper reports, as data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Generic, TypeVar

from proprl.experiments.settings.load import Checked, packaged

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
"""The metrics as tables head them."""

Numbers = TypeVar("Numbers")


class BySet(Checked, Generic[Numbers]):
    """What the paper says of one method on each set."""

    ucd: Numbers
    lecturebank: Numbers
    mooc: Numbers


class Direction(Checked):
    """How MOOC's test positives fare against their reverses."""

    ordered_share: float
    mean_margin: float


class Published(Checked):
    """Every number of the paper that an experiment is compared with."""

    grown_share: float
    table1: dict[str, BySet[tuple[float, float, float]]]
    """By method: accuracy, F1 and AUC."""
    table2: dict[str, BySet[float]]
    """By variant: F1."""
    table3: dict[str, BySet[tuple[float, float, float, float]]]
    """By method: parameters (M), training (s), inference (s) and memory (MB)."""
    case_study: dict[str, Direction]

    def cell(self, method: str, course: str, metric: str) -> float | None:
        """Give a number of Table 1; None where the paper has none."""
        numbers = _on(self.table1, method, course)
        return numbers[METRICS.index(metric)] if numbers and metric in METRICS else None

    def ablation(self, method: str, course: str, metric: str) -> float | None:
        """Give a number of Table 2; None where the paper has none."""
        return _on(self.table2, method, course) if metric == "f1" else None

    def costs(self, method: str, course: str) -> tuple[float, float, float, float] | None:
        """Give the numbers of Table 3; None where the paper has none."""
        return _on(self.table3, method, course)

    def direction(self, method: str, course: str, metric: str) -> float | None:
        """Give a number of the case study, which is about MOOC; None where the paper has none."""
        row = self.case_study.get(method)
        return None if row is None or course != "mooc" else float(getattr(row, metric))


@lru_cache(maxsize=1)
def published() -> Published:
    """Give the paper's numbers, checked."""
    return Published.model_validate(packaged("published.toml"))


def _on(rows: Mapping[str, BySet[Numbers]], method: str, course: str) -> Numbers | None:
    return vars(rows[method]).get(course) if method in rows else None
