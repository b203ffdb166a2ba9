"""Shares of a whole that may be 0."""

from __future__ import annotations

import numpy as np

from proprl.arrays import FloatArray


def share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Give part / whole, and 0 where the whole is 0.

    >>> share(np.array([1.0, 2.0]), np.array([4.0, 0.0]))
    array([0.25, 0.  ])
    """
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
