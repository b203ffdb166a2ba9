"""Which resources mention which concepts by name, and where.

A text and a name are cut into the same tokens, and a name is mentioned where its tokens stand in
a row. Words are compared without case. A hyphen inside a word counts as a space, so "k means"
mentions "K-means"; but "means" is not mentioned in "k-means", which is a longer word. Other
punctuation is a token of its own: "limits. Derivatives" does not mention "limits derivatives".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
# What a name says in brackets at its end, to tell it from others.
_BRACKETS = re.compile(r"\s*\([^()]*\)\s*$")


def mention_incidence(names: Sequence[str], texts: Sequence[str]) -> SparseMatrix:
    """Return which names each text mentions: (names × texts), 1 where it does.

    >>> mention_incidence(["Set", "C++", "C"], ["Subsets in C++.", "A set."]).toarray()
    array([[0., 1.],
           [1., 0.],
           [0., 0.]])
    """
    index = _NameIndex(names)
    mentions = [
        (row, column)
        for column, text in enumerate(texts)
        for row in sorted({row for row, _, _ in index.mentions(_Tokens.of(text))})
    ]
    rows, columns = np.array(mentions, dtype=np.int64).reshape(-1, 2).T
    ones = np.ones(len(mentions), dtype=np.float64)
    return coo_array((ones, (rows, columns)), shape=(len(names), len(texts))).tocsr()


def mention_passages(
    names: Sequence[str], texts: Sequence[str], *, around: int = 25, at_most: int
) -> list[list[str]]:
    """Return, for each name, passages of the texts that mention it.

    A passage has `around` tokens on either side of the mention. Of many mentions `at_most` are
    taken, spread evenly over the texts. What a name says in brackets to tell it from others is not
    looked for.

    >>> mention_passages(["Set", "Tree (graph)"], ["Draw a tree, then a set."], around=2, at_most=9)
    [['then a set.'], ['draw a tree, then']]
    """
    singular = [_BRACKETS.sub("", name) for name in names]
    index = _NameIndex([*singular, *(f"{name}s" for name in singular)])
    places: list[list[tuple[str, slice]]] = [[] for _ in names]
    for text in texts:
        tokens = _Tokens.of(text)
        for row, start, end in index.mentions(tokens):
            places[row % len(names)].append(
                (tokens.text, tokens.part(start - around, end + around))
            )
    return [
        [" ".join(text[part].split()) for text, part in (found[k] for k in _spread(found, at_most))]
        for found in places
    ]


def _spread(found: Sequence[object], at_most: int) -> list[int]:
    """Give places in a list, the same distance from each other."""
    kept = min(len(found), at_most)
    return [k * len(found) // kept for k in range(kept)]


class _NameIndex:
    """Names by their tokens."""

    def __init__(self, names: Sequence[str]) -> None:
        self._rows_of: dict[tuple[str, ...], list[int]] = {}
        for row, name in enumerate(names):
            words = tuple(_Tokens.of(name).words)
            if words:
                self._rows_of.setdefault(words, []).append(row)
        self._lengths: dict[str, set[int]] = {}  # first word → lengths of the names that begin so
        for words in self._rows_of:
            self._lengths.setdefault(words[0], set()).add(len(words))

    def mentions(self, tokens: _Tokens) -> Iterator[tuple[int, int, int]]:
        """Give the row of each name that is mentioned, and the tokens [start, end) that do."""
        words, joined = tokens.words, [*tokens.joined, False]  # nothing follows the last token
        for start, word in enumerate(words):
            if joined[start]:
                continue
            for length in self._lengths.get(word, ()):
                end = start + length
                if end <= len(words) and not joined[end]:
                    for row in self._rows_of.get(tuple(words[start:end]), ()):
                        yield row, start, end


@dataclass(frozen=True)
class _Tokens:
    """A text cut into tokens."""

    text: str
    words: list[str]
    joined: list[bool]
    """Whether a hyphen joins a token to the one before."""
    spans: list[tuple[int, int]]
    """Where each token stands in the text."""

    @classmethod
    def of(cls, text: str) -> _Tokens:
        plain = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
        tokens = cls(plain, [], [], [])
        after_hyphen = False
        for match in _TOKEN.finditer(plain):
            if match.lastgroup == "hyphen":
                after_hyphen = True
            else:
                tokens.words.append(match[0])
                tokens.joined.append(after_hyphen)
                tokens.spans.append(match.span())
                after_hyphen = False
        return tokens

    def part(self, start: int, end: int) -> slice:
        """Give the part of the text from one token to another, as far as there are tokens."""
        first, last = self.spans[max(start, 0)], self.spans[min(end, len(self.spans)) - 1]
        return slice(first[0], last[1])
