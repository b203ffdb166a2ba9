"""What a prerequisite graph looks like as a whole: levels, starts, bottlenecks, topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import numpy as np

from proprl.arrays import IntArray
from proprl.curriculum.graph import PrerequisiteGraph
from proprl.curriculum.summary import names_apart
from proprl.graphs.closure import BoolArray, closure_and_steps


@dataclass(frozen=True, eq=False)
class Structure:
    """What follows from a graph's edges, counted for each concept."""

    graph: PrerequisiteGraph

    @cached_property
    def follows(self) -> BoolArray:
        """Whether the column's concept needs the row's, by one step or several: n × n."""
        return closure_and_steps(len(self.graph.ids), self.graph.pairs)[0]

    @cached_property
    def needed_for(self) -> IntArray:
        """For how many concepts each one is needed: (n,)."""
        return np.asarray(self.follows.sum(axis=1))

    @cached_property
    def needs(self) -> IntArray:
        """How many concepts each one needs: (n,)."""
        return np.asarray(self.follows.sum(axis=0))

    @cached_property
    def level(self) -> IntArray:
        """How many steps the longest way to each concept has: (n,)."""
        level = np.zeros(len(self.graph.ids), dtype=np.int64)
        # Whoever needs more concepts stands later: a source needs fewer than its target.
        for i, j in self.graph.pairs[np.argsort(self.needs[self.graph.pairs[:, 1]])].tolist():
            level[j] = max(level[j], level[i] + 1)
        return level

    @property
    def alone(self) -> IntArray:
        """The concepts without any edge."""
        return np.flatnonzero((self.needs == 0) & (self.needed_for == 0))

    @property
    def starts(self) -> IntArray:
        """The concepts that need nothing and are needed, those needed for most first."""
        starts = np.flatnonzero((self.needs == 0) & (self.needed_for > 0))
        return self._most_needed(starts)

    @property
    def bottlenecks(self) -> IntArray:
        """The concepts between others, those first that most pairs have on their way."""
        between = self.needs * self.needed_for
        order = np.argsort(-between, kind="stable")
        return order[between[order] > 0]

    def _most_needed(self, concepts: IntArray) -> IntArray:
        return concepts[np.argsort(-self.needed_for[concepts], kind="stable")]


def topics_of(graph: PrerequisiteGraph, given: Sequence[str] = ()) -> list[str]:
    """Give each concept's topic; where none are `given`, groups of concepts that hang together.

    A group is named after its best connected concept. A concept without edges has none: "".
    """
    if any(given):
        return list(given)
    names = names_apart(graph.ids, graph.names)
    joined = nx.Graph()
    joined.add_weighted_edges_from(
        (i, j, p) for (i, j), p in zip(graph.pairs.tolist(), graph.probabilities, strict=True)
    )
    topics = [""] * len(names)
    for group in nx.community.louvain_communities(joined, seed=0):
        best = min(group, key=lambda concept: (-joined.degree[concept], names[concept]))
        for concept in group:
            topics[concept] = names[best]
    return topics
