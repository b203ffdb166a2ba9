"""Which resources mention which concepts by name, and where.

A text and a name are cut into the same tokens, and a name is mentioned where its tokens stand in
a row. Words are compared without case. A hyphen inside a word counts as a space, so "k means"
mentions "K-means"; but "means" is not mentioned in "k-means", which is a longer word. Other
punctuation is a token of its own: "limits. Derivatives" does not mention "limits derivatives".
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from scipy.sparse import coo_array

from proprl.arrays import SparseMatrix

# Scripts without spaces between words: each character is a token, since no boundary can be seen.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_MARKS = r"!-/:-@\[-`{-~\u00a1-\u00bf\u00d7\u00f7\u2010-\u2027\u2030-\u205e\u3001-\u303f"
_LETTER = rf"[^\s{_MARKS}{_UNSPACED}]"
_TOKEN = re.compile(
    rf"(?P<hyphen>(?<={_LETTER})[-_\u2010-\u2013](?={_LETTER}))"
    rf"|[{_UNSPACED}]"
    rf"|{_LETTER}+(?:'{_LETTER}+)*(?:\+\+|\#)?"  # don't, C++ and C# are one word each
    rf"|[{_MARKS}]"
)

SHORTEST_WITH_PLURAL = 3
"""Letters of a name whose plural is looked for: "CS" is no plural of C."""
LONGEST_SIDE = 300
"""Characters on either side of a mention in a passage."""


def mention_incidence(names: Sequence[str], texts: Sequence[str]) -> SparseMatrix:
    """Return which names each text mentions: (names × texts), 1 where it does.

    >>> mention_incidence(["Set", "C++", "C"], ["Subsets in C++.", "A set."]).toarray()
    array([[0., 1.],
           [1., 0.],
           [0., 0.]])
    """
    index = _NameIndex(enumerate(names))
    mentions = [
        (row, column)
        for column, text in enumerate(texts)
        for row in sorted({row for row, _, _ in index.mentions(text)})
    ]
    rows, columns = np.array(mentions, dtype=np.int64).reshape(-1, 2).T
    ones = np.ones(len(mentions), dtype=np.float64)
    return coo_array((ones, (rows, columns)), shape=(len(names), len(texts))).tocsr()


def mention_passages(
    names: Sequence[str], texts: Sequence[str], *, around: int = 25, at_most: int
) -> list[list[str]]:
    """Return, for each name, passages of the texts that mention it.

    A passage has `around` tokens on either side of the mention, and passages do not overlap. Of
    many mentions `at_most` are taken, evenly from first to last. A plural in -s is a mention, and
    what a name says in brackets to tell it from others need not be mentioned.

    >>> mention_passages(["Set", "Tree (graph)"], ["Draw a tree, then sets."], around=2, at_most=9)
    [[', then sets.'], ['Draw a tree, then']]
    """
    index = _NameIndex(_forms(names))
    places: list[list[tuple[str, slice]]] = [[] for _ in names]
    for text in texts:
        plain = _plain(text)
        spans: list[tuple[int, int]] = []
        free_from: dict[int, int] = {}  # where the next mention of a name may begin
        for row, start, end in index.mentions(text):
            if start >= free_from.get(row, 0):
                spans = spans or _spans(plain)
                places[row].append((plain, _around(spans, start, end, around)))
                free_from[row] = end + 2 * around
    return [
        [
            " ".join(plain[part].split())
            for plain, part in (found[k] for k in _spread(len(found), at_most))
        ]
        for found in places
    ]


def _forms(names: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Give what to look for, and the row of the name that it stands for."""
    short = [_without_brackets(name) for name in names]
    count = Counter(name.casefold() for name in [*names, *short])
    for row, name in enumerate(names):
        # A name that another concept has, too, tells nothing about this one.
        alone = short[row] == name or count[short[row].casefold()] == 1
        form = short[row] if alone else name
        yield row, form
        plural = f"{form}s"
        if len(form) >= SHORTEST_WITH_PLURAL and plural.casefold() not in count:
            yield row, plural


def _without_brackets(name: str) -> str:
    place = name.find(" (") if name.endswith(")") else -1
    return name[:place].strip() or name if place >= 0 else name


def _around(spans: Sequence[tuple[int, int]], start: int, end: int, around: int) -> slice:
    """Give the part of a text around its tokens [start, end)."""
    first, last = spans[max(start - around, 0)][0], spans[min(end + around, len(spans)) - 1][1]
    return slice(
        max(first, spans[start][0] - LONGEST_SIDE), min(last, spans[end - 1][1] + LONGEST_SIDE)
    )


def _spread(count: int, at_most: int) -> list[int]:
    """Give so many numbers below `count`, at equal distances."""
    kept = min(count, at_most)
    return [k * count // kept for k in range(kept)]


class _NameIndex:
    """Names by their tokens."""

    def __init__(self, names: Iterable[tuple[int, str]]) -> None:
        self._rows_of: dict[tuple[str, ...], list[int]] = {}
        for row, name in names:
            tokens = tuple(_tokens(name)[0])
            if tokens:
                self._rows_of.setdefault(tokens, []).append(row)
        self._lengths: dict[str, set[int]] = {}  # first token → lengths of names that begin so
        for tokens in self._rows_of:
            self._lengths.setdefault(tokens[0], set()).add(len(tokens))

    def mentions(self, text: str) -> Iterator[tuple[int, int, int]]:
        """Give the row of each name that is mentioned, and which tokens do: [start, end)."""
        tokens, joined = _tokens(text)
        joined.append(False)  # nothing follows the last token
        for start, token in enumerate(tokens):
            if joined[start]:
                continue
            for length in self._lengths.get(token, ()):
                end = start + length
                if end <= len(tokens) and not joined[end]:
                    for row in self._rows_of.get(tuple(tokens[start:end]), ()):
                        yield row, start, end


def _tokens(text: str) -> tuple[list[str], list[bool]]:
    """Return the tokens, and for each whether a hyphen joins it to the one before."""
    tokens: list[str] = []
    joined: list[bool] = []
    after_hyphen = False
    for match in _TOKEN.finditer(_plain(text)):
        if match.lastgroup == "hyphen":
            after_hyphen = True
        else:
            tokens.append(match[0].casefold())
            joined.append(after_hyphen)
            after_hyphen = False
    return tokens, joined


def _spans(plain: str) -> list[tuple[int, int]]:
    """Return where the tokens of a plain text stand."""
    return [match.span() for match in _TOKEN.finditer(plain) if match.lastgroup != "hyphen"]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("\u2019", "'")
