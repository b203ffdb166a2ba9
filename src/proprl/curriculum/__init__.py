"""Scores turned into an acyclic graph, paths and explanations."""

from proprl.curriculum.explanation import Explanation
from proprl.curriculum.graph import Edge, PrerequisiteGraph, acyclic_graph

__all__ = ["Edge", "Explanation", "PrerequisiteGraph", "acyclic_graph"]
