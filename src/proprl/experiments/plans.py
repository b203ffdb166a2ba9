"""Which runs an experiment consists of."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict

from proprl.errors import ProprlError
from proprl.experiments.published import SETS
from proprl.experiments.runs import FOLDS, PROTOCOLS, Run
from proprl.models.registry import METHODS

ABLATIONS = (
    "proprl-without-gate",
    "proprl-without-propagation",
    "proprl-without-irreversibility",
    "proprl",
)


class ExperimentSettings(BaseModel):
    """The presets and changes of `settings.toml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    presets: dict[str, str]
    changes: dict[str, dict[str, dict[str, Any]]]

    def of(self, method: str, course: str) -> tuple[str, dict[str, Any]]:
        """Give the preset and the changes for a method on a course.

        An ablation is its model with one part removed, so it has its model's settings.
        """
        model = method.partition("-without-")[0]
        return self.presets.get(method, "default"), self.changes.get(model, {}).get(course, {})


@lru_cache(maxsize=1)
def experiment_settings() -> ExperimentSettings:
    """Give the settings of the experiments, checked."""
    text = files("proprl.experiments").joinpath("settings.toml").read_text(encoding="utf-8")
    return ExperimentSettings.model_validate(tomllib.loads(text))


def table1_methods() -> tuple[str, ...]:
    """Give every registered method in the registry's order, ablations left out, ours last."""
    others = [name for name in METHODS if name != "proprl" and name not in ABLATIONS]
    return (*others, "proprl")


def plan(
    methods: Sequence[str],
    courses: Sequence[str] = SETS,
    *,
    protocol: str = "published",
    repeats: int = 5,
    encoder: str = "auto",
) -> list[Run]:
    """Give the runs of a comparison: one for each method, course, and seed or fold."""
    if protocol not in PROTOCOLS:
        raise ProprlError(f"there is no protocol {protocol!r}; known: {', '.join(PROTOCOLS)}")
    if protocol == "leak-free" and not 1 <= repeats <= FOLDS:
        raise ProprlError(f"leak-free has {FOLDS} folds; asked for {repeats}")
    runs = []
    for course in courses:
        for method in methods:
            preset, changes = experiment_settings().of(method, course)
            for repeat in range(repeats):
                fold = 0 if protocol == "published" else repeat
                seed = repeat if protocol == "published" else 0
                runs.append(
                    Run(method, course, protocol, fold, seed, preset, changes, encoder=encoder)
                )
    return runs


EXPERIMENTS: dict[str, Callable[[], Sequence[str]]] = {
    "table1": table1_methods,
    "table2": lambda: ABLATIONS,
}
"""The methods that each experiment compares."""
