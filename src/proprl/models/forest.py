"""Decision trees as flat arrays of nodes: kept without pickle, and quick to descend."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from proprl.arrays import FloatArray

Forest: TypeAlias = dict[str, Any]
"""The nodes of all trees, as named arrays; see `flat_forest`."""

# Pairs that go down the trees together: their features should stay in the processor's cache.
DESCENDING_AT_ONCE = 256


def flat_forest(trees: list[Any]) -> Forest:
    """Give all trees as one list of nodes.

    A node sends a row to `children[:, 0]` where its column is at most `threshold`, else to
    `children[:, 1]`. A leaf has column -1, and `threshold` holds its share of positives.
    """
    roots = np.cumsum([0, *(tree.node_count for tree in trees[:-1])])
    columns, thresholds, children = [], [], []
    for root, tree in zip(roots, trees, strict=True):
        leaf = tree.children_left < 0
        counts = tree.value[:, 0, :]  # (nodes, 2)
        share = counts[:, 1] / counts.sum(axis=1)
        columns.append(np.where(leaf, -1, tree.feature))
        thresholds.append(np.where(leaf, share.astype(np.float32), _rounded_down(tree.threshold)))
        pair = np.stack([tree.children_left, tree.children_right], axis=1)
        children.append(np.where(leaf[:, None], 0, pair + root))
    return {
        "roots": roots.astype(np.int32),
        "column": np.concatenate(columns).astype(np.int32),
        "threshold": np.concatenate(thresholds).astype(np.float32),
        "children": np.concatenate(children).astype(np.int32),
    }


def mean_share(x: FloatArray, forest: Forest) -> FloatArray:
    """Send each row down every tree; give the mean share of positives in their leaves: (m,)."""
    chunks = range(0, len(x), DESCENDING_AT_ONCE)
    parts = [_descend(x[start : start + DESCENDING_AT_ONCE], forest) for start in chunks]
    return np.concatenate([np.empty(0), *parts])


def _rounded_down(threshold: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Give the greatest single-precision numbers that are not above: x ≤ t stays the same."""
    rounded = threshold.astype(np.float32)
    above = rounded > threshold
    return np.where(above, np.nextafter(rounded, np.float32(-np.inf)), rounded)


def _descend(x: FloatArray, forest: Forest) -> FloatArray:
    """Give the mean share of positives in the leaves that rows fall into."""
    column, threshold, children = forest["column"], forest["threshold"], forest["children"]
    roots = forest["roots"]
    node = np.repeat(roots, len(x))  # (trees * m,): every row stands at every root
    row = np.tile(np.arange(len(x), dtype=np.int32), len(roots))
    flat = x.ravel()
    total = np.zeros(len(x))
    while len(node):
        c = column[node]
        leaf = c < 0
        if leaf.any():
            total += np.bincount(row[leaf], weights=threshold[node[leaf]], minlength=len(x))
            node, row, c = node[~leaf], row[~leaf], c[~leaf]
        right = flat[row.astype(np.int64) * x.shape[1] + c] > threshold[node]
        node = children[node, right.astype(np.int8)]
    return np.asarray(total / len(roots))
