"""Sequitur, our own model: a table of pairs, boosted trees, one calibration."""

from proprl.models.sequitur.scorer import SequiturScorer, SequiturSettings

__all__ = ["SequiturScorer", "SequiturSettings"]
