"""Scores of a concept that a model has never met with those it knows."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from proprl.arrays import FloatArray, IntArray
from proprl.curriculum.all_pairs import strongest
from proprl.data.course import concept_text
from proprl.data.lookup import find_concept, is_known
from proprl.data.mentions import names_in_texts
from proprl.errors import FeatureError, ProprlError
from proprl.features.gather import encode_alone
from proprl.features.reader import NOBODY, read_concepts
from proprl.fitted import Fitted
from proprl.models.base import TakesNewConcepts
from proprl.models.registry import METHODS
from proprl.progress import SILENT, Progress

# Control characters, halves of a character, and what ends a line or a paragraph.
UNFIT = {"Cc", "Cs", "Zl", "Zp"}


def score_new_concept(
    fitted: Fitted,
    name: str,
    description: str = "",
    *,
    against: str | Iterable[str] | None = None,
    progress: Progress = SILENT,
) -> tuple[IntArray, FloatArray]:
    """Score a new concept with those a model knows, in both orders: the strongest pair first.

    Its row is the one after the last that is known. `against` is a name or id, or several;
    without it, all concepts.
    """
    ids, names, scorer = fitted.concept_ids, fitted.concept_names, fitted.scorer
    name, description = check_new_concept(name, description, ids, names)
    others = rows_against(against, ids, names)
    if not isinstance(scorer, TakesNewConcepts):
        able = ", ".join(m for m, cls in METHODS.items() if issubclass(cls, TakesNewConcepts))
        raise ProprlError(
            f"{fitted.method} scores only the concepts it was trained with; methods "
            f"that take new ones: {able}"
        )
    text = concept_text(name, description)
    joined = scorer.joined_by(
        encode_alone(text, fitted.encoder),
        _read_alone(fitted, name, progress),
        names_in_texts([*names, name], [*names, text]),
    )
    new = np.full(len(others), len(ids))
    pairs = np.vstack([np.column_stack([others, new]), np.column_stack([new, others])])
    return strongest(pairs, replace(fitted.fit, scorer=joined).score(pairs))


def _read_alone(fitted: Fitted, name: str, progress: Progress) -> FloatArray | None:
    """Give what the model's reader makes of a concept that came later, if it has a reader."""
    reader = fitted.settings.read_by
    if reader == NOBODY:
        return None
    try:
        return read_concepts([name], fitted.course_subject, reader, progress=progress)
    except FeatureError as error:
        raise FeatureError(
            f"the model was trained on what {reader} made of the concepts, and it has to read "
            f"about {name} too: {error}. A model trained without a reader needs none"
        ) from error


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
