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
    columns = Columns()
    columns.add_symmetric("texts", "likeness of texts", text_affinity(evidence.features))
    if evidence.named_in is not None:
        named = evidence.named_in.toarray()
        columns.add_directed("texts", "the second's text names the first", named)
    if evidence.transitions is not None:
        _add_moves(columns, evidence.transitions)
    if evidence.incidence is not None:
        _add_resources(columns, evidence.incidence)
        if evidence.resource_links is not None:
            _add_order_of_resources(columns, evidence.incidence, evidence.resource_links)
    return columns


def _add_moves(columns: Columns, B: SparseMatrix) -> None:
    moves = B.toarray().astype(np.float64)
    np.fill_diagonal(moves, 0.0)
    leaving, arriving = moves.sum(axis=1), moves.sum(axis=0)
    links = (moves > 0).astype(np.float64)
    degree = np.maximum(links.sum(axis=1, keepdims=True), 1)
    for name, matrix in {
        "moves": np.log1p(moves),
        "share of the first's moves": _shares(moves, leaving[:, None]),
        "share of the second's arrivals": _shares(moves, arriving[None, :]),
        "visits on walks": np.log(visits(B, weighting="count") + RARE),
        "visits on walks, moves by logarithm": np.log(visits(B, weighting="log1p") + RARE),
        "visits on walks against the moves": np.log(visits(B.T.tocsr(), weighting="log1p") + RARE),
        # One half of RefD: the share of a's neighbours that lead to b.
        "share of neighbours that lead there": links @ links / degree,
    }.items():
        columns.add_directed("moves", name, matrix)
    for name, values in {
        "moves away": np.log1p(leaving),
        "arrivals": np.log1p(arriving),
        "moves away per arrival": np.log1p(leaving) - np.log1p(arriving),
        "links away": links.sum(axis=1),
        "links to it": links.sum(axis=0),
    }.items():
        columns.add_about_concepts("moves", name, values)


def _add_resources(columns: Columns, M: SparseMatrix) -> None:
    together = np.asarray((M @ M.T).toarray(), dtype=np.float64)
    count = np.asarray(M.sum(axis=1), dtype=np.float64)
    either = count[:, None] + count[None, :] - together
    columns.add_symmetric("resources", "resources together", np.log1p(together))
    columns.add_symmetric("resources", "overlap of resources", _shares(together, either))
    columns.add_directed(
        "resources", "share of the first's resources", _shares(together, count[:, None])
    )
    columns.add_about_concepts("resources", "resources", np.log1p(count))


def _add_order_of_resources(columns: Columns, M: SparseMatrix, L: SparseMatrix) -> None:
    """Steps from a resource with the one concept to a later resource with the other."""
    steps = np.asarray((M @ L @ M.T).toarray(), dtype=np.float64)
    columns.add_directed("resources", "steps between resources", np.log1p(steps))
    ahead = np.asarray(M @ L.sum(axis=1), dtype=np.float64)
    behind = np.asarray(M @ L.sum(axis=0), dtype=np.float64)
    columns.add_about_concepts(
        "resources", "resources rather first", (ahead - behind) / (ahead + behind + FEW_RESOURCES)
    )


def _shares(part: FloatArray, whole: FloatArray) -> FloatArray:
    whole = np.broadcast_to(whole, part.shape)
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
