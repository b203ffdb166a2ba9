"""How much memory a piece of work takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from proprl.experiments.running import memory
from proprl.experiments.running.memory import PeakMemory

linux = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="peaks are forgotten only on Linux"
)


@linux
def test_memory_is_the_peak_since_the_start_even_after_a_greater_one() -> None:
    np.ones(12_500_000).sum()  # 100 MB, freed again
    watched = PeakMemory()
    np.ones(5_000_000).sum()  # 40 MB, freed again
    growth = watched.growth_mb()
    assert growth is not None
    assert 35 < growth < 80


def test_where_the_peak_cannot_be_forgotten_nothing_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(memory, "PROCESS", tmp_path / "missing")
    assert PeakMemory().growth_mb() is None
