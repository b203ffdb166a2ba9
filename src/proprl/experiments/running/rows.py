"""Rows of a table: a method, and in what its runs differ from its usual ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BACKGROUND, REFIT = "background", "refit"


def row_of(run: Mapping[str, Any]) -> str:
    """Give the row that a kept run belongs to.

    >>> row_of({"method": "svm"}), row_of({"method": "sequitur", "background": "auto"})
    ('svm', 'sequitur+background')
    """
    differs = {
        BACKGROUND: run.get("background", "none") != "none",
        REFIT: run.get("refit", False),
    }
    return "+".join([run["method"], *(name for name, does in differs.items() if does)])


def method_of(row: str) -> str:
    """Give the method of a row.

    >>> method_of("sequitur+background")
    'sequitur'
    """
    return row.partition("+")[0]
