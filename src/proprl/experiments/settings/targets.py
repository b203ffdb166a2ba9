"""What Sequitur is to reach, as data."""

from __future__ import annotations

from functools import lru_cache

from pydantic import Field

from proprl.experiments.settings.load import Checked, packaged


class Loss(Checked):
    """How far a metric may fall, on each set, below what it was."""

    before: dict[str, float]
    without_background: float = Field(ge=0)
    with_background: float = Field(ge=0)


class FitCosts(Checked):
    """What a fit may cost."""

    seconds: float = Field(gt=0)
    bundle_mb: float = Field(gt=0)


class MapTargets(Checked):
    """What a map must be worth on one set: by metric, the least that is asked."""

    half: dict[str, float]
    """Where half of the map is known."""
    fifth: dict[str, float] = Field(default_factory=dict)
    """Where a fifth of the map is known."""
    aims: dict[str, float] = Field(default_factory=dict)
    """What one would like to see."""
    promised_within: float | None = Field(None, ge=1)
    """The promised number may be so many times the true one, or its inverse."""
    way_at_most: float | None = None
    """So many concepts the map's way may have in all."""


class Targets(Checked):
    """Every line."""

    losses: dict[str, dict[str, Loss]]
    """By protocol and metric."""
    costs: dict[str, FitCosts]
    """By set, on the published rows."""
    maps: dict[str, MapTargets]
    """By set."""


@lru_cache(maxsize=1)
def targets() -> Targets:
    """Give the lines to reach, checked."""
    return Targets.model_validate(packaged("targets.toml"))
