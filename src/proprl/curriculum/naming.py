"""Concepts as people tell them apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from proprl.curriculum.graph import Edge, PrerequisiteGraph


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
