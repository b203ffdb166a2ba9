"""Which resources mention which concepts by name, and where.

A text and a name are cut into the same tokens, and a name is mentioned where its tokens stand in
a row. Words are compared without case. A hyphen inside a word counts as a space, so "k means"
mentions "K-means"; but "means" is not mentioned in "k-means", which is a longer word. Other
punctuation is a token of its own: "limits. Derivatives" does not mention "limits derivatives".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence

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


def mention_incidence(names: Sequence[str], texts: Sequence[str]) -> SparseMatrix:
    """Return which names each text mentions: (names × texts), 1 where it does.

    >>> mention_incidence(["Set", "C++", "C"], ["Subsets in C++.", "A set."]).toarray()
    array([[0., 1.],
           [1., 0.],
           [0., 0.]])
    """
    rows_of: dict[tuple[str, ...], list[int]] = {}
    lengths: dict[str, set[int]] = {}  # first token → lengths of names that begin so
    for row, name in enumerate(names):
        tokens = tuple(_tokens(name)[0])
        if tokens:
            rows_of.setdefault(tokens, []).append(row)
            lengths.setdefault(tokens[0], set()).add(len(tokens))
    mentions = {
        (row, column)
        for column, text in enumerate(texts)
        for tokens in _runs(text, lengths)
        for row in rows_of.get(tokens, ())
    }
    rows, columns = np.array(sorted(mentions), dtype=np.int64).reshape(-1, 2).T
    ones = np.ones(len(mentions), dtype=np.float64)
    return coo_array((ones, (rows, columns)), shape=(len(names), len(texts))).tocsr()


def names_in_texts(names: Sequence[str], texts: Sequence[str]) -> SparseMatrix:
    """Return which name stands in the text about which other one: (n × n), 1 where it does.

    >>> names_in_texts(["Set", "Power set"], ["A set.", "Power set"]).toarray()
    array([[0., 1.],
           [0., 0.]])
    """
    named = mention_incidence(names, texts).tocoo()
    others = named.row != named.col
    ends = named.row[others], named.col[others]
    return coo_array((named.data[others], ends), shape=named.shape).tocsr()


def _runs(text: str, lengths: Mapping[str, Iterable[int]]) -> Iterator[tuple[str, ...]]:
    """Yield the runs of tokens in a text that may be names: of such a first token and length."""
    tokens, joined = _tokens(text)
    joined.append(False)  # nothing follows the last token
    for start, token in enumerate(tokens):
        for end in (start + length for length in lengths.get(token, ())):
            if end <= len(tokens) and not joined[start] and not joined[end]:
                yield tuple(tokens[start:end])


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


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("\u2019", "'")
