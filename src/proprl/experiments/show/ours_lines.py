"""Which of its lines Sequitur reaches where pairs are labelled as people choose them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from proprl.experiments.running.run import BACKGROUND, row_of
from proprl.experiments.running.store import mean_metric, of_course
from proprl.experiments.settings.load import packaged
from proprl.experiments.settings.published import NAMES
from proprl.experiments.show.whole_map_lines import MapTargets

OURS = "sequitur"
ROWS = {OURS: "without background", f"{OURS}+{BACKGROUND}": "with background"}
"""How Sequitur is run, in words."""
HEADS = ("protocol", "set", "line", "wanted", "found", "reached")


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Loss(_Strict):
    """How far a metric may fall, on each set, below what it was."""

    before: dict[str, float]
    without_background: float = Field(ge=0)
    with_background: float = Field(ge=0)

    def goal(self, course: str, row: str) -> float:
        """Give the least that a row must reach."""
        loss = self.without_background if row == OURS else self.with_background
        return self.before[course] - loss


class Costs(_Strict):
    """What a fit may cost."""

    seconds: float = Field(gt=0)
    bundle_mb: float = Field(gt=0)


class Targets(_Strict):
    """Every line: by protocol and metric, and what holds for whole maps."""

    leak_free: dict[str, Loss] = Field(alias="leak-free")
    new_concepts: dict[str, Loss] = Field(alias="new-concepts")
    costs: dict[str, Costs]
    whole_map: dict[str, MapTargets] = Field(alias="whole-map")

    def losses(self, protocol: str) -> Mapping[str, Loss]:
        """Give the lines of a protocol, by metric."""
        by_protocol = {"leak-free": self.leak_free, "new-concepts": self.new_concepts}
        return by_protocol.get(protocol, {})


@lru_cache(maxsize=1)
def targets() -> Targets:
    """Give the lines to reach, checked."""
    return Targets.model_validate(packaged("targets.toml"))


@dataclass(frozen=True)
class Goal:
    """Something to reach, and what came of it."""

    protocol: str
    course: str
    what: str
    wanted: str
    found: str
    reached: bool

    def row(self) -> list[str]:
        """Give the goal as a row of a table."""
        verdict = "reached" if self.reached else "not reached"
        return [self.protocol, self.course, self.what, self.wanted, self.found, verdict]


def own_lines(
    protocol: str, results: Sequence[Mapping[str, Any]], courses: Sequence[str]
) -> Iterator[Goal]:
    """Give every line that the protocol has on these sets, and whether these results reach it."""
    for course in courses:
        for row, words in ROWS.items():
            mine = [one for one in of_course(results, course) if row_of(one["run"]) == row]
            for metric, loss in targets().losses(protocol).items():
                if course in loss.before:
                    goal, found = loss.goal(course, row), mean_metric(mine, course, metric)
                    what, wanted = f"{NAMES[metric]} {words}", f"≥ {goal:.3f}"
                    yield Goal(protocol, course, what, wanted, f"{found:.4f}", found >= goal)
            if protocol == "published" and course in targets().costs:
                yield from _costs(course, words, mine)


def _costs(course: str, words: str, mine: Sequence[Mapping[str, Any]]) -> Iterator[Goal]:
    limits = targets().costs[course]
    seconds = float(np.mean([one["train_seconds"] for one in mine]))
    largest = max(one["bundle_mb"] for one in mine)
    for what, limit, found in (
        ("seconds to fit", limits.seconds, seconds),
        ("MB of the largest bundle", limits.bundle_mb, largest),
    ):
        yield Goal(
            "published", course, f"{what} {words}", f"≤ {limit:.1f}", f"{found:.2f}", found <= limit
        )
