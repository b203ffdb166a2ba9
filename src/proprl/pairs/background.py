"""Background: pairs without a label, which teach a model how rare prerequisites are."""

from __future__ import annotations

import numpy as np

from proprl.arrays import IntArray
from proprl.data.splits.labelled import LabelledPairs
from proprl.graphs.closure import BoolArray, what_follows

# More of them rank maps no better, and cost time and accuracy on pairs as people pick them.
PER_POSITIVE, AT_MOST = 20, 50_000


def open_pairs(known: LabelledPairs, n: int) -> BoolArray:
    """Say which pairs are open: n × n.

    They have no label in either order, and neither they nor their reverses follow from known
    positives.
    """
    settled = what_follows(n, known.positives)
    settled[tuple(known.pairs.T)] = True
    np.fill_diagonal(settled, True)
    is_open: BoolArray = ~(settled | settled.T)
    return is_open


def follows_from_others(pairs: IntArray, known: LabelledPairs, n: int) -> BoolArray:
    """Say which pairs follow, in this or the other order, over a third concept: (m, 2) -> (m,).

    Even if nobody had labelled them they would not be open.
    """
    first = np.zeros((n, n), dtype=np.float32)
    first[tuple(known.positives.T)] = 1
    by_others = first @ what_follows(n, known.positives) > 0
    a, b = pairs.T
    follows: BoolArray = by_others[a, b] | by_others[b, a]
    return follows


def background_pool(known: LabelledPairs, n: int) -> IntArray:
    """Give the open pairs that background is drawn from: (k, 2).

    Both concepts have labels. Of the other concepts nobody has said anything yet: to take their
    pairs for non-prerequisites would teach that new concepts have none.
    """
    pool: IntArray = np.argwhere(open_pairs(known, n) & with_labels(known, n))
    return pool.astype(np.int64)


def with_labels(known: LabelledPairs, n: int) -> BoolArray:
    """Say of which pairs both concepts have labels: n × n."""
    labelled = np.zeros(n, dtype=np.bool_)
    labelled[known.pairs] = True
    both: BoolArray = labelled[:, None] & labelled
    return both


def draw_background(known: LabelledPairs, n: int, *, seed: int) -> IntArray:
    """Draw background for these labels: (k, 2), without repeats; all there is if that is few."""
    pool = background_pool(known, n)
    count = min(len(pool), AT_MOST, PER_POSITIVE * len(known.positives))
    drawn = np.random.default_rng(seed).choice(len(pool), size=count, replace=False)
    return pool[np.sort(drawn)]
