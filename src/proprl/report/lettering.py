"""Names broken into lines that fit a box, without a browser to measure them."""

from __future__ import annotations

import unicodedata

FONT_SIZE = 13.0
LINE_HEIGHT = 16.0

_NARROW = frozenset("iljtfrI.,;:!'`|()[]{}/\\- ")
_WIDE = frozenset("mwMW@%&—…→")


def text_width(text: str) -> float:
    """Give a width in pixels that the text does not exceed in the common sans-serif fonts."""
    return sum(map(_em, text)) * FONT_SIZE


def wrap(name: str, width: float) -> tuple[str, ...]:
    """Break a name into lines of at most this width: between words, else inside them.

    >>> wrap("Maximum likelihood estimation", 130)
    ('Maximum', 'likelihood', 'estimation')
    >>> wrap("Bayes theorem", 130)
    ('Bayes theorem',)
    """
    lines: list[str] = []
    line = ""
    for word in name.split():
        if line and text_width(f"{line} {word}") <= width:
            line = f"{line} {word}"
            continue
        if line:
            lines.append(line)
        *full, line = _pieces(word, width)
        lines += full
    return (*lines, line) if line else (name,)


def _pieces(word: str, width: float) -> list[str]:
    pieces = [""]
    for letter in word:
        if pieces[-1] and text_width(pieces[-1] + letter) > width:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def _em(letter: str) -> float:
    # Rounded up from DejaVu Sans and Verdana, the widest of the fonts in use.
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.1
    if letter in _NARROW:
        return 0.42
    if letter in _WIDE:
        return 1.0
    return 0.64 if letter.islower() or letter.isdigit() else 0.8
