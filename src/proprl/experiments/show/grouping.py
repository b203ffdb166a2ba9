"""Results of many runs, put together: those that belong to one cell of a table, and their means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

Result = Mapping[str, Any]
"""What a run came to, as it is kept."""


def grouped(results: Iterable[Result], *fields: str) -> dict[tuple[Any, ...], list[Result]]:
    """Give results by these fields of their runs, in the order in which they first come.

    >>> grouped([{"run": {"method": "nb", "seed": 0}}], "method", "seed")
    {('nb', 0): [{'run': {'method': 'nb', 'seed': 0}}]}
    """
    found: dict[tuple[Any, ...], list[Result]] = {}
    for result in results:
        found.setdefault(tuple(result["run"][field] for field in fields), []).append(result)
    return found


def of_course(results: Iterable[Result], course: str) -> list[Result]:
    """Give the results on one course."""
    return grouped(results, "course").get((course,), [])


def mean_metric(results: Iterable[Result], metric: str) -> float:
    """Give the mean of a metric over the results that have it; NaN where none has it."""
    found = (result["metrics"][metric] for result in results)
    values = [float(value) for value in found if value is not None]
    return float(np.mean(values)) if values else math.nan
