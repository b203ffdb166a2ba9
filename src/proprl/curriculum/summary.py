"""What a map holds, what it adds to the labels, and how sure that is: in numbers and sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import floor, log10

import numpy as np
import rustworkx as rx

from proprl.arrays import IntArray
from proprl.curriculum.graph import Edge, PrerequisiteGraph, labels_alone_of, support_of
from proprl.data.splits.labelled import DRAWN, pair_codes
from proprl.features.gather import NONE
from proprl.features.reader import NOBODY
from proprl.fitted import Fitted
from proprl.graphs.closure import what_follows

SURE = 0.8
"""The model is sure of a pair from this probability on: four in five should come true."""
NAMED = 3
"""So many labels that contradict each other are named."""


def names_apart(ids: Sequence[str], names: Sequence[str]) -> list[str]:
    """Give each concept's name, with its id where several share the name.

    >>> names_apart(["a", "b", "c"], ["Graphs", "Graphs", "Trees"])
    ['Graphs (a)', 'Graphs (b)', 'Trees']
    """
    often = Counter(names)
    return [
        f"{name} ({i})" if often[name] > 1 else name for i, name in zip(ids, names, strict=True)
    ]


def told_apart(graph: PrerequisiteGraph) -> list[Edge]:
    """Give the edges; concepts that share a name are told apart by their ids."""
    shown = dict(zip(graph.ids, names_apart(graph.ids, graph.names), strict=True))
    return [
        replace(edge, source=shown[edge.source_id], target=shown[edge.target_id]) for edge in graph
    ]


def sure_of(fitted: Fitted, graph: PrerequisiteGraph) -> list[Edge]:
    """Give all learned prerequisites of the map that deserve it, strongest first, perhaps none.

    Where nothing says how rare prerequisites are, no probability of the map can be trusted.
    """
    if fitted.expected is None:
        return []
    labelled = {
        (fitted.concept_ids[i], fitted.concept_ids[j])
        for part in fitted.parts.values()
        for i, j in part.pairs.tolist()
    }
    return [
        edge
        for edge in told_apart(graph)
        if not edge.confirmed
        and edge.probability >= SURE
        and (edge.source_id, edge.target_id) not in labelled
    ]


def expected_words(fitted: Fitted) -> list[str]:
    """Say how many prerequisites there are where no label says so, and how sure that is."""
    expected = fitted.expected
    if expected is None:
        return [
            "How many prerequisites there are in the whole course cannot be told; what is worth "
            "knowing of this model says why."
        ]
    low, high = about(expected.low), about(expected.high)
    words = [
        f"About {about(expected.number)} prerequisites, most likely between {low} and {high}, are "
        f"expected among the {expected.open_pairs:,} pairs that no label settles.",
        "A pair is settled if it has a label in either order, or if it or its reverse follows "
        "from confirmed labels.",
    ]
    draw = "these pairs by lot and label them, whatever they are"
    if DRAWN not in fitted.known.origin:
        words[0] += (
            " This is a rough estimate from labels that people chose, and may be several times off."
        )
        words.append(
            f"Only pairs drawn by lot can tell: draw some of {draw}; in the table of pairs their "
            "origin is “drawn”."
        )
    elif expected.high > 4 * max(expected.low, 1):
        words.append(f"The range is wide. To narrow it, draw more of {draw}.")
    return words


def map_counts(graph: PrerequisiteGraph) -> dict[str, int]:
    """Count what a map holds, in words for people."""
    n = len(graph.ids)
    return {
        "Steps from one concept to the next": len(graph),
        "of these, learned": int((~graph.confirmed).sum()),
        "Pairs put in order, by one step or several": int(what_follows(n, graph.pairs).sum()),
        "Concepts that nothing is connected with": n - len(np.unique(graph.pairs)),
    }


def label_words(fitted: Fitted, graph: PrerequisiteGraph) -> list[str]:
    """Say what became of the labels in a map."""
    kept, steps = len(graph.labels.kept), int(graph.confirmed.sum())
    words = [
        f"{_count(kept, 'confirmed label')} in the map: {steps:,} as steps of their own, "
        f"{kept - steps:,} by following from smaller steps."
    ]
    if test := len(fitted.split.test):
        used = "was" if test == 1 else "were"
        words.append(
            f"{_count(test, 'label')} kept apart as a test, and {used} not used for the map."
        )
    return words


def learned_words(fitted: Fitted, graph: PrerequisiteGraph) -> list[str]:
    """Say what a map adds to the labels, and what was left out."""
    learned, words = graph.probabilities[~graph.confirmed], []
    if len(learned):
        low, high = f"{learned.min():.2f}", f"{learned.max():.2f}"
        words.append(f"{_count(len(learned), 'step')} learned, with probabilities {low} to {high}.")
        if fitted.expected is None:
            words[-1] += " Of a whole map these do not hold: far fewer may be right."
        else:
            words[-1] += f" If these hold, expect about {about(learned.sum())} of them to be right."
        words += _learned_test_words(fitted, graph)
    left_out = graph.left_out
    reasons = [
        f"{count:,} because {why}"
        for count, why in (
            (left_out.cycle, "they would close a circle"),
            (left_out.rejected, "a pair that you rejected would follow"),
        )
        if count
    ]
    if not len(learned):
        why_not = "" if reasons else ": no pair without a label is likely enough"
        words.append(f"Nothing is learned{why_not}.")
    if reasons:
        words.append(f"Left out, though likely enough: {', and '.join(reasons)}.")
        best = "No other choice of learned steps is worth more."
        if graph.gap:
            best = f"A better choice of learned steps is worth at most {graph.gap:.1%} more."
        words += [best] if len(learned) else []
    return words


def _learned_test_words(fitted: Fitted, graph: PrerequisiteGraph) -> list[str]:
    """Say how many learned steps are labels of the test part, and what these say."""
    test, learned = fitted.split.test.distinct(), graph.pairs[~graph.confirmed]
    answers = test.labels[np.isin(pair_codes(test.pairs), pair_codes(learned))]
    if not len(answers):
        return []
    yes = int(answers.sum())
    are = "is a label" if len(answers) == 1 else "are labels"
    says = "says" if yes == 1 else "say"
    return [f"{len(answers)} of them {are} kept apart as a test: {yes} {says} yes."]


def contradictions(fitted: Fitted) -> list[str]:
    """Say which known labels contradict each other: how many, and the first of them by name."""
    graph = labels_alone_of(fitted)
    names = names_apart(graph.ids, graph.names)

    def shown(pairs: IntArray) -> str:
        first = [f"{names[i]} → {names[j]}" for i, j in pairs[:NAMED].tolist()]
        return ", ".join(first) + (", ..." if len(pairs) > NAMED else ".")

    words = []
    if aside := len(graph.conflicts):
        what = (
            "label contradicts others and is" if aside == 1 else "labels contradict others and are"
        )
        words.append(f"{aside:,} {what} set aside in the map: {shown(graph.conflicts)}")
    words += circles(graph, weakest=support_of(fitted) is not None)[:NAMED]
    if implied := len(graph.implied_rejected):
        what = "label says no, yet it follows" if implied == 1 else "labels say no, yet they follow"
        words.append(
            f"{implied:,} {what} from labels that say yes: {shown(graph.implied_rejected)}"
        )
    return words


def circles(graph: PrerequisiteGraph, *, weakest: bool) -> list[str]:
    """Say of each label that closes a circle with others which circle that is.

    `weakest` says that the labels set aside have the least support.
    """
    names = names_apart(graph.ids, graph.names)
    kept = rx.PyDiGraph()
    kept.add_nodes_from(names)
    kept.add_edges_from_no_data([(i, j) for i, j in graph.labels.kept.tolist()])
    words = []
    for i, j in graph.labels.cyclic.tolist():
        way = list(rx.dijkstra_shortest_paths(kept, j, target=i)[i])
        first, *rest = pairwise([names[k] for k in (i, *way)])
        said = [f"{first[0]} is needed before {first[1]}"]
        said += [f"{before} before {after}" for before, after in rest]
        why = "has the least support" if weakest else "is set aside"
        words.append(f"{', '.join(said)}; the label {names[i]} → {names[j]} {why}.")
    return words


def kinds_used(fitted: Fitted) -> list[str]:
    """Name the kinds of evidence that the model used."""
    texts = [] if fitted.encoder == NONE else [f"texts ({fitted.encoder})"]
    reader = fitted.settings.read_by
    read = [] if reader == NOBODY else [f"places in a curriculum ({reader})"]
    views = {"resource": "resources", "behaviour": "behaviour"}
    return [*texts, *read, *(views[view] for view in fitted.report.views)]


def kinds_missing(fitted: Fitted) -> list[str]:
    """Name the kinds of evidence that the course lacks."""
    views = {"resource": "resources that hold concepts", "behaviour": "learner behaviour"}
    return [views[view] for view in fitted.report.missing_views]


def about(number: float) -> str:
    """Give a number with no more digits than an estimate deserves.

    >>> about(1234.5), about(241.3), about(7.6)
    ('1,200', '240', '8')
    """
    digits = max(0, floor(log10(max(number, 1))) - 1)
    return f"{round(number, -digits):,.0f}"


def _count(count: int, word: str) -> str:
    """Give "1 label is" or "2 labels are".

    >>> _count(1, "label"), _count(1200, "label")
    ('1 label is', '1,200 labels are')
    """
    return f"{count:,} {word}{' is' if count == 1 else 's are'}"
