"""Which resources mention which concepts by name, where, and in which sentence.

A text and a name are cut into the same tokens, and a name is mentioned where its tokens stand in
a row. Words are compared without case. A hyphen inside a word counts as a space, so "k means"
mentions "K-means"; but "means" is not mentioned in "k-means", which is a longer word. Other
punctuation is a token of its own: "limits. Derivatives" does not mention "limits derivatives".
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

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


# Nothing that stands before one of these characters changes what normalising makes of it.
_APART = "\\x00-\\x7f\\s\u3002\u3400-\u4dbf\u4e00-\u9fff"
_PIECE = re.compile(rf"[{_APART}]+(?=[{_APART}]|\Z)|\s+|[{_APART}]?[^{_APART}]+")


class Mention(NamedTuple):
    """One name in one text, and where it begins and ends in the text as `plain` gives it."""

    name: int
    text: int
    start: int
    end: int


BETWEEN = "\n.\n"
"""Between a title and a text: no name is found half in one, half in the other."""
MOST = 300
"""A sentence is shown by so many characters at most."""

# Where a new sentence begins: after a full stop and a space, unless a small letter comes next or
# an initial, "e.g." or the like stood before; after marks of other scripts; with a new paragraph
# or the next line of a list.
_BEGINS = re.compile(
    r"(?<!\b[^\W\d_])(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bcf)(?<!\bDr)(?<!\bMr)(?<!\bFig)"
    r"\.+[\"'”’)\]]*\s+(?=[^\sa-z])"
    r"|[!?…]+[\"'”’)\]]*\s+(?=[^\sa-z])"
    r"|[。！？।॥؟۔]+[”』」’]*\s*"
    r"|\n\s*\n\s*|\n\s*(?=[-*•]\s)"
)
# Control characters, and those without a meaning that lists in slides begin with.
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ue000-\uf8ff]+")


def find_mentions(names: Sequence[str], texts: Iterable[str]) -> Iterator[Mention]:
    """Yield every mention of a name in a text, text by text, by rising start.

    >>> [mention[2:] for mention in find_mentions(["Set"], ["A set is no subset."])]
    [(2, 5)]
    """
    rows_of: dict[tuple[str, ...], list[int]] = {}
    lengths: dict[str, set[int]] = {}  # first token → lengths of names that begin so
    for row, name in enumerate(names):
        tokens = tuple(_tokens(name)[0])
        if tokens:
            rows_of.setdefault(tokens, []).append(row)
            lengths.setdefault(tokens[0], set()).add(len(tokens))
    for column, text in enumerate(texts):
        for run, start, end in _runs(text, lengths):
            for row in rows_of.get(run, ()):
                yield Mention(row, column, start, end)


def mention_incidence(names: Sequence[str], texts: Sequence[str]) -> SparseMatrix:
    """Return which names each text mentions: (names × texts), 1 where it does.

    >>> mention_incidence(["Set", "C++", "C"], ["Subsets in C++.", "A set."]).toarray()
    array([[0., 1.],
           [1., 0.],
           [0., 0.]])
    """
    mentions = {(mention.name, mention.text) for mention in find_mentions(names, texts)}
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


def _runs(
    text: str, lengths: Mapping[str, Iterable[int]]
) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Yield the runs of tokens that may be names, by first token and length, and their ends."""
    tokens, joined, ends = _tokens(text)
    joined.append(False)  # nothing follows the last token
    for first, token in enumerate(tokens):
        for after in (first + length for length in lengths.get(token, ())):
            if after <= len(tokens) and not joined[first] and not joined[after]:
                yield tuple(tokens[first:after]), ends[first][0], ends[after - 1][1]


def _tokens(text: str) -> tuple[list[str], list[bool], list[tuple[int, int]]]:
    """Return the tokens, whether a hyphen joins each to the one before, and where each stands."""
    tokens: list[str] = []
    joined: list[bool] = []
    ends: list[tuple[int, int]] = []
    after_hyphen = False
    for match in _TOKEN.finditer(plain(text)):
        if match.lastgroup == "hyphen":
            after_hyphen = True
        else:
            tokens.append(match[0].casefold())
            joined.append(after_hyphen)
            ends.append(match.span())
            after_hyphen = False
    return tokens, joined, ends


def plain(text: str) -> str:
    """Return a text as it is compared: characters that mean the same are the same."""
    return unicodedata.normalize("NFKC", text).replace("\u2019", "'")


class Places:
    """Where in a text stands what stands in it made plain: "x²" is "x2" there, and "…" is "...".

    >>> "a … set"[slice(*Places("a … set").of(6, 9))]
    'set'
    """

    def __init__(self, text: str) -> None:
        self._pieces = [(0, 0, len(text), True)]  # start in plain, start and end in text, same size
        if unicodedata.is_normalized("NFKC", text):
            return
        self._pieces, at = [], 0
        for match in _PIECE.finditer(text):
            size = len(plain(match[0]))
            self._pieces.append((at, *match.span(), size == len(match[0])))
            at += size

    def of(self, start: int, end: int) -> tuple[int, int]:
        """Return start and end in the text; never less than what they hold in plain."""
        first, last = self._piece(start), self._piece(end - 1)
        return (
            first[1] + (start - first[0]) * first[3],
            last[1] + end - last[0] if last[3] else last[2],
        )

    def _piece(self, place: int) -> tuple[int, int, int, bool]:
        return self._pieces[bisect_right(self._pieces, place, key=lambda piece: piece[0]) - 1]


def mentioning_sentences(
    names: Sequence[str], titles: Sequence[str], texts: Sequence[str], incidence: SparseMatrix
) -> dict[tuple[int, int], str]:
    """Give the sentence of each link of a concept and a resource that mentions it.

    It is the first one of the text behind the title, else the title.
    """
    linked = incidence.tocsc()
    found: dict[tuple[int, int], str] = {}
    for column, mentions in groupby(find_mentions(names, texts), key=attrgetter("text")):
        concepts = linked.indices[linked.indptr[column] : linked.indptr[column + 1]]
        place_of = _chosen(mentions, set(concepts.tolist()), len(plain(titles[column])))
        if not place_of:
            continue
        text, places = texts[column], Places(texts[column])
        begins = _beginnings(text, len(titles[column]))
        for concept, place in place_of.items():
            start, end = places.of(*place)
            first = begins[bisect_right(begins, start) - 1]
            last = begins[bisect_left(begins, end)]
            sentence = shortened(text[first:last], start - first, end - first)
            if sentence:  # nothing is left of a name that is made of control characters
                found[concept, column] = sentence
    return found


def _beginnings(text: str, end_of_title: int) -> list[int]:
    """Give where sentences begin in a title and a text, and where the last one ends."""
    within = [match.end() for match in _BEGINS.finditer(text)]
    return sorted([0, end_of_title, end_of_title + len(BETWEEN), *within, len(text)])


def _chosen(
    mentions: Iterable[Mention], concepts: set[int], end_of_title: int
) -> dict[int, tuple[int, int]]:
    """Give the first mention of each of these concepts after the title; else that in the title."""
    places: dict[int, tuple[int, int]] = {}
    in_title: dict[int, tuple[int, int]] = {}
    for concept, _, start, end in mentions:
        if concept in concepts:
            (in_title if end <= end_of_title else places).setdefault(concept, (start, end))
    return in_title | places


def shortened(text: str, start: int, end: int, most: int = MOST) -> str:
    """Give a text on one line, or the part of it around a place, cut between words.

    >>> shortened("Few people know that a set has  no order at all.", 21, 26, most=30)
    '… know that a set has no …'
    """
    before, named, after = (
        _BLANK.sub(" ", part) for part in (text[:start], text[start:end], text[end:])
    )
    before, after = before.lstrip(), after.rstrip()
    if len(before) + len(named) + len(after) <= most:
        return on_one_line(before + named + after)
    room = most - len(named) - len("… ") - len(" …")
    if room < 0:
        return on_one_line(_begin(named.strip(), most - len(" …")) + " …")
    ahead = min(len(before), max(room // 2, room - len(after)))
    cut_before = before if len(before) <= ahead else "… " + _begin(before[::-1], ahead)[::-1]
    behind = room - ahead
    cut_after = after if len(after) <= behind else _begin(after, behind) + " …"
    return on_one_line(cut_before + named + cut_after)


def on_one_line(text: str) -> str:
    """Give a text without line breaks, control characters and space around it."""
    return _BLANK.sub(" ", text).strip()


def _begin(text: str, most: int) -> str:
    """Give the whole words at the beginning of a text; letters where no word ends in time."""
    if len(text) <= most:
        return text
    kept = text[: most + 1].rpartition(" ")[0]
    return kept if kept or text[:1] == " " or most <= 0 else text[:most]
