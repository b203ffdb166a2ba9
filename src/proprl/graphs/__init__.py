"""Pure functions on sparse matrices: learner transitions, resource incidence, propagation."""

from __future__ import annotations

from proprl.graphs.evidence import Evidence
from proprl.graphs.hypergraph import hypergraph_operator
from proprl.graphs.normalise import Weighting, normalise_rows, standardise_columns
from proprl.graphs.propagate import propagate, propagation_operator
from proprl.graphs.transitions import count_transitions

__all__ = [
    "Evidence",
    "Weighting",
    "count_transitions",
    "hypergraph_operator",
    "normalise_rows",
    "propagate",
    "propagation_operator",
    "standardise_columns",
]
