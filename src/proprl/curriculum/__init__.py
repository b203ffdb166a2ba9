"""Labels and scores turned into an acyclic graph, paths and explanations."""

from __future__ import annotations

from proprl.curriculum.confirmed import SettledLabels, settle_labels
from proprl.curriculum.explanation import Explanation
from proprl.curriculum.graph import (
    LEARNED_FROM,
    Edge,
    LeftOut,
    PrerequisiteGraph,
    acyclic_graph,
    labels_alone,
    prerequisite_graph,
)

__all__ = [
    "LEARNED_FROM",
    "Edge",
    "Explanation",
    "LeftOut",
    "PrerequisiteGraph",
    "SettledLabels",
    "acyclic_graph",
    "labels_alone",
    "prerequisite_graph",
    "settle_labels",
]
