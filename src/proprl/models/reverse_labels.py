"""What a known label of the reverse order says about a pair: prerequisites are irreversible."""

from __future__ import annotations

from typing import Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits import LabelledPairs

Which: TypeAlias = Literal["none", "positive", "both"]
"""Which known labels of reverses count."""


class ReverseLabels:
    """Evidence about (a, b) from a known label of (b, a), in logits.

    How much it counts is learned from the known pairs of which both orders are labelled: in one
    course a reverse that holds rules the pair out, in another experts called some pairs mutual.
    With none or few of them it counts little.

    A reverse that does *not* hold says nothing in use. Among pairs with a label it says a lot,
    because negatives are often made by turning positives round, so that where both orders have a
    label and one is negative, the other is positive. The reverse of any other negative has no
    label, and nothing makes it likelier than another pair.
    """

    def __init__(self, known: LabelledPairs, weights: FloatArray) -> None:
        self.known = known
        self.weights = weights  # (2,): of a reverse that is no prerequisite, and of one that is
        votes: dict[tuple[int, int], int] = {}
        for (a, b), label in zip(known.pairs.tolist(), known.labels.tolist(), strict=True):
            votes[a, b] = votes.get((a, b), 0) + (1 if label else -1)
        pairs = np.array(list(votes), dtype=np.int64).reshape(-1, 2)
        codes = _codes(pairs)
        order = np.argsort(codes)
        self._codes = codes[order]
        self._signs = np.sign(np.array(list(votes.values()), dtype=np.int64))[order]

    @classmethod
    def learned(cls, known: LabelledPairs, which: Which) -> Self:
        """Weigh reverses by how often they go with each label: a log likelihood ratio."""
        found = cls(known, np.zeros(2))
        counted = {"none": (), "positive": (1,), "both": (0, 1)}[which]
        reverse = found.signs(known.pairs)
        positive = known.labels == 1
        share = (positive.sum() + 1) / (len(positive) + 2)
        for label in counted:
            sign = 2 * label - 1
            yes, no = ((reverse == sign)[part].sum() for part in (positive, ~positive))
            # One made-up pair, as positive as pairs are on the whole: few say little.
            odds = (yes + share) / (no + 1 - share)
            found.weights[label] = np.log(odds) - np.log(share / (1 - share))
        return found

    def signs(self, pairs: IntArray) -> IntArray:
        """Give 1 where the reverse is known to hold, -1 where not to, 0 where it is not known.

        Labels that contradict each other say nothing.
        """
        place, labelled = self._found(pairs)
        return np.where(labelled, self._signs[place], 0) if len(self._signs) else place

    def labelled(self, pairs: IntArray) -> npt.NDArray[np.bool_]:
        """Say whose reverse has a known label, whichever it is."""
        return self._found(pairs)[1]

    def _found(self, pairs: IntArray) -> tuple[IntArray, npt.NDArray[np.bool_]]:
        """Give the place of each reverse among the known pairs, and whether it is there."""
        if not len(self._codes):
            return np.zeros(len(pairs), dtype=np.int64), np.zeros(len(pairs), dtype=bool)
        wanted = _codes(pairs[:, ::-1])
        place = np.searchsorted(self._codes, wanted).clip(max=len(self._codes) - 1)
        return place, self._codes[place] == wanted

    def z(self, pairs: IntArray) -> FloatArray:
        """Give what to add to each pair's logit."""
        no, yes = self.weights
        return np.choose(self.signs(pairs) + 1, [no, 0.0, yes])


def _codes(pairs: IntArray) -> IntArray:
    """Give each ordered pair a number of its own."""
    codes: IntArray = (pairs[:, 0] << 32) | pairs[:, 1]
    return codes
