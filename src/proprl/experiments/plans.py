"""Which runs a comparison consists of, and with what settings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from proprl.errors import ProprlError
from proprl.experiments.experiment import Wanted
from proprl.experiments.packaged import packaged
from proprl.experiments.runs import FOLDS, PROTOCOLS, Run
from proprl.experiments.tuned import tuned_settings
from proprl.features.encoders import resolve_encoder
from proprl.models.registry import METHODS

ABLATIONS = (
    "proprl-without-gate",
    "proprl-without-propagation",
    "proprl-without-irreversibility",
    "proprl",
)


class ExperimentSettings(BaseModel):
    """What `settings.toml` says of the methods."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    titles: dict[str, str]
    presets: dict[str, str]
    changes: dict[str, dict[str, dict[str, Any]]]
    folds: dict[str, int]
    as_published: list[str]
    hyper: dict[str, Annotated[tuple[int | float, ...], Field(min_length=2)]]
    """The values that the hyper-parameter study tries, by setting."""

    def title(self, method: str) -> str:
        """Give a method's name as tables print it."""
        return self.titles.get(method, method)

    def of(self, method: str, course: str) -> tuple[str, dict[str, Any]]:
        """Give the preset and the changes that a method runs with on a course.

        What was tuned is laid over what was published, except for `as_published`. An ablation is
        its model with one part removed, so it has its model's settings.
        """
        model = method.partition("-without-")[0]
        preset, changes = self.published_of(model, course)
        tuned = tuned_settings().get(model, {}).get(course)
        if tuned is None or model in self.as_published:
            return preset, changes
        return preset, {**changes, **tuned.changes}

    def published_of(self, method: str, course: str) -> tuple[str, dict[str, Any]]:
        """Give the preset and the changes that tuning a method on a course starts from."""
        return self.presets.get(method, "default"), self.changes.get(method, {}).get(course, {})

    def folds_of(self, method: str) -> int:
        """Give how many folds a method is run on: fewer where one takes over a minute."""
        return self.folds.get(method.partition("-without-")[0], FOLDS)


@lru_cache(maxsize=1)
def experiment_settings() -> ExperimentSettings:
    """Give the settings of the experiments, checked."""
    return ExperimentSettings.model_validate(packaged("settings.toml"))


def table1_methods() -> tuple[str, ...]:
    """Give every registered method in the registry's order, ablations left out, ours last."""
    others = [name for name in METHODS if name != "proprl" and name not in ABLATIONS]
    return (*others, "proprl")


def plan(methods: Sequence[str], wanted: Wanted) -> list[Run]:
    """Give the runs of a comparison: one for each course, method, and seed or fold."""
    if wanted.protocol not in PROTOCOLS:
        known = ", ".join(PROTOCOLS)
        raise ProprlError(f"there is no protocol {wanted.protocol!r}; known: {known}")
    leak_free = wanted.protocol == "leak-free"
    if leak_free and not 1 <= wanted.repeats <= FOLDS:
        raise ProprlError(f"leak-free has {FOLDS} folds; asked for {wanted.repeats}")
    settings = experiment_settings()
    runs = []
    for course in wanted.courses:
        for method in methods:
            preset, changes = settings.of(method, course)
            folds = settings.folds_of(method) if leak_free else wanted.repeats
            for repeat in range(min(wanted.repeats, folds)):
                run = Run(
                    method,
                    course,
                    protocol=wanted.protocol,
                    fold=0 if wanted.protocol == "published" else repeat,
                    seed=repeat if wanted.protocol == "published" else 0,
                    preset=preset,
                    changes=changes,
                    encoder=resolve_encoder(wanted.encoder),
                )
                runs.append(run)
    return runs
