"""What a person is shown of a course's resources: titles, and sentences that mention concepts."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter

import polars as pl

from proprl.arrays import SparseMatrix
from proprl.data.course import BETWEEN, Course, title_and_text
from proprl.data.mentions import Mention, Places, find_mentions, plain
from proprl.progress import SILENT, Progress

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


@dataclass(frozen=True, eq=False)
class Resources:
    """Ids and titles of m resources, and the sentences in which they mention concepts."""

    ids: tuple[str, ...]
    titles: tuple[str, ...]
    sentences: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """By row of the concept and row of the resource; links without a mention have none."""

    def sentence(self, concept_row: int, resource_row: int) -> str:
        """Give the sentence in which a resource mentions a concept; "" where there is none."""
        return self.sentences.get((concept_row, resource_row), "")

    def without_texts(self) -> Resources:
        """Give ids and titles alone."""
        return replace(self, sentences={})


def resources_of(
    course: Course, incidence: SparseMatrix | None, progress: Progress = SILENT
) -> Resources | None:
    """Give a course's resources with a sentence for each link; None without links.

    It is the first sentence of the text that mentions the concept, else the title.
    """
    if course.resources is None or incidence is None:
        return None
    progress.begin("sentences", 1)
    found = _sentences(course, course.resources, incidence)
    progress.step()
    progress.end()
    return Resources(
        tuple(course.resources["id"]), tuple(course.resources["title"]), dict(sorted(found.items()))
    )


def _sentences(
    course: Course, resources: pl.DataFrame, incidence: SparseMatrix
) -> dict[tuple[int, int], str]:
    """Give the sentence of each link of a concept and a resource that mentions it."""
    linked = incidence.tocsc()
    titles, texts = resources["title"].to_list(), title_and_text(resources)
    found: dict[tuple[int, int], str] = {}
    for column, mentions in groupby(find_mentions(course.names, texts), key=attrgetter("text")):
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
