"""Runs of ProPRL that take a second."""

from __future__ import annotations

from proprl.experiments.running.run import Run

QUICK = {"size": 16, "epochs": 2}


def quick(seed: int, **changes: object) -> Run:
    return Run(
        "proprl", "campus", seed=seed, encoder="wordllama", changes={**QUICK, **changes}
    )
