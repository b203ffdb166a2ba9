"""What a course itself says about an ordered pair, without any label."""

from __future__ import annotations

import numpy as np

from proprl.arrays import FloatArray, SparseMatrix
from proprl.graphs.affinity import text_affinity, visits
from proprl.graphs.evidence import Evidence
from proprl.pairs.columns import Columns

# Walks that never come by leave no trace: their logarithm ends here.
RARE = 1e-5
# So few resources before or after those of a concept say little about its place.
FEW_RESOURCES = 5.0


def course_columns(evidence: Evidence) -> Columns:
    """Give what texts, moves and resources say about pairs."""
    columns = _of_texts(evidence)
    if evidence.transitions is not None:
        columns += _of_moves(evidence.transitions)
    if evidence.incidence is not None:
        columns += _of_resources(evidence.incidence)
        if evidence.resource_links is not None:
            columns += _of_their_order(evidence.incidence, evidence.resource_links)
    return columns


def _of_texts(evidence: Evidence) -> Columns:
    named = {}
    if evidence.named_in is not None:
        named["the second's text names the first"] = evidence.named_in.toarray()
    likeness = {"likeness of texts": text_affinity(evidence.features)}
    return Columns.of("texts", symmetric=likeness, directed=named)


def _of_moves(B: SparseMatrix) -> Columns:
    moves = B.toarray().astype(np.float64)
    np.fill_diagonal(moves, 0.0)
    leaving, arriving = moves.sum(axis=1), moves.sum(axis=0)
    links = (moves > 0).astype(np.float64)
    degree = np.maximum(links.sum(axis=1, keepdims=True), 1)
    return Columns.of(
        "moves",
        directed={
            "moves": np.log1p(moves),
            "share of the first's moves": _shares(moves, leaving[:, None]),
            "share of the second's arrivals": _shares(moves, arriving[None, :]),
            "visits on walks": np.log(visits(B, weighting="count") + RARE),
            "visits on walks, moves by logarithm": np.log(visits(B, weighting="log1p") + RARE),
            "visits on walks against the moves": np.log(
                visits(B.T.tocsr(), weighting="log1p") + RARE
            ),
            # One half of RefD: the share of a's neighbours that lead to b.
            "share of neighbours that lead there": links @ links / degree,
        },
        about_concepts={
            "moves away": np.log1p(leaving),
            "arrivals": np.log1p(arriving),
            "moves away per arrival": np.log1p(leaving) - np.log1p(arriving),
            "links away": links.sum(axis=1),
            "links to it": links.sum(axis=0),
        },
    )


def _of_resources(M: SparseMatrix) -> Columns:
    together = np.asarray((M @ M.T).toarray(), dtype=np.float64)
    count = np.asarray(M.sum(axis=1), dtype=np.float64)
    either = count[:, None] + count[None, :] - together
    return Columns.of(
        "resources",
        symmetric={
            "resources together": np.log1p(together),
            "overlap of resources": _shares(together, either),
        },
        directed={"share of the first's resources": _shares(together, count[:, None])},
        about_concepts={"resources": np.log1p(count)},
    )


def _of_their_order(M: SparseMatrix, L: SparseMatrix) -> Columns:
    """Steps from a resource with the one concept to a later resource with the other."""
    steps = np.asarray((M @ L @ M.T).toarray(), dtype=np.float64)
    ahead = np.asarray(M @ L.sum(axis=1), dtype=np.float64)
    behind = np.asarray(M @ L.sum(axis=0), dtype=np.float64)
    rather_first = (ahead - behind) / (ahead + behind + FEW_RESOURCES)
    return Columns.of(
        "resources",
        directed={"steps between resources": np.log1p(steps)},
        about_concepts={"resources rather first": rather_first},
    )


def _shares(part: FloatArray, whole: FloatArray) -> FloatArray:
    whole = np.broadcast_to(whole, part.shape)
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
