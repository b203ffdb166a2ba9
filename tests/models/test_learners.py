"""Trees and a line that learned from the same rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from proprl.models.learners import Learners, Lessons


@pytest.fixture
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("threads")
def test_on_more_threads_the_same_is_learned() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(80, 6))
    lessons = Lessons(rows, (rows[:, 0] > 0).astype(np.int64), np.ones(80))

    def learned(number: int) -> dict[str, np.ndarray]:
        torch.set_num_threads(number)
        return Learners.taught(lessons, trees=20, leaf=2, shyness=1.0, seed=7).state()

    alone, together = learned(1), learned(2)
    assert alone.keys() == together.keys()
    for name, array in alone.items():
        np.testing.assert_array_equal(array, together[name], err_msg=name)
