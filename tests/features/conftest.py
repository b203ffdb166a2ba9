from __future__ import annotations

from pathlib import Path

import pytest

from proprl.features import encoders


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test has an empty cache folder of its own; the user's is never touched."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("PROPRL_CACHE", str(folder))
    monkeypatch.setattr(encoders, "_warned", set())
    return folder
