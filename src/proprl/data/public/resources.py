"""Resources of a public set, with their texts where those are public."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from proprl.data.public import layouts
from proprl.errors import Problem


def numbered(letter: str, count: int) -> list[str]:
    """Return `count` ids: a letter and a number from 0 on.

    >>> numbered("r", 2)
    ['r0', 'r1']
    """
    return [f"{letter}{number}" for number in range(count)]


def read_resources(
    folder: Path, texts: str | None, titles: Sequence[str] | None = None
) -> tuple[pl.DataFrame, list[Problem]]:
    """Return the resources, and a note on each text that is not read as it stands.

    `texts` is the file of texts in the data folder, if there is one. Without `titles`, the
    resources are those that have a text.
    """
    text_of = layouts.read_texts(folder / texts) if texts else {}
    titles = list(text_of) if titles is None else list(titles)
    with_nul = [title for title in titles if "\0" in text_of.get(title, "")]
    expected = "NUL characters in the text were read as spaces"
    notes = [Problem(texts or "", None, "text", title, expected) for title in with_nul]
    resources = pl.DataFrame(
        {
            "id": numbered("r", len(titles)),
            "title": titles,
            "text": [text_of.get(title, "").replace("\0", " ") for title in titles],
        }
    )
    return resources, notes
