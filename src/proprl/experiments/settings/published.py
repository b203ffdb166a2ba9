"""What the paper reports, as data."""

from __future__ import annotations

from functools import lru_cache

from pydantic import BaseModel, ConfigDict

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
"""The metrics as tables head them."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Triple(_Strict):
    """Accuracy, F1 and AUC of one method on each set."""

    ucd: tuple[float, float, float]
    lecturebank: tuple[float, float, float]
    mooc: tuple[float, float, float]


class Single(_Strict):
    """F1 of one variant on each set."""

    ucd: float
    lecturebank: float
    mooc: float


class Cost(_Strict):
    """Parameters (M), training (s), inference (s) and memory (MB) on each set."""

    ucd: tuple[float, float, float, float]
    lecturebank: tuple[float, float, float, float]
    mooc: tuple[float, float, float, float]


class Direction(_Strict):
    """How MOOC's test positives fare against their reverses."""

    ordered_share: float
    mean_margin: float


class Published(_Strict):
    """Every number of the paper that an experiment is compared with."""

    grown_share: float
    table1: dict[str, Triple]
    table2: dict[str, Single]
    table3: dict[str, Cost]
    case_study: dict[str, Direction]

    def cell(self, method: str, course: str, metric: str) -> float | None:
        """Give a number of Table 1; None where the paper has none."""
        row = self.table1.get(method)
        if row is None or course not in SETS or metric not in METRICS:
            return None
        return float(getattr(row, course)[METRICS.index(metric)])

    def ablation(self, method: str, course: str, metric: str) -> float | None:
        """Give a number of Table 2; None where the paper has none."""
        row = self.table2.get(method)
        if row is None or course not in SETS or metric != "f1":
            return None
        return float(getattr(row, course))


@lru_cache(maxsize=1)
def published() -> Published:
    """Give the paper's numbers, checked."""
    return Published.model_validate(packaged("published.toml"))
