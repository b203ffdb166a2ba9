"""What every format holds: the concepts of a map, and its prerequisites with a reason each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from proprl.arrays import IntArray, SparseMatrix
from proprl.curriculum.graph import PrerequisiteGraph
from proprl.curriculum.summary import names_apart
from proprl.data.splits.labelled import pair_codes
from proprl.fitted import Fitted

CONFIRMED, LEARNED, IMPLIED = "confirmed", "learned", "implied"


@dataclass(frozen=True)
class Concept:
    """A concept of the map."""

    id: str
    name: str
    topic: str
    """ "" where it has none."""


@dataclass(frozen=True)
class Prerequisite:
    """Learn `source` before `target`; both are places in the list of concepts."""

    source: int
    target: int
    probability: float
    """What the model says, also of a confirmed one."""
    status: str
    """`confirmed` by a label, `learned`, or `implied`: it follows from other prerequisites."""
    reason: str
    """A sentence."""


@dataclass(frozen=True)
class Content:
    """A map for other tools: all concepts, and the steps before what follows from them."""

    course: str
    concepts: tuple[Concept, ...]
    prerequisites: tuple[Prerequisite, ...]


def content_of(fitted: Fitted, graph: PrerequisiteGraph, topics: Sequence[str]) -> Content:
    """Give what there is to export of a map."""
    steps, implied = len(graph.pairs), len(graph.implied)
    pairs = np.vstack([graph.pairs, graph.implied])
    p = np.concatenate([graph.probabilities, graph.implied_probabilities]).tolist()
    by_label = np.isin(pair_codes(pairs), pair_codes(graph.labels.kept)).tolist()
    moves, shared = _moves(fitted.transitions, pairs), _shared(fitted.incidence, pairs)
    names = names_apart(graph.ids, graph.names)
    found = [
        Prerequisite(
            i,
            j,
            p[k],
            IMPLIED if k >= steps else CONFIRMED if by_label[k] else LEARNED,
            _reason((names[i], names[j]), p[k], by_label[k], k >= steps, (moves[k], shared[k])),
        )
        for k, (i, j) in enumerate(pairs.tolist()[: steps + implied])
    ]
    concepts = zip(graph.ids, graph.names, topics, strict=True)
    return Content(
        fitted.course_name, tuple(Concept(*concept) for concept in concepts), tuple(found)
    )


def _reason(
    names: tuple[str, str], p: float, by_label: bool, implied: bool, seen: tuple[str, str]
) -> str:
    """Say in a sentence what a prerequisite rests on, and what the course shows of it."""
    why = "a label confirms it" if by_label else f"learned, with probability {p:.2f}"
    follows = "it follows from smaller steps" if implied else ""
    said = "; ".join(filter(None, (why, follows, *seen)))
    return f"{names[0]} is needed before {names[1]}: {said}."


def _moves(transitions: SparseMatrix | None, pairs: IntArray) -> list[str]:
    """Say for each pair how often learners went on directly, if they did."""
    if transitions is None:
        return [""] * len(pairs)
    B = csr_array(transitions)
    there, back = (np.asarray(B[pairs[:, k], pairs[:, 1 - k]]).ravel() for k in (0, 1))
    return [
        f"learners went on directly {one:g} times, and back {other:g} times" if one else ""
        for one, other in zip(there.tolist(), back.tolist(), strict=True)
    ]


def _shared(incidence: SparseMatrix | None, pairs: IntArray) -> list[str]:
    """Say for each pair how many resources hold both concepts, if any does."""
    if incidence is None:
        return [""] * len(pairs)
    M = csr_array(incidence)
    counts = (M[pairs[:, 0]] * M[pairs[:, 1]]).sum(axis=1).astype(int).tolist()
    return [
        f"{n} resource{'' if n == 1 else 's'} hold{'s' if n == 1 else ''} both" if n else ""
        for n in counts
    ]
