"""What a course itself says about an ordered pair, without any label: a row of numbers."""

from __future__ import annotations

import numpy as np

from proprl.arrays import FloatArray, SparseMatrix
from proprl.graphs.affinity import text_affinity, visits
from proprl.graphs.evidence import Evidence
from proprl.models.pair_numbers import PairNumbers

# Walks that never come by leave no trace: their logarithm ends here.
RARE = 1e-5
# So few resources before or after those of a concept say little about its place.
FEW = 5.0


class PairEvidence(PairNumbers):
    """What texts, moves and resources say."""

    def __init__(self, evidence: Evidence) -> None:
        super().__init__()
        self.symmetric["text similarity"] = text_affinity(evidence.features)
        if evidence.transitions is not None:
            self._add_behaviour(evidence.transitions)
        if evidence.incidence is not None:
            self._add_resources(evidence.incidence)
            if evidence.resource_links is not None:
                self._add_order_of_resources(evidence.incidence, evidence.resource_links)

    def _add_behaviour(self, B: SparseMatrix) -> None:
        moves = B.toarray().astype(np.float64)
        np.fill_diagonal(moves, 0.0)
        leaving, arriving = moves.sum(axis=1), moves.sum(axis=0)
        links = (moves > 0).astype(np.float64)
        degree = np.maximum(links.sum(axis=1, keepdims=True), 1)
        self.directed |= {
            "moves": np.log1p(moves),
            "share of the source's moves": _shares(moves, leaving[:, None]),
            "share of the target's arrivals": _shares(moves, arriving[None, :]),
            "visits": np.log(visits(B, weighting="count") + RARE),
            "visits by links": np.log(visits(B, weighting="log1p") + RARE),
            "visits against the moves": np.log(visits(B.T.tocsr(), weighting="log1p") + RARE),
            # RefD's two halves: the share of a's neighbours that lead to b.
            "references": links @ links / degree,
        }
        self.about_concepts |= {
            "moves away": np.log1p(leaving),
            "arrivals": np.log1p(arriving),
            "moves away per arrival": np.log1p(leaving) - np.log1p(arriving),
            "links away": links.sum(axis=1),
            "links to it": links.sum(axis=0),
        }

    def _add_resources(self, M: SparseMatrix) -> None:
        together = np.asarray((M @ M.T).toarray(), dtype=np.float64)
        count = np.asarray(M.sum(axis=1), dtype=np.float64)
        either = count[:, None] + count[None, :] - together
        self.symmetric |= {
            "resources together": np.log1p(together),
            "overlap of resources": _shares(together, either),
        }
        self.directed["share of the source's resources"] = _shares(together, count[:, None])
        self.about_concepts["resources"] = np.log1p(count)

    def _add_order_of_resources(self, M: SparseMatrix, L: SparseMatrix) -> None:
        """Steps from a resource with the one concept to a later resource with the other."""
        steps = np.asarray((M @ L @ M.T).toarray(), dtype=np.float64)
        self.directed["steps between resources"] = np.log1p(steps)
        ahead = np.asarray(M @ L.sum(axis=1), dtype=np.float64)
        behind = np.asarray(M @ L.sum(axis=0), dtype=np.float64)
        self.about_concepts["resources rather first"] = (ahead - behind) / (ahead + behind + FEW)


def _shares(part: FloatArray, whole: FloatArray) -> FloatArray:
    whole = np.broadcast_to(whole, part.shape)
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
