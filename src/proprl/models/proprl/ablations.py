"""ProPRL with one part taken away, to see what that part is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import model_validator

from proprl.models.base import Settings
from proprl.models.proprl.scorer import ProPRLScorer, ProPRLSettings


class AblatedSettings(ProPRLSettings):
    """ProPRL's settings, of which some are fixed: they stay as removed, whatever is asked for.

    So the settings chosen for ProPRL on a data set serve every ablation as they are, and a bundle
    records what ran.
    """

    removed: ClassVar[Mapping[str, Any]] = {}

    @model_validator(mode="before")
    @classmethod
    def _remove(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        return {**given, **cls.removed}


class WithoutGateSettings(AblatedSettings):
    """The gate is the constant 1/2."""

    removed: ClassVar[Mapping[str, Any]] = {"gate": False}


class WithoutPropagationSettings(AblatedSettings):
    """k = 0: Z = Q."""

    removed: ClassVar[Mapping[str, Any]] = {"k": 0}


class WithoutIrreversibilitySettings(AblatedSettings):
    """λ = 0: nothing is asked of a positive pair's reverse."""

    removed: ClassVar[Mapping[str, Any]] = {"lam": 0.0}


class WithoutGateScorer(ProPRLScorer):
    """ProPRL whose views count alike in every pair."""

    settings_type: ClassVar[type[Settings]] = WithoutGateSettings


class WithoutPropagationScorer(ProPRLScorer):
    """ProPRL that hears of other concepts only through its encoders' layers."""

    settings_type: ClassVar[type[Settings]] = WithoutPropagationSettings


class WithoutIrreversibilityScorer(ProPRLScorer):
    """ProPRL that may believe both directions of a pair."""

    settings_type: ClassVar[type[Settings]] = WithoutIrreversibilitySettings
