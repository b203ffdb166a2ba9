"""With which settings experiments run each method, and what tables call it."""

from __future__ import annotations

from typing import Any

from proprl.experiments.settings.load import packaged
from proprl.experiments.settings.tuned import tuned_settings

AS_PUBLISHED: list[str] = packaged("methods.toml")["as_published"]
"""Methods that keep their papers' settings on the published rows."""


def settings_of(
    method: str, course: str, protocol: str, *, tuned: bool = False
) -> tuple[str, dict[str, Any]]:
    """Give the preset and the changes that a method runs with on a course.

    If `tuned`, methods of `AS_PUBLISHED` are no exception: they, too, run with what was tuned. An
    ablation has the settings of its model.
    """
    model = _model(method)
    if protocol == "published" and model in AS_PUBLISHED and not tuned:
        return "paper", untuned(method, course)
    chosen = tuned_settings().get(model, {}).get(course)
    return "default", {**untuned(method, course), **(chosen.changes if chosen else {})}


def untuned(method: str, course: str) -> dict[str, Any]:
    """Give what a method's paper changes on a course; tuning starts there."""
    changes: dict[str, Any] = packaged("methods.toml")["changes"]
    found: dict[str, Any] = changes.get(_model(method), {}).get(course, {})
    return found


def title_of(row: str) -> str:
    """Give a row's method as tables name it, with how its runs differ from the usual ones.

    >>> title_of("svm"), title_of("svm+refit")
    ('SVM', 'SVM, refit on both')
    """
    words = packaged("methods.toml")
    method, *variants = row.split("+")
    title = words["titles"].get(method, method)
    return ", ".join([title, *(words["variants"][one] for one in variants)])


def _model(method: str) -> str:
    """Give the model that an ablation is made from; else the method itself."""
    return method.partition("-without-")[0]
