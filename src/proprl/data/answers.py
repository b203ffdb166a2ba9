"""Answers that people gave to questions, and the labels that follow from them.

An answer is about two concepts in the order in which they were asked about. Answers are only ever
added: a later one of the same person takes the place of an earlier one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from proprl.data.splits.labelled import ASKED, CHOSEN, DRAWN, LabelledPairs

YES, NO, REVERSED, WITHDRAWN = ANSWERS = ("yes", "no", "reversed", "withdrawn")
"""It is needed before; it is not; the other order holds; nothing is said any more."""

Pair = tuple[str, str]
"""The ids of two concepts, in order."""


class Said(NamedTuple):
    """What one person says of one ordered pair, and in which row of the answers."""

    who: str
    label: int
    row: int
    direct: bool
    """Whether the question was about this order."""


class Label(NamedTuple):
    """What all answers about an ordered pair come to, and how the pair was picked."""

    label: int
    origin: str
    chance: float | None


@dataclass(frozen=True)
class Settled:
    """What answers come to."""

    labels: dict[Pair, Label]
    disputed: dict[Pair, int]
    """Pairs that people disagree about, in the order first asked: the row of the last answer."""


def settled(answers: pl.DataFrame) -> Settled:
    """Return the labels that answers come to: everybody's last ones, where nobody disagrees.

    >>> rows = [("f", "l", "no", "ann"), ("f", "l", "yes", "ann"), ("d", "l", "reversed", "bob")]
    >>> names = ["source", "target", "answer", "who"]
    >>> found = settled(pl.DataFrame(rows, names, orient="row"))
    >>> {pair: said.label for pair, said in found.labels.items()}
    {('f', 'l'): 1, ('d', 'l'): 0, ('l', 'd'): 1}
    """
    rows = list(answers.iter_rows(named=True))
    by_two: dict[frozenset[str], dict[Pair, list[Said]]] = {}
    for pair, said in _statements(rows):
        by_two.setdefault(frozenset(pair), {}).setdefault(pair, []).append(said)
    labels: dict[Pair, Label] = {}
    disputed: dict[Pair, int] = {}
    for said_of in by_two.values():
        values = {pair: {one.label for one in said} for pair, said in said_of.items()}
        both_first = len(values) == 2 and all(1 in found for found in values.values())
        if both_first or any(len(found) > 1 for found in values.values()):
            disputed[next(iter(said_of))] = max(o.row for said in said_of.values() for o in said)
            continue
        for pair, everybody in said_of.items():
            labels[pair] = Label(everybody[0].label, *_picked(everybody, rows))
    return Settled(labels, disputed)


def _statements(rows: list[dict[str, Any]]) -> Iterator[tuple[Pair, Said]]:
    """Yield what each person says of each ordered pair in the end."""
    last: dict[tuple[str, str, str], int] = {}
    for k, row in enumerate(rows):
        key = (row["who"] or "", row["source"], row["target"])
        last.pop(key, None)  # a later answer stands behind all earlier ones
        last[key] = k
    said: dict[tuple[str, Pair], Said] = {}
    for (who, first, then), k in last.items():
        there, back, answer = (first, then), (then, first), rows[k]["answer"]
        if answer == WITHDRAWN:
            continue
        one = Said(who, int(answer == YES), k, direct=True)
        said[who, there] = one
        if answer == REVERSED:
            said[who, back] = one._replace(label=1, direct=False)
        elif answer == YES and (who, back) in said and said[who, back].label:
            del said[who, back]  # only one of two concepts comes first
    for (_, pair), one in said.items():
        yield pair, one


def _picked(said: list[Said], rows: list[dict[str, Any]]) -> tuple[str, float | None]:
    """Return the origin of an answered pair, and its chance: drawn, if it ever was."""
    for one in said:
        row = rows[one.row]
        if one.direct and row.get("origin") == DRAWN:
            return DRAWN, row["chance"]
    return ASKED, None


def answered_pairs(answers: pl.DataFrame | None, ids: Sequence[str]) -> LabelledPairs:
    """Return the answered pairs as rows of concepts; 0 where people disagree about one.

    They are what need not be asked again.
    """
    found = Settled({}, {}) if answers is None else settled(answers)
    row = {concept: k for k, concept in enumerate(ids)}
    labels = {pair: said.label for pair, said in found.labels.items()}
    labels |= dict.fromkeys(found.disputed, 0)
    pairs = [(row[first], row[then]) for first, then in labels]
    rows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return LabelledPairs(rows, np.array([*labels.values()], dtype=np.int64))


def with_answers(pairs: pl.DataFrame | None, answers: pl.DataFrame) -> pl.DataFrame:
    """Return labelled pairs as answers leave them: source, target, label; split, origin, chance.

    An answered pair has the label of the answers, one that people disagree about has none. New
    pairs are learned from; one that a split keeps apart, in either order, stays where it is.
    """
    found = settled(answers)
    labels = found.labels
    given = [] if pairs is None else list(pairs.iter_rows(named=True))
    disputed = {frozenset(pair) for pair in found.disputed}
    parts = {frozenset((row["source"], row["target"])): row.get("split") for row in given}
    usual = {"split": None, "origin": CHOSEN, "chance": None}
    kept = [usual | row for row in given if not _gives_way(row, labels, disputed)]
    kept += [
        {"source": pair[0], "target": pair[1], "split": parts.get(frozenset(pair), "train")}
        | said._asdict()
        for pair, said in labels.items()
    ]
    text, number = pl.String, pl.Float64
    schema = {"source": text, "target": text, "label": pl.Int64}
    schema |= {"split": text, "origin": text, "chance": number}
    frame = pl.DataFrame(kept, schema)
    has_split = pairs is not None and "split" in pairs.columns
    return frame if has_split else frame.drop("split")


def _gives_way(
    row: dict[str, Any], labels: dict[Pair, Label], disputed: set[frozenset[str]]
) -> bool:
    """Say whether answers take the place of a label, or people disagree about its concepts."""
    pair, back = (row["source"], row["target"]), (row["target"], row["source"])
    turned = row["label"] == 1 and back in labels and labels[back].label == 1
    return pair in labels or turned or frozenset(pair) in disputed
