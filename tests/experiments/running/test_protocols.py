"""Which pairs a run learns from and is judged by."""

from __future__ import annotations

import pytest

from proprl.data import load_course
from proprl.data.splits.labelled import unordered_codes
from proprl.errors import ProprlError
from proprl.experiments.running.execute import execute
from proprl.experiments.running.protocols import split_of
from proprl.experiments.running.run import Run
from quick_runs import QUICK


@pytest.mark.parametrize("protocol", ["leak-free", "new-concepts"])
def test_protocols_run_on_any_labelled_course(protocol: str) -> None:
    run = Run("proprl", "campus", protocol=protocol, fold=1, changes=QUICK)
    found, split = execute(run), split_of(run, load_course("campus"))
    assert found["labels"] == split.test.labels.tolist()
    assert found["known_labels"] == len(split.train) + len(split.validation)
    codes = [set(unordered_codes(part.pairs).tolist()) for part in (split.train, split.test)]
    assert not codes[0] & codes[1]
    if protocol == "new-concepts":
        known = set(split.train.pairs.ravel().tolist())
        assert all(set(pair) - known for pair in split.test.pairs.tolist())


def test_an_unknown_protocol_lists_the_known_ones() -> None:
    with pytest.raises(ProprlError, match="known: published, leak-free, new-concepts"):
        execute(Run("proprl", "campus", protocol="magic"))
