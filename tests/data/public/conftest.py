"""What the tests of the public sets share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def source(public_data: Path) -> Callable[[str], Path]:
    """Give a file that only proofs need: `proprl course fetch` does not get it."""

    def find(path: str) -> Path:
        if not (public_data / path).is_file():
            reason = f"no {path} in {public_data}: courses do not need it, this proof does"
            strict = os.environ.get("PROPRL_CI") and not os.environ.get("PROPRL_FETCHED_ONLY")
            pytest.fail(reason) if strict else pytest.skip(reason)
        return public_data / path

    return find
