"""Which runs a comparison consists of, and with what settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Any

from pydantic import Field

from proprl.errors import ProprlError
from proprl.experiments.running.outcome import Wanted
from proprl.experiments.running.protocols import LEAK_FREE_FOLDS, PROTOCOLS, unknown_protocol
from proprl.experiments.running.run import Run
from proprl.experiments.settings.load import Checked, packaged
from proprl.experiments.settings.tuned import tuned_settings
from proprl.features.encoders import resolve_encoder
from proprl.models.registry import METHODS

PROPRL, SEQUITUR = "proprl", "sequitur"
ABLATIONS = (*(name for name in METHODS if name.startswith(f"{PROPRL}-without-")), PROPRL)
NOT_OF_A_PAPER = (SEQUITUR, "trees")
"""Methods that no paper compares with."""


class ExperimentSettings(Checked):
    """What `methods.toml` says of the methods."""

    titles: dict[str, str]
    changes: dict[str, dict[str, dict[str, Any]]]
    as_published: list[str]
    hyper: dict[str, Annotated[tuple[int | float, ...], Field(min_length=2)]]
    """The values that the hyper-parameter study tries, by setting."""

    def title(self, method: str) -> str:
        """Give a method's name as tables print it."""
        return self.titles.get(method, method)

    def of(self, method: str, course: str, protocol: str) -> tuple[str, dict[str, Any]]:
        """Give the preset and the changes that a method runs with on a course.

        What was tuned is laid over what it starts from, except for `as_published`. An ablation is
        its model with one part removed, so it has its model's settings.
        """
        if protocol == "published" and _model(method) in self.as_published:
            return "paper", self.untuned(method, course)
        return self.tuned(method, course)

    def tuned(self, method: str, course: str) -> tuple[str, dict[str, Any]]:
        """Give the preset and the changes that tuning led to; it started at the preset."""
        tuned = tuned_settings().get(_model(method), {}).get(course)
        return "default", {**self.untuned(method, course), **(tuned.changes if tuned else {})}

    def untuned(self, method: str, course: str) -> dict[str, Any]:
        """Give what a method's paper changes on a course; tuning starts there."""
        return self.changes.get(_model(method), {}).get(course, {})


def _model(method: str) -> str:
    """Give the model of which an ablation is a part; else the method itself."""
    return method.partition("-without-")[0]


@lru_cache(maxsize=1)
def experiment_settings() -> ExperimentSettings:
    """Give the settings of the experiments, checked."""
    return ExperimentSettings.model_validate(packaged("methods.toml"))


def title_of(method: str) -> str:
    """Give a method's name as tables print it."""
    return experiment_settings().title(method)


def plan(methods: Sequence[str], wanted: Wanted, *, tuned: bool = False) -> list[Run]:
    """Give the runs of a comparison: one for each course, method, and seed or fold.

    If `tuned`, no method keeps its paper's settings on the published rows.
    """
    if wanted.protocol not in PROTOCOLS:
        raise unknown_protocol(wanted.protocol)
    if wanted.protocol == "leak-free" and not 1 <= wanted.repeats <= LEAK_FREE_FOLDS:
        raise ProprlError(f"leak-free has {LEAK_FREE_FOLDS} folds; asked for {wanted.repeats}")
    settings = experiment_settings()
    encoder = resolve_encoder(wanted.encoder)
    by_seed = wanted.protocol == "published"
    runs = []
    for course in wanted.courses:
        for method in methods:
            preset, changes = (
                settings.tuned(method, course)
                if tuned
                else settings.of(method, course, wanted.protocol)
            )
            run = Run(method, course, wanted.protocol, preset=preset, changes=changes)
            for repeat in range(wanted.repeats):
                fold, seed = (0, repeat) if by_seed else (repeat, 0)
                runs.append(replace(run, fold=fold, seed=seed, encoder=encoder))
    return runs
