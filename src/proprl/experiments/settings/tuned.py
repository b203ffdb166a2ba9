"""The settings that were chosen on validation, and the file that keeps them."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from typing import Self

from pydantic import Field, TypeAdapter, model_validator

from proprl.experiments.settings.load import Checked, packaged_text

Value = bool | int | float | str
"""A value of a setting, as TOML and JSON can hold it."""

FILE_HEAD = """\
# What `proprl reproduce tune` chose for each method and set, on validation pairs only: the changes
# of the setting it started from (none where that was the best), the validation AUC of both, how
# many settings were tried, and with which text encoder. The command writes this file; people look
# it over and copy it here.
"""


class TunedSetting(Checked):
    """What was chosen for one method on one course."""

    changes: dict[str, Value]
    """How it differs from the published setting; empty where that was the best."""
    validation_auc: float = Field(ge=0, le=1)
    published_auc: float = Field(ge=0, le=1)
    """The AUC of the published setting on the same pairs."""
    trials: int = Field(ge=1)
    encoder: str

    @model_validator(mode="after")
    def _is_the_better(self) -> Self:
        if self.validation_auc < self.published_auc:
            raise ValueError("the chosen setting is worse on validation than the published one")
        return self


Tuned = dict[str, dict[str, TunedSetting]]
"""By method and course."""


@lru_cache(maxsize=1)
def tuned_settings() -> Tuned:
    """Give every choice that is kept in the package, checked."""
    return read_tuned(packaged_text("tuned.toml"))


def read_tuned(text: str) -> Tuned:
    """Give the choices that a file holds, checked."""
    return TypeAdapter(Tuned).validate_python(tomllib.loads(text))


def tuned_text(tuned: Mapping[str, Mapping[str, TunedSetting]]) -> str:
    """Give the file that holds these choices."""
    lines = [FILE_HEAD]
    for method, courses in tuned.items():
        for course, setting in courses.items():
            lines.append(f"[{_key(method)}.{_key(course)}]")
            lines += [f"{name} = {_toml(value)}" for name, value in setting]
            lines.append("")
    return "\n".join(lines)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)


def _toml(value: Value | Mapping[str, Value]) -> str:
    if isinstance(value, Mapping):
        inside = ", ".join(f"{name} = {_toml(one)}" for name, one in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    # JSON's strings, numbers and truth values are TOML's too.
    return json.dumps(value, ensure_ascii=False)
