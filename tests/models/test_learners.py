"""Trees and a line that learned from the same rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from sklearn.ensemble import ExtraTreesClassifier

from proprl.models.learners import Learners, Lessons

ROWS = np.random.default_rng(0).normal(size=(80, 6))
LESSONS = Lessons(ROWS, (ROWS[:, 0] > 0).astype(np.int64), np.ones(80))


@pytest.fixture
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("number", [1, 2])
def test_trees_grow_on_the_threads_that_torch_has(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Experiments leave torch one: else runs beside each other would share their cores."""
    asked = []

    def trees(*_: object, n_jobs: int, **__: object) -> ExtraTreesClassifier:
        asked.append(n_jobs)
        return ExtraTreesClassifier(3, random_state=0)

    monkeypatch.setattr("proprl.models.learners.ExtraTreesClassifier", trees)
    torch.set_num_threads(number)
    Learners.taught(LESSONS, trees=3, leaf=2, shyness=1.0, seed=7)
    assert asked == [number]


@pytest.mark.usefixtures("threads")
def test_on_more_threads_the_same_is_learned() -> None:
    def learned(number: int) -> dict[str, np.ndarray]:
        torch.set_num_threads(number)
        return Learners.taught(LESSONS, trees=20, leaf=2, shyness=1.0, seed=7).state()

    alone, together = learned(1), learned(2)
    assert alone.keys() == together.keys()
    for name, array in alone.items():
        np.testing.assert_array_equal(array, together[name], err_msg=name)
