"""Which pairs a run learns from and is judged by."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proprl.errors import (
    ProprlError,
)
from proprl.experiments.running.execute import execute
from quick_runs import quick


@pytest.mark.parametrize("protocol", ["leak-free", "new-concepts"])
def test_protocols_run_on_any_labelled_course(protocol: str) -> None:
    found = execute(replace(quick(0), protocol=protocol, fold=1))
    assert 0 <= found["metrics"]["auc"] <= 1
    with pytest.raises(ProprlError, match="known: published, leak-free, new-concepts"):
        execute(replace(quick(0), protocol="magic"))
