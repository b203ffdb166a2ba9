"""Runs of ProPRL that take a tenth of a second."""

from __future__ import annotations

from proprl.experiments.running.run import Run

QUICK = {"size": 16, "epochs": 2, "batch_size": 256}


def quick(seed: int, **changes: object) -> Run:
    return Run("proprl", "campus", seed=seed, encoder="wordllama", changes={**QUICK, **changes})
