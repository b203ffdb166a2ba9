"""A way to learn, told to teachers and learners: in sentences, and as a map of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from proprl.arrays import IntArray
from proprl.curriculum.confirmed import SettledLabels
from proprl.curriculum.graph import LeftOut, PrerequisiteGraph
from proprl.curriculum.summary import SURE
from proprl.curriculum.way import CERTAIN, Known, Way
from proprl.data.splits.labelled import LabelledPairs

NAMED = 8
"""So many concepts are named in a sentence."""

KNOWN, LEARN, TARGET = "known already", "to learn", "target"


def known_words(names: Sequence[str], known: Known) -> list[str]:
    """Say what is taken as known because of what is known; what is doubtful one by one."""
    surely = [names[one.concept] for one in known.taken if one.sure >= SURE]
    words: list[str] = []
    if surely:
        words.append(f"Taken as known, because what is known needs it: {some_of(surely)}.")
    doubtful = [one for one in known.taken if one.sure < SURE]
    words += [
        f"{names[one.concept]} is taken as known too, less surely ({one.sure:.2f}), because "
        f"{names[one.because]} seems to need it."
        for one in doubtful[:NAMED]
    ]
    if len(doubtful) > NAMED:
        words.append(f"So are {len(doubtful) - NAMED} more, less surely; --json lists them.")
    if doubtful:
        words.append("If one of these is not known, say so with --unknown.")
    return words


def doubt_words(names: Sequence[str], way: Way, at_least: float = 0.0) -> list[str]:
    """Say what the weakest link of a way is, and what may be skipped if it does not hold."""
    if way.weakest is None:
        return ["Labels confirm every step of this way."] if len(way.steps) > 1 else []
    words = [
        f"The weakest link: {names[way.weakest.before]} is needed before "
        f"{names[way.weakest.after]}. No label says so; it is learned, with probability "
        f"{way.weakest.sure:.2f}."
    ]
    if all(step.needed >= CERTAIN for step in way.steps):
        words.append("If it does not hold, only the order is in doubt: each step is needed.")
    unsure = way.unsure()
    words += [
        f"If {names[link.before]} is not needed before {names[link.after]} after all "
        f"({link.sure:.2f}), you may skip {some_of([names[one] for one in way.without(link)])}."
        for link in unsure[:NAMED]
    ]
    if len(unsure) > NAMED:
        words.append(f"So it is with {len(unsure) - NAMED} more links; --json says which.")
    several = [s for s in way.steps if s.needed < CERTAIN and s.hangs_on is None]
    if several:
        names_of = some_of([names[step.concept] for step in several])
        words.append(
            f"Learned in more than one way to be needed, so not to be skipped: {names_of}."
        )
    essential = sum(step.needed >= SURE for step in way.steps)
    if at_least < SURE and essential < len(way.steps):
        words.append(
            f"{essential} of these {len(way.steps)} steps are surely needed: --at-least {SURE} "
            "shows them alone."
        )
    return words


def some_of(names: Sequence[str]) -> str:
    """Name the first few, and count the others.

    >>> some_of(["Limits", "Series"])
    'Limits, Series'
    >>> some_of(list("abcdefghijk"))
    'a, b, c, d, e, f, g, h, and 3 more'
    """
    more = f", and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def map_of_way(graph: PrerequisiteGraph, way: Way) -> tuple[PrerequisiteGraph, list[str]]:
    """Give the part of a map that a way goes through, and what each concept is on it.

    It holds the steps, and what is known just before them.
    """
    part = {step.concept for step in way.steps}
    part |= {before for step in way.steps for before in step.after}
    rows = sorted(part)
    known = way.known.rows
    kinds = [TARGET if i in way.targets else KNOWN if i in known else LEARN for i in rows]
    return part_of(graph, np.array(rows, dtype=np.int64)), kinds


def part_of(graph: PrerequisiteGraph, rows: IntArray) -> PrerequisiteGraph:
    """Give the map of some concepts alone (sorted): the pairs that lie among them."""
    here = np.isin(graph.pairs, rows).all(axis=1)
    follow = np.isin(graph.implied, rows).all(axis=1)
    none = LabelledPairs.empty().pairs
    return replace(
        graph,
        ids=tuple(graph.ids[i] for i in rows),
        names=tuple(graph.names[i] for i in rows),
        pairs=np.searchsorted(rows, graph.pairs[here]),
        probabilities=graph.probabilities[here],
        confirmed=graph.confirmed[here],
        implied=np.searchsorted(rows, graph.implied[follow]),
        implied_probabilities=graph.implied_probabilities[follow],
        labels=SettledLabels(none, none, none, none, none),
        implied_rejected=none,
        left_out=LeftOut(),
    )
