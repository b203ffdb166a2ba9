"""Tables that can confirm a pair of concepts, and how often they would by chance.

Chance is the configuration model: links are dealt out anew while every concept keeps as many as it
has. A pair of two popular concepts is then expected to be confirmed, whatever it says.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.data.audit.rows import pair_codes

_PAIRS_AT_ONCE = 20_000


class Witness(Protocol):
    """A table that says something about pairs of concepts."""

    def confirms(self, pairs: IntArray) -> npt.NDArray[np.bool_]:
        """Return which of these pairs (m, 2) it confirms."""

    def chance(self, pairs: IntArray) -> FloatArray:
        """Return how likely it would confirm each pair if it only knew how popular the ends are."""


class Behaviour:
    """Confirms pairs from whose source learners went directly to the target.

    P(i → j by chance) = 1 − exp(−out(i) · in(j) / E), for E links in all.
    """

    def __init__(self, links: IntArray, n: int) -> None:
        self.n, self.links = n, links
        self.codes = np.sort(pair_codes(links, n))
        self.out = np.bincount(links[:, 0], minlength=n)
        self.into = np.bincount(links[:, 1], minlength=n)

    def confirms(self, pairs: IntArray) -> npt.NDArray[np.bool_]:
        """Return which of these pairs are links."""
        codes = pair_codes(pairs, self.n)
        after = np.searchsorted(self.codes, codes, side="right")
        found: npt.NDArray[np.bool_] = after > np.searchsorted(self.codes, codes)
        return found

    def chance(self, pairs: IntArray) -> FloatArray:
        """Return how likely each pair is a link by chance."""
        rate = self.out[pairs[:, 0]] * self.into[pairs[:, 1]] / max(len(self.links), 1)
        return 1 - np.exp(-rate)


class Resources:
    """Confirms pairs of concepts that some resource holds both of.

    P(i, j together by chance) = 1 − exp(−r(i) · r(j) · Σₖ sₖ (sₖ − 1) / (Σₖ sₖ)²), where concept i
    stands in r(i) resources and resource k holds sₖ concepts.
    """

    def __init__(self, incidence: SparseMatrix) -> None:
        self.incidence = incidence
        self.held = np.asarray(incidence.sum(axis=1)).ravel()
        sizes = np.asarray(incidence.sum(axis=0)).ravel()
        self.rate = float((sizes * (sizes - 1)).sum() / max(sizes.sum(), 1) ** 2)

    def confirms(self, pairs: IntArray) -> npt.NDArray[np.bool_]:
        """Return which of these pairs stand together in a resource."""
        shared = [np.zeros(0, dtype=np.bool_)]
        for start in range(0, len(pairs), _PAIRS_AT_ONCE):
            i, j = pairs[start : start + _PAIRS_AT_ONCE].T
            together = self.incidence[i].multiply(self.incidence[j]).sum(axis=1)
            shared.append(np.asarray(together).ravel() > 0)
        return np.concatenate(shared)

    def chance(self, pairs: IntArray) -> FloatArray:
        """Return how likely each pair stands together in a resource by chance."""
        rate: FloatArray = self.held[pairs[:, 0]] * self.held[pairs[:, 1]] * self.rate
        return 1 - np.exp(-rate)


def links_of(transitions: SparseMatrix) -> IntArray:
    """Return where learners went from one concept to another (k, 2), the strongest first."""
    links = transitions.tocoo()
    ends = np.stack([links.row, links.col], axis=1).astype(np.int64)
    order = np.argsort(-links.data, kind="stable")
    order = order[(links.data[order] > 0) & (ends[order, 0] != ends[order, 1])]
    strongest: IntArray = ends[order]
    return strongest
