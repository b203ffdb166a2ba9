"""Where labels come from: who picked the pair, and by what chance."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from proprl.arrays import FloatArray
from proprl.errors import SplitError

CHOSEN, ASKED, DRAWN = "chosen", "asked", "drawn"

ORIGINS = (CHOSEN, ASKED, DRAWN)
"""A person chose the pair; a model picked it to ask about; it was drawn by a known chance."""


def check_origins(
    origin: npt.NDArray[np.str_] | None, chance: FloatArray | None, count: int
) -> tuple[npt.NDArray[np.str_], FloatArray]:
    """Return the origin and the chance of `count` labels; None: all chosen, and no chances.

    Drawn labels, and only those, have a chance: above 0 and at most 1. The others hold NaN.

    >>> origin, chance = check_origins(np.array(["chosen", "drawn"]), np.array([np.nan, 0.1]), 2)
    >>> chance.tolist()
    [nan, 0.1]
    """
    if origin is None:
        origin = np.full(count, CHOSEN)
    if chance is None:
        chance = np.full(count, np.nan)
    origins, chances = np.asarray(origin, dtype=np.str_), _numbers(chance)
    for what, array in (("origin", origins), ("chance", chances)):
        if array.shape != (count,):
            raise SplitError(
                f"{what} must have one entry per pair: shape ({count},), not {array.shape}"
            )
    drawn = origins == DRAWN
    unknown = np.flatnonzero(~np.isin(origins, ORIGINS))
    if unknown.size:
        raise SplitError(
            f"origin must be one of {', '.join(ORIGINS)}: "
            f"entry {unknown[0]} is {str(origins[unknown[0]])!r}"
        )
    impossible = np.flatnonzero(drawn & ~((chances > 0) & (chances <= 1)))
    if impossible.size:
        raise SplitError(
            "a drawn pair needs its chance, above 0 and at most 1: "
            f"entry {impossible[0]} is {chances[impossible[0]]}"
        )
    idle = np.flatnonzero(~drawn & ~np.isnan(chances))
    if idle.size:
        raise SplitError(
            f"only drawn pairs have a chance: entry {idle[0]} is {origins[idle[0]]} "
            f"and has {chances[idle[0]]}, where NaN is expected"
        )
    return origins, chances


def _numbers(chance: FloatArray) -> FloatArray:
    try:
        return np.asarray(chance, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SplitError(f"chance must hold numbers: {error}") from error
