"""What a person is told of one pair: first what the labels say, then what the model says."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING

import numpy as np
import rustworkx as rx

from proprl.curriculum.graph import LEARNED_FROM

if TYPE_CHECKING:
    from proprl.arrays import IntArray
    from proprl.curriculum.explanation import Answer
    from proprl.estimator import PrerequisiteModel
    from proprl.fitted import Fitted

NAMED_CHAIN = 5
"""A chain of so many concepts is named; a longer one is only counted."""


@dataclass(frozen=True)
class Verdict:
    """What is said of a pair, in words."""

    words: str
    by_labels: bool | None = None
    """Whether the known labels say yes or no; None where they leave it to the model."""


def verdict(model: PrerequisiteModel, why: Answer) -> Verdict:
    """Give what the labels say of a pair or what follows from them, else what the model says."""
    fitted, graph = model.fitted_, model.labels_alone()
    i, j = (fitted.concept_ids.index(end) for end in (why.source_id, why.target_id))
    kept = graph.labels.kept
    chain = _chain(kept, i, j)
    if [i, j] in kept.tolist():
        return Verdict(f"Yes: your label says so. {_without_label(fitted, why, (i, j))}", True)
    if [i, j] in graph.labels.rejected.tolist():
        words = f"No: your label says so. {_without_label(fitted, why, (i, j))}"
        if chain:
            words += f" Yet it follows from your other labels{_shown(chain, fitted)}."
        return Verdict(words, False)
    aside, labels = "", "your labels"
    if {(i, j), (j, i)} & {(a, b) for a, b in graph.conflicts.tolist()}:
        aside, labels = (
            "Your labels contradict each other here: the map sets some aside. ",
            "others",
        )
    if chain:
        return Verdict(f"{aside}This follows from {labels}{_shown(chain, fitted)}.", True)
    if back := _chain(kept, j, i):
        way = f" ({_arrows(back, fitted)})" if 2 < len(back) <= NAMED_CHAIN else ""
        words = f"{labels.capitalize()} already put {why.target} before {why.source}{way}"
        return Verdict(f"{aside}{words}, so this cannot hold.", False)
    return Verdict(aside + _said_by_the_model(model, why))


def _said_by_the_model(model: PrerequisiteModel, why: Answer) -> str:
    fitted, p = model.fitted_, why.probability
    if why.threshold is None:
        if len(fitted.known) and not fitted.enough:
            return "Too few labels to say yes or no."
        return f"{why.source} before {why.target}: nothing says from where on to believe it."
    believed_from = why.threshold if fitted.believed is None else LEARNED_FROM
    if p >= believed_from:
        return f"{why.source} is believed to be a prerequisite of {why.target}."
    if p >= why.threshold:
        return (
            f"{why.source} may be a prerequisite of {why.target}: {floor(100 * p) / 100:.2f} is "
            f"among the likeliest pairs, but too little for the map ({believed_from:.2f} or more)."
        )
    return f"{why.source} is not believed to be a prerequisite of {why.target}."


def _without_label(fitted: Fitted, why: Answer, pair: tuple[int, int]) -> str:
    """Say what the model makes of a labelled pair, if possible without having seen the label."""
    held_out, calibration = fitted.fit.held_out, fitted.fit.calibration
    if held_out is not None and calibration is not None:
        place = np.flatnonzero((held_out.labels.pairs == pair).all(axis=1))[:1]
        if len(place):
            said = float(calibration.probability(held_out.scores[place])[0])
            return f"(Without it the model would say {said:.2f}.)"
    return f"(The model, which knows it, says {why.probability:.2f}.)"


def _chain(kept: IntArray, i: int, j: int) -> list[int]:
    """Give the shortest chain of confirmed labels from i to j; empty if there is none."""
    graph: rx.PyDiGraph[None, None] = rx.PyDiGraph()
    graph.extend_from_edge_list([(a, b) for a, b in kept.tolist()])
    if max(i, j) >= len(graph):
        return []
    ways = rx.dijkstra_shortest_paths(graph, i, target=j)
    return list(ways[j]) if j in ways else []


def _shown(chain: list[int], fitted: Fitted) -> str:
    if len(chain) > NAMED_CHAIN:
        return f", in {len(chain) - 1} steps"
    return f": {_arrows(chain, fitted)}"


def _arrows(chain: list[int], fitted: Fitted) -> str:
    return " → ".join(fitted.concept_names[row] for row in chain)
