"""The data files of the experiments: published numbers, settings, search spaces, choices."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any


def packaged(name: str) -> dict[str, Any]:
    """Give what a TOML file beside this module holds, unchecked."""
    return tomllib.loads(
        files("proprl.experiments.settings").joinpath(name).read_text(encoding="utf-8")
    )
