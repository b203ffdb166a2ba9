"""Which resource to learn a concept with, for somebody who knows some things already."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array

from proprl.curriculum.graph import PrerequisiteGraph
from proprl.data.mentions import mention_incidence
from proprl.fitted import Fitted


class Chosen(NamedTuple):
    """A resource for a concept."""

    id: str
    title: str
    sentence: str
    """What it says of the concept; "" where no sentence is kept."""


class Shelf:
    """The resources of a course, for a learner who knows some concepts."""

    def __init__(self, fitted: Fitted, graph: PrerequisiteGraph, known: Collection[int]) -> None:
        self.names, self.resources = fitted.concept_names, fitted.resources
        self.steps, self.known = graph.pairs, set(known)
        M = fitted.incidence
        self.M = csr_array((len(self.names), 0)) if M is None else csr_array(M)
        self.by_resource = self.M.tocsc()

    def best_for(self, concept: int) -> Chosen | None:
        """Give the resource to learn a concept with; None where none is known to hold it.

        It holds little that the learner does not know, and much that is next to the concept on
        the map: what is far from it, it only mentions. Among equals it is one whose title names
        the concept, then one that holds little beside it.
        """
        some = _row(self.M, concept)
        if self.resources is None or not some:
            return None
        near = set(self.steps[(self.steps == concept).any(axis=1)].ravel().tolist())
        held = [set(_row(self.by_resource, resource)) for resource in some]
        cost = [len(all_ - self.known) - len(all_ & near) for all_ in held]
        titles = [self.resources.titles[row] for row in some]
        named = mention_incidence([self.names[concept]], titles).toarray()[0]
        best = some[int(np.lexsort((some, [len(all_) for all_ in held], -named, cost))[0])]
        sentence = self.resources.sentence(concept, best)
        return Chosen(self.resources.ids[best], self.resources.titles[best], sentence)

    def learned(self, concept: int) -> None:
        """Count a concept among what the learner knows."""
        self.known.add(concept)


def _row(M: csr_array | csc_array, row: int) -> list[int]:
    places: list[int] = M.indices[M.indptr[row] : M.indptr[row + 1]].tolist()
    return places
