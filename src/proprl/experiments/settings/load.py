"""The data files beside this module: numbers, settings, search spaces, choices, texts of pages."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict


class Checked(BaseModel):
    """A part of a data file: a field that it does not know is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def packaged_text(name: str) -> str:
    """Give the text of a data file."""
    return files("proprl.experiments.settings").joinpath(name).read_text(encoding="utf-8")


@lru_cache
def packaged(name: str) -> dict[str, Any]:
    """Give what a TOML file holds."""
    return tomllib.loads(packaged_text(name))
