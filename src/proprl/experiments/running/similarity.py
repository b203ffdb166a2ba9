"""How similar the concepts of pairs are, before training and epoch by epoch."""

from __future__ import annotations

from typing import Any

import numpy as np

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.parts import PairSplit
from proprl.progress import Progress

KINDS = ("prerequisite pairs", "labelled negatives", "random non-edges")


class SimilarityWatch(Progress):
    """Follows a network's representations; to be given to the fit as its progress.

    `seen` holds, for each kind of training pair, the cosine similarities of the texts' vectors
    ("before"), of the representations after the first and the last epoch ("first", "last"), and
    the quartiles after every epoch ("quartiles").
    """

    def __init__(self, scorer: Any, X: FloatArray, split: PairSplit) -> None:
        self.scorer = scorer
        train = split.train
        of_kind = (
            train.pairs[train.labels == 1],
            train.pairs[train.labels == 0],
            _random_non_edges(len(X), split),
        )
        self.pairs: dict[str, IntArray] = dict(zip(KINDS, of_kind, strict=True))
        self.seen: dict[str, dict[str, list[Any]]] = {
            kind: {"before": _short(similarities(X, pairs)), "quartiles": []}
            for kind, pairs in self.pairs.items()
        }

    def step(self, count: int = 1, **shown: float) -> None:  # noqa: ARG002
        """Note the similarities after an epoch, in the representations of the main branch."""
        H = list(self.scorer.encoded.values())[-1].cpu().numpy()
        for kind, pairs in self.pairs.items():
            cosines, seen = similarities(H, pairs), self.seen[kind]
            seen["last"] = _short(cosines)
            seen.setdefault("first", seen["last"])
            seen["quartiles"].append(_short(np.quantile(cosines, (0.25, 0.5, 0.75))))


def similarities(H: FloatArray, pairs: IntArray) -> FloatArray:
    """Give the cosine of the angle between the two concepts of each pair.

    >>> similarities(np.array([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0]]), np.array([[0, 1], [0, 2]]))
    array([1., 0.])
    """
    lengths = np.linalg.norm(H, axis=1, keepdims=True)
    unit = H / np.where(lengths > 0, lengths, 1.0)
    cosines: FloatArray = (unit[pairs[:, 0]] * unit[pairs[:, 1]]).sum(axis=1)
    return cosines


def _short(numbers: FloatArray) -> list[float]:
    """Give numbers with six decimals, so that a kept result stays small."""
    rounded: list[float] = np.round(np.asarray(numbers, dtype=np.float64), 6).tolist()
    return rounded


def _random_non_edges(n: int, split: PairSplit) -> IntArray:
    """Draw as many pairs as there are training positives, from those without any label (seed 0).

    A pair counts as labelled in both orders, since similarity has no order.
    """
    parts = (split.train, split.validation, split.test)
    labelled = {frozenset(pair) for part in parts for pair in part.pairs.tolist()}
    wanted = min(int(split.train.labels.sum()), n * (n - 1) // 2 - len(labelled))
    rng = np.random.default_rng(0)
    drawn: dict[frozenset[int], list[int]] = {}
    while len(drawn) < wanted:
        pair = rng.integers(n, size=2).tolist()
        if pair[0] != pair[1] and frozenset(pair) not in labelled:
            drawn.setdefault(frozenset(pair), pair)
    return np.array(list(drawn.values()), dtype=np.int64).reshape(-1, 2)
