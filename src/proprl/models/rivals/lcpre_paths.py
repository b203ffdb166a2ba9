"""The paths of LCPRE: drawn in a graph of concepts (C) and resources (R), by schema as CRC."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import torch
from scipy.sparse import csr_array
from torch import Tensor

from proprl.arrays import SparseMatrix

# An odd multiplier spreads the codes of paths over 64 bits; equal codes mean equal paths.
_SPREAD = 6_364_136_223_846_793_005


class Neighbours(NamedTuple):
    """The successors of every node of one kind among those of another."""

    start: Tensor  # (nodes + 1,): where each node's successors begin
    successors: Tensor  # (edges,)

    @classmethod
    def of(cls, graph: SparseMatrix, device: torch.device) -> Neighbours:
        """Take the cells of a matrix as edges from row to column, in the order of its rows."""
        graph = csr_array(graph)
        graph.sort_indices()
        start, successors = (
            torch.from_numpy(part.astype("int64")).to(device)
            for part in (graph.indptr, graph.indices)
        )
        return cls(start, successors)


class Paths(NamedTuple):
    """p paths of one schema, each from a concept to another one."""

    nodes: Tensor  # (p, length): concepts are 0 to n - 1, resources follow
    edges: Tensor  # (p, length - 1): which edge from concept to concept a step took; else -1

    @property
    def owner(self) -> Tensor:
        """The concept that each path starts from: (p,)."""
        return self.nodes[:, 0]

    def take(self, kept: Tensor) -> Paths:
        """Give the paths where `kept` (p,) is true."""
        return Paths(self.nodes[kept], self.edges[kept])


def sample_paths(
    graph: Mapping[str, Neighbours],
    schema: str,
    n: int,
    count: int,
    generator: torch.Generator | None = None,
) -> Paths:
    """Draw up to `count` different paths from each of n concepts.

    `graph` holds the neighbours for each step ("CC", "CR", "RC", "RR"). Every step goes to a
    random successor. From each concept `count` walks are drawn; those that end nowhere, those
    that end where they began, and repetitions are left out. (Published: depth first through
    shuffled neighbours. The paths kept then share most of their nodes.)
    """
    device = graph["CR"].start.device
    here = torch.arange(n, device=device).repeat_interleave(count)
    nodes, edges, code = [here], [], torch.zeros_like(here)
    alive = torch.ones_like(here, dtype=torch.bool)
    for a, b in pairwise(schema):
        start, successors = graph[a + b]
        degree = start[here + 1] - start[here]
        alive &= degree > 0
        drawn = torch.rand(len(here), generator=generator, dtype=torch.float64).to(device)
        edge = start[here] + (drawn * degree).long()
        # A dead walk goes on from node 0, so that all steps stay one operation; it is left out.
        here = torch.where(alive, edge, 0)
        here = successors[here] if len(successors) else here
        nodes.append(here + n if b == "R" else here)
        edges.append(edge if a + b == "CC" else torch.full_like(edge, -1))
        code = code * _SPREAD + here + 1
    alive &= nodes[-1] != nodes[0]
    alive &= ~_repeated(code.view(n, count), alive.view(n, count)).flatten()
    return Paths(torch.stack(nodes, dim=1)[alive], torch.stack(edges, dim=1)[alive])


def _repeated(code: Tensor, alive: Tensor) -> Tensor:
    """Mark every living walk of a row whose code stands before it among the living ones."""
    # Dead walks share one code and may be marked too, which changes nothing.
    ordered, place = torch.where(alive, code, 0).sort(dim=1, stable=True)
    again = torch.zeros_like(alive)
    again[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
    return torch.zeros_like(alive).scatter(1, place, again)
