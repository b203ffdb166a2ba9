"""Finding a concept by what a person calls it."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from proprl.errors import UnknownConceptError


def find_concept(concept: str, ids: Sequence[str], names: Sequence[str]) -> int:
    """Return the row of the concept with this id, else with this name, in any case.

    >>> find_concept("limits", ids=["c1", "c2"], names=["Functions", "Limits"])
    1
    """
    if concept in ids:
        return ids.index(concept)
    rows = [row for row, name in enumerate(names) if name == concept]
    if not rows and isinstance(concept, str):
        wanted = _folded(concept)
        rows = [row for row, name in enumerate(names) if _folded(name) == wanted]
    if not rows:
        raise UnknownConceptError(
            f"there is no concept {concept!r} in the course{_suggestion(concept, ids, names)}"
        )
    if len(rows) > 1:
        raise UnknownConceptError(
            f"{len(rows)} concepts are called {concept!r}: use one of their ids, "
            + ", ".join(repr(ids[row]) for row in rows)
        )
    return rows[0]


def is_known(concept: str, ids: Sequence[str], names: Sequence[str]) -> bool:
    """Return whether `find_concept` would find this, or too many of it.

    >>> is_known(" LIMITS", ids=["c1", "c2"], names=["Functions", "Limits"])
    True
    """
    wanted = _folded(concept)
    return concept in ids or any(_folded(name) == wanted for name in names)


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


def _suggestion(concept: object, ids: Sequence[str], names: Sequence[str]) -> str:
    originals = {_folded(text): text for text in (*ids, *names)}  # a name outranks an equal id
    nearest = get_close_matches(_folded(str(concept)), originals, n=3)
    if not nearest:
        return ""
    return "; did you mean " + " or ".join(repr(originals[text]) for text in nearest) + "?"
