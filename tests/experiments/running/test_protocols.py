"""Which pairs a run learns from and is judged by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from proprl.data import Course
from proprl.data.splits.labelled import unordered_codes
from proprl.errors import ProprlError
from proprl.experiments.running.execute import execute
from proprl.experiments.running.protocols import split_of
from quick_runs import quick


@pytest.mark.parametrize("protocol", ["leak-free", "new-concepts"])
def test_protocols_run_on_any_labelled_course(protocol: str, campus: Course) -> None:
    run = replace(quick(0), protocol=protocol, fold=1)
    found, split = execute(run), split_of(run, campus)
    assert found["labels"] == split.test.labels.tolist()
    assert found["known_labels"] == len(split.train) + len(split.validation)
    touched = set(np.unique(split.train.pairs)) & set(np.unique(split.test.pairs))
    assert bool(touched) == (protocol == "leak-free")
    codes = [set(unordered_codes(part.pairs).tolist()) for part in (split.train, split.test)]
    assert not codes[0] & codes[1]


def test_an_unknown_protocol_lists_the_known_ones() -> None:
    with pytest.raises(ProprlError, match="known: published, leak-free, new-concepts"):
        execute(replace(quick(0), protocol="magic"))
