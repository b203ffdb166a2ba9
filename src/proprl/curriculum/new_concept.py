"""Checking a concept that a model has never met, and those it is held against."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np

from proprl.arrays import IntArray
from proprl.data.lookup import find_concept, is_known
from proprl.errors import ProprlError

# Control characters, halves of a character, and what ends a line or a paragraph.
UNFIT = {"Cc", "Cs", "Zl", "Zp"}


def check_new_concept(
    name: str, description: str, ids: Sequence[str], names: Sequence[str]
) -> tuple[str, str]:
    """Return name and description without the space around them; a concept that is not new fails.

    >>> check_new_concept(" Splines ", "Smooth pieces.", ids=["c1"], names=["Limits"])
    ('Splines', 'Smooth pieces.')
    """
    name, description = _plain_text("name", name), _plain_text("description", description)
    if not any(character.isalnum() for character in name):
        raise ProprlError(f"the new concept needs a name with a letter or digit; found {name!r}")
    if is_known(name, ids, names):
        raise ProprlError(f"{name} is not new: ask for its pairs by name")
    return name, description


def rows_against(
    against: str | Iterable[str] | None, ids: Sequence[str], names: Sequence[str]
) -> IntArray:
    """Return the rows of one concept, of several, or of all (None), each once and in order."""
    if against is None:
        return np.arange(len(ids))
    if not isinstance(against, Iterable):
        raise ProprlError(f"against takes names or ids of concepts, not {against!r}")
    wanted = [against] if isinstance(against, str) else list(against)
    if not wanted:
        raise ProprlError("against is empty: name a concept, or leave it out for all")
    return np.unique([find_concept(str(concept), ids, names) for concept in wanted])


def _plain_text(what: str, text: str) -> str:
    if not isinstance(text, str):
        raise ProprlError(f"the new concept's {what} must be text, not {text!r}")
    text = text.strip()
    unfit = [character for character in text if unicodedata.category(character) in UNFIT]
    if unfit:
        # These could garble a terminal, or pass for another line of its output.
        raise ProprlError(
            f"the new concept's {what} holds a control character or line break: {unfit[0]!r}"
        )
    return text
