"""Where each method's settings are searched, as data."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Self

from pydantic import Field, TypeAdapter, model_validator

from proprl.experiments.settings.load import Checked, packaged

if TYPE_CHECKING:
    from optuna import Trial

Value = bool | int | float | str
"""A value of a setting, as TOML and JSON can hold it."""


class Range(Checked):
    """Any number from `low` to `high`."""

    low: float
    high: float
    log: bool = False
    """Whether factors are drawn evenly, not differences."""

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if self.low >= self.high or (self.log and self.low <= 0):
            raise ValueError(f"no range: {self.low} to {self.high}")
        return self

    def draw(self, trial: Trial, name: str) -> Value:
        """Give the trial's value to two digits: more say nothing, and tables must be readable."""
        return float(f"{trial.suggest_float(name, self.low, self.high, log=self.log):.2g}")


class Choices(Checked):
    """One of a few values."""

    choices: list[Value] = Field(min_length=2)

    def draw(self, trial: Trial, name: str) -> Value:
        """Give the trial's value."""
        value: Value = trial.suggest_categorical(name, self.choices)  # type: ignore[assignment]
        return value


Space = dict[str, Range | Choices]
"""Where each setting of a method is searched; empty where there is nothing to tune."""


@lru_cache(maxsize=1)
def search_spaces() -> dict[str, Space]:
    """Give the space of every method that has one, checked."""
    return TypeAdapter(dict[str, Space]).validate_python(packaged("search.toml"))
