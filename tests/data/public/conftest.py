"""What the tests of the public sets share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def source(public_data: Path) -> Callable[[str], Path]:
    """Give a file that only proofs need: `proprl course fetch` does not get it."""

    def find(path: str) -> Path:
        if not (public_data / path).is_file():
            pytest.skip(f"no {path} in {public_data}: courses do not need it, this proof does")
        return public_data / path

    return find
