"""What was asked for, and the runs that a comparison consists of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from proprl.errors import ProprlError
from proprl.experiments.running.protocols import LEAK_FREE_FOLDS, PROTOCOLS, unknown_protocol
from proprl.experiments.running.run import Run
from proprl.experiments.settings.methods import settings_of
from proprl.experiments.settings.published import SETS
from proprl.features.encoders import resolve_encoder
from proprl.models.registry import METHODS

PROPRL, SEQUITUR = "proprl", "sequitur"
ABLATIONS = (*(name for name in METHODS if name.startswith(f"{PROPRL}-without-")), PROPRL)
TABLE_1 = (
    *(name for name in METHODS if name not in (SEQUITUR, "trees", *ABLATIONS)),
    PROPRL,
)
"""The methods that the paper compares, its own last."""


@dataclass(frozen=True)
class Wanted:
    """What was asked for; None leaves the choice to the experiment."""

    asked_courses: Sequence[str] | None = None
    methods: Sequence[str] | None = None
    protocol: str = "published"
    repeats: int = 5
    """Seeds, or folds under leak-free."""
    encoder: str = "auto"
    part: str = "development"
    """The half of a map that is scored, under `whole-map`."""

    @property
    def courses(self) -> Sequence[str]:
        """The courses asked for; else the public sets."""
        return self.asked_courses or SETS


def plan(methods: Sequence[str], wanted: Wanted, *, tuned: bool = False) -> list[Run]:
    """Give the runs of a comparison: one for each course, method, and seed or fold.

    If `tuned`, no method keeps its paper's settings on the published rows.
    """
    if wanted.protocol not in PROTOCOLS:
        raise unknown_protocol(wanted.protocol)
    if wanted.protocol == "leak-free" and not 1 <= wanted.repeats <= LEAK_FREE_FOLDS:
        raise ProprlError(f"leak-free has {LEAK_FREE_FOLDS} folds; asked for {wanted.repeats}")
    encoder = resolve_encoder(wanted.encoder)
    by_seed = wanted.protocol == "published"
    runs = []
    for course in wanted.courses:
        for method in methods:
            preset, changes = settings_of(method, course, wanted.protocol, tuned=tuned)
            run = Run(method, course, wanted.protocol, preset=preset, changes=changes)
            for repeat in range(wanted.repeats):
                fold, seed = (0, repeat) if by_seed else (repeat, 0)
                runs.append(replace(run, fold=fold, seed=seed, encoder=encoder))
    return runs
