"""From labels and scored pairs to an acyclic prerequisite graph that people can follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from proprl.arrays import FloatArray, IntArray
from proprl.curriculum.acyclic import SECONDS, Problem, best_choice
from proprl.curriculum.all_pairs import strongest_pairs
from proprl.curriculum.candidates import (
    NO_LIMIT,
    Budget,
    believed_pairs,
    check_candidates,
    contradicts,
)
from proprl.curriculum.confirmed import SettledLabels, settle_labels
from proprl.data.splits.labelled import LabelledPairs, pair_codes
from proprl.errors import ProprlError
from proprl.fitted import Fitted
from proprl.graphs.closure import BoolArray, closure_and_steps
from proprl.progress import SILENT, Progress

if TYPE_CHECKING:
    import networkx as nx

LEARNED_FROM = 0.35
"""From this probability on a pair may become an edge of the graph.

Chosen on the development halves of two maps. With a lower one more is found there, and fewer
edges are right; with a higher one the F1 of what follows falls.
"""


@dataclass(frozen=True)
class Edge:
    """One prerequisite: learn `source` before `target`."""

    source: str
    target: str
    probability: float
    """What the model says; 1 for a confirmed pair about which it says nothing."""
    source_id: str = ""
    target_id: str = ""
    confirmed: bool = False
    """Whether a label says so."""


@dataclass(frozen=True)
class LeftOut:
    """How many candidates at or above the threshold are not in the graph, and why."""

    cycle: int = 0
    """They would close a cycle with labels and stronger edges."""
    rejected: int = 0
    """With labels and stronger edges they would imply a pair that a person rejected."""


@dataclass(frozen=True, repr=False, eq=False)
class PrerequisiteGraph:
    """An acyclic graph of prerequisites, without edges that follow from others.

    A confirmed pair is left out only if it follows from other confirmed pairs: what a person said
    does not give way to what was learned.
    """

    ids: tuple[str, ...]
    names: tuple[str, ...]
    pairs: IntArray  # (m, 2), by falling probability
    probabilities: FloatArray  # (m,), 1 for a confirmed pair without a probability
    confirmed: BoolArray  # (m,), whether a label says so
    implied: IntArray  # (k, 2)
    """Confirmed and learned pairs that are no edges, because they follow from edges."""
    implied_probabilities: FloatArray  # (k,)
    labels: SettledLabels
    """What the labels say: the pairs kept, rejected, and in conflict."""
    implied_rejected: IntArray  # (r, 2)
    """Rejected pairs that follow all the same: the confirmed ones alone imply them."""
    left_out: LeftOut
    threshold: float
    """Learned pairs have at least this probability."""
    gap: float
    """A better choice of learned pairs holds at most this share more of their worth."""

    def __repr__(self) -> str:
        return f"PrerequisiteGraph({len(self)} prerequisites among {len(self.ids)} concepts)"

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Edge]:
        ids, names = self.ids, self.names
        columns = (self.pairs.tolist(), self.probabilities.tolist(), self.confirmed.tolist())
        for (i, j), p, confirmed in zip(*columns, strict=True):
            yield Edge(names[i], names[j], p, ids[i], ids[j], confirmed)

    @property
    def conflicts(self) -> IntArray:
        """Labelled pairs set aside because they contradict each other; `labels` says how."""
        return self.labels.conflicts

    @property
    def dropped(self) -> int:
        """How many candidates were left out because they would close a cycle."""
        return self.left_out.cycle

    def path_to(
        self, target: str | Sequence[str], known: Sequence[str] = (), *, at_least: float = 0.0
    ) -> list[str]:
        """Give the concepts to learn, in order, to reach one target or several from what is known.

        Whoever knows a concept is taken to know its prerequisites too. What is needed less surely
        than `at_least` is left out.
        """
        from proprl.curriculum.ways import Ways

        ways = Ways(self)
        have = ways.known(known).rows
        goals = [target] if isinstance(target, str) else target
        new = [self.ids[row] for row in ways.rows(goals) if row not in have]
        steps = ways.way_to(new, known, at_least=at_least).steps
        return [self.names[step.concept] for step in steps]

    def ready_for(self, known: Sequence[str] = ()) -> list[str]:
        """Give what can be learned next from what is known, what most concepts need first."""
        from proprl.curriculum.ways import Ways

        ways = Ways(self)
        return [self.names[one.concept] for one in ways.ready(ways.known(known))]

    def to_networkx(self) -> nx.DiGraph:
        """Give the graph with ids as nodes, because two concepts may have one name.

        A node has the attribute `name`, an edge `probability` and `confirmed`.
        """
        import networkx as nx

        graph = nx.DiGraph()
        for concept, name in zip(self.ids, self.names, strict=True):
            graph.add_node(concept, name=name)
        for edge in self:
            graph.add_edge(
                edge.source_id,
                edge.target_id,
                probability=edge.probability,
                confirmed=edge.confirmed,
            )
        return graph


def prerequisite_graph(
    ids: Sequence[str],
    names: Sequence[str],
    labelled: LabelledPairs,
    pairs: IntArray,
    probabilities: FloatArray,
    *,
    threshold: float,
    budget: Budget = NO_LIMIT,
    support: FloatArray | None = None,
    seconds: float = SECONDS,
) -> PrerequisiteGraph:
    """Give the graph of the labels, and of the candidates that are worth most beside them.

    Confirmed pairs that are not in conflict (see `settle_labels`) follow from it; a rejected pair
    only if those alone imply it. A candidate is worth what its log-odds exceed the threshold's by.
    Edges that follow from others are taken out, confirmed ones only if confirmed ones imply them.

    >>> labelled = LabelledPairs(np.array([[0, 1], [0, 3]]), np.array([1, 0]))
    >>> pairs = np.array([[1, 2], [2, 0], [2, 3], [0, 2]])
    >>> p = np.array([0.9, 0.8, 0.7, 0.6])
    >>> graph = prerequisite_graph("abcd", "ABCD", labelled, pairs, p, threshold=0.5)
    >>> [(edge.source, edge.target, edge.probability, edge.confirmed) for edge in graph]
    [('A', 'B', 1.0, True), ('B', 'C', 0.9, False)]
    """
    n = len(ids)
    check_candidates(n, pairs, probabilities, threshold)
    labels = settle_labels(n, labelled, support)
    known, confirmed_steps = closure_and_steps(n, labels.kept)
    implied = known[tuple(labels.rejected.T)]
    no = labels.rejected[~implied]
    candidates, weights = believed_pairs(pairs, probabilities, threshold)
    new = ~known[tuple(candidates.T)]
    agrees = new & ~contradicts(known, no)[tuple(candidates.T)]
    within = np.flatnonzero(agrees)[budget.allows(candidates[agrees])]
    problem = Problem(n, labels.kept, no, candidates[within], weights[within])
    choice = best_choice(problem, seconds=seconds)

    edges = np.vstack([labels.kept, problem.pairs[choice.kept]])
    reach, steps = closure_and_steps(n, edges)
    steps[: len(labels.kept)] = confirmed_steps
    refused = np.vstack([candidates[new & ~agrees], problem.pairs[~choice.kept]])
    cycles = int(reach[refused[:, 1], refused[:, 0]].sum())
    p = _probabilities_of(edges, pairs, probabilities)
    order = np.lexsort((pair_codes(edges), -p))
    steps, edges, p = steps[order], edges[order], p[order]
    return PrerequisiteGraph(
        ids=tuple(ids),
        names=tuple(names),
        pairs=edges[steps],
        probabilities=p[steps],
        confirmed=(order < len(labels.kept))[steps],
        implied=edges[~steps],
        implied_probabilities=p[~steps],
        labels=labels,
        implied_rejected=labels.rejected[implied],
        left_out=LeftOut(cycles, len(refused) - cycles),
        threshold=threshold,
        gap=choice.gap(problem),
    )


def map_of(
    fitted: Fitted,
    *,
    threshold: float | None = None,
    budget: Budget = NO_LIMIT,
    progress: Progress = SILENT,
) -> PrerequisiteGraph:
    """Give the graph of a model: of its known labels, and of what it learned from them.

    Labels of the test part are not in it. Learned edges have at least the probability
    `threshold`; without one it is `LEARNED_FROM`, where the model knows what to believe.
    """
    if threshold is None and fitted.believed is None:
        raise ProprlError(
            "nothing says from which probability on a pair of the whole map can be believed. "
            f"{' '.join(fitted.notes)} To draw a map all the same, give a threshold, such as "
            "graph(threshold=0.9)"
        )
    if threshold is None:
        threshold = LEARNED_FROM
    pairs, probabilities = strongest_pairs(fitted, threshold=threshold, progress=progress)
    confirmed = fitted.known.positives  # for what the model says of them, however little
    return prerequisite_graph(
        fitted.concept_ids,
        fitted.concept_names,
        fitted.known,
        np.vstack([pairs, confirmed]),
        np.concatenate([probabilities, fitted.fit.score(confirmed)]),
        threshold=threshold,
        budget=budget,
        support=support_of(fitted),
    )


def support_of(fitted: Fitted) -> FloatArray | None:
    """Give how likely each known label's pair is by the other labels; None if nothing says so."""
    held_out = fitted.fit.held_out
    if held_out is None or fitted.fit.calibration is None or held_out.labels != fitted.known:
        return None
    return fitted.fit.calibration.probability(held_out.scores)


def labels_alone(
    ids: Sequence[str],
    names: Sequence[str],
    labelled: LabelledPairs,
    support: FloatArray | None = None,
) -> PrerequisiteGraph:
    """Give the graph of the confirmed labels, without any model.

    >>> labelled = LabelledPairs(np.array([[0, 1], [1, 2], [0, 2]]), np.array([1, 1, 1]))
    >>> [(edge.source, edge.target) for edge in labels_alone("abc", "ABC", labelled)]
    [('A', 'B'), ('B', 'C')]
    """
    nothing = LabelledPairs.empty().pairs
    return prerequisite_graph(
        ids, names, labelled, nothing, np.zeros(0), threshold=1, support=support
    )


def labels_alone_of(fitted: Fitted) -> PrerequisiteGraph:
    """Give the graph of a model's known labels, without what was learned from them."""
    return labels_alone(fitted.concept_ids, fitted.concept_names, fitted.known, support_of(fitted))


def acyclic_graph(
    ids: Sequence[str],
    names: Sequence[str],
    pairs: IntArray,
    probabilities: FloatArray,
    *,
    threshold: float,
) -> PrerequisiteGraph:
    """Give the graph of the candidate pairs alone, without any label."""
    return prerequisite_graph(
        ids, names, LabelledPairs.empty(), pairs, probabilities, threshold=threshold
    )


def _probabilities_of(edges: IntArray, pairs: IntArray, probabilities: FloatArray) -> FloatArray:
    """Return the highest probability given to each edge, 1 without any."""
    by_code = np.argsort(pair_codes(edges))
    wanted, codes = pair_codes(edges)[by_code], pair_codes(pairs)
    given = np.flatnonzero(np.isin(codes, wanted))
    highest = np.full(len(edges), -np.inf)
    np.maximum.at(highest, by_code[np.searchsorted(wanted, codes[given])], probabilities[given])
    return np.where(np.isneginf(highest), 1.0, highest)
