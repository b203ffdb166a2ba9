"""What to ask a person: pairs whose answers would tell most."""

from __future__ import annotations

import numpy as np

from proprl.arrays import FloatArray, IntArray
from proprl.curriculum.all_pairs import PAIRS_AT_ONCE
from proprl.curriculum.graph import Edge
from proprl.curriculum.summary import names_apart
from proprl.fitted import Fitted
from proprl.graphs.closure import what_follows
from proprl.pairs.background import open_pairs

QUESTIONS = 10
"""So many pairs are asked about at a time."""
SHORTLIST = 500
"""So many of the most doubtful pairs are looked at for what would follow from them."""


def worth_asking(fitted: Fitted, count: int = QUESTIONS) -> list[Edge]:
    """Give pairs whose answer would change most: in doubt, and with much that would follow.

    The worth of a pair is p (1 - p) log₂(1 + pairs that a yes would put in order). Each concept
    is named at most once, so that the answers tell of many places in the map.
    """
    ids, n = fitted.concept_ids, len(fitted.concept_ids)
    names = names_apart(ids, fitted.concept_names)
    known = fitted.split.train.joined(fitted.split.validation, fitted.split.test)
    pairs = np.argwhere(open_pairs(known, n)).astype(np.int64)
    p = _scored(fitted, pairs)
    doubtful = np.argsort(-p * (1 - p), kind="stable")[:SHORTLIST]
    pairs, p = pairs[doubtful], p[doubtful]
    reach = what_follows(n, known.positives) | np.eye(n, dtype=np.bool_)
    new = [int((~reach[np.ix_(reach[:, i], reach[j])]).sum()) for i, j in pairs.tolist()]
    order = np.argsort(-p * (1 - p) * np.log2(1 + np.array(new)), kind="stable")
    chosen: list[Edge] = []
    met: set[int] = set()
    for (i, j), probability in zip(pairs[order].tolist(), p[order].tolist(), strict=True):
        if len(chosen) < count and not {i, j} & met:
            chosen.append(Edge(names[i], names[j], probability, ids[i], ids[j]))
            met |= {i, j}
    return chosen


def _scored(fitted: Fitted, pairs: IntArray) -> FloatArray:
    chunks = np.array_split(pairs, -(-len(pairs) // PAIRS_AT_ONCE) or 1)
    return np.concatenate([fitted.fit.score(chunk) for chunk in chunks])
