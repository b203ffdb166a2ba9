"""Decision trees whose leaves add up: kept as checked arrays, descended by LightGBM.

A model's trees are plain arrays in its bundle, whether LightGBM or scikit-learn grew them. They are
checked before LightGBM reads them, because it trusts what it reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch  # before LightGBM: it brings the OpenMP library that LightGBM needs

from proprl.arrays import FloatArray
from proprl.errors import BundleError

Arrays = Mapping[str, npt.NDArray[Any]]
Prepared = tuple[list[tuple[int, np.float32, np.uint16]], FloatArray]

# What LightGBM writes of each split and of each leaf. A child below 0 is leaf number -child - 1.
OF_SPLITS: dict[str, type] = {
    "split_feature": np.int32,
    "threshold": np.float32,
    "left_child": np.int32,
    "right_child": np.int32,
    "internal_count": np.int32,
}
OF_LEAVES: dict[str, type] = {"leaf_value": np.float32, "leaf_count": np.int32}
NODES = OF_SPLITS | OF_LEAVES

# Trees of so many leaves are small: their leaves are bits of one number.
LEAVES_AT_MOST = 16
# Fewer rows go to LightGBM, which is faster then.
MANY_ROWS = 4_000
# So many rows at once fit the processor's cache.
ROWS_AT_ONCE = 16_384

_BITS = (np.arange(2**LEAVES_AT_MOST)[:, None] >> np.arange(LEAVES_AT_MOST)) & 1
# The first bit that is not set, for every number.
FIRST_LEFT = _BITS.argmin(axis=1).astype(np.uint8)


class TreeSum:
    """Trees over rows of numbers; what is said of a row is the sum of the leaves it falls into."""

    def __init__(self, columns: int, leaves: npt.NDArray[np.int32], nodes: Arrays) -> None:
        self.columns = columns
        self.leaves = leaves  # (trees,), how many leaves each has
        self.nodes = nodes  # those of all trees, one after the other; see OF_SPLITS, OF_LEAVES

    @classmethod
    def from_lightgbm(cls, texts: Sequence[str], columns: int) -> Self:
        """Take the trees out of LightGBM's own texts: the sum is the mean of several models."""
        blocks = [b for text in texts for b in text.split("end of trees")[0].split("Tree=")[1:]]
        trees: list[Arrays] = []
        for block in blocks:
            said = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
            tree = {name: np.array(said.get(name, "").split(), dtype=np.float64) for name in NODES}
            trees.append(tree | {"leaf_value": tree["leaf_value"] / len(texts)})
        return cls._of(trees, columns)

    @classmethod
    def from_sklearn(cls, forest: Any, columns: int) -> Self:
        """Take up a forest for two classes: the sum is the mean share of label 1 in the leaves."""
        trees, grown = [], [tree.tree_ for tree in forest.estimators_]
        for tree in grown:
            leaf = tree.children_left < 0
            # Splits and leaves are numbered apart; a child below 0 is a leaf.
            number = np.where(leaf, -np.cumsum(leaf), np.cumsum(~leaf) - 1)
            share = tree.value[:, 0, 1] / tree.value[:, 0, :].sum(axis=1)
            trees.append(
                {
                    "split_feature": tree.feature[~leaf],
                    "threshold": tree.threshold[~leaf],
                    "left_child": number[tree.children_left[~leaf]],
                    "right_child": number[tree.children_right[~leaf]],
                    "internal_count": tree.n_node_samples[~leaf],
                    "leaf_value": share[leaf] / len(grown),
                    "leaf_count": tree.n_node_samples[leaf],
                }
            )
        return cls._of(trees, columns)

    @classmethod
    def _of(cls, trees: Sequence[Arrays], columns: int) -> Self:
        """Take up the arrays of each tree."""
        leaves = np.array([len(tree["leaf_value"]) for tree in trees], dtype=np.int32)
        nodes = {name: np.concatenate([tree[name] for tree in trees]) for name in NODES}
        nodes["threshold"] = _rounded_down(nodes["threshold"])
        return cls(
            columns, leaves, {name: nodes[name].astype(kind) for name, kind in NODES.items()}
        )

    def sums(self, x: FloatArray) -> FloatArray:
        """Give what the leaves of each row add up to: (m, columns) -> (m,)."""
        if not len(x):
            return np.empty(0)
        if len(x) >= MANY_ROWS and self.leaves.max() <= LEAVES_AT_MOST:
            return self._sums_of_many(x)
        threads = torch.get_num_threads()
        return np.asarray(self._booster.predict(x, raw_score=True, num_threads=threads))

    def contributions(self, x: FloatArray) -> FloatArray:
        """Give exact Shapley values, the base value last; they add up to `sums`."""
        threads = torch.get_num_threads()
        return np.asarray(self._booster.predict(x, pred_contrib=True, num_threads=threads))

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Give the trees as named arrays."""
        columns = np.array([self.columns], dtype=np.int32)
        return {"columns": columns, "leaves": self.leaves, **self.nodes}

    @classmethod
    def restored(cls, state: Arrays, columns: int) -> Self:
        """Give back trees from arrays; those that are no trees over so many columns are refused."""
        names = {"columns": np.int32, "leaves": np.int32, **NODES}
        for name, kind in names.items():
            if name not in state or state[name].ndim != 1 or state[name].dtype != kind:
                raise BundleError(f"the trees lack a list of {np.dtype(kind)} named {name}")
        if state["columns"].tolist() != [columns]:
            raise BundleError(f"the trees are over {state['columns']} columns, not {columns}")
        found = cls(columns, state["leaves"], {name: state[name] for name in NODES})
        found._check()
        return found

    def _check(self) -> None:
        """Refuse what is not a list of binary trees: the library trusts what it reads."""
        lengths = [len(self.nodes[name]) for name in NODES]
        splits, leaves = int((self.leaves - 1).sum()), int(self.leaves.sum())
        if (
            not len(self.leaves)
            or self.leaves.min() < 1
            or self.leaves.max() > 1_000
            or lengths != [splits] * len(OF_SPLITS) + [leaves] * len(OF_LEAVES)
        ):
            raise BundleError("the trees have more or fewer nodes than they count")
        for name in ("threshold", "leaf_value"):
            if not np.isfinite(self.nodes[name]).all():
                raise BundleError(f"the trees hold a {name} that is no number")
        feature = self.nodes["split_feature"]
        counts = np.concatenate([self.nodes["internal_count"], self.nodes["leaf_count"]])
        if (feature < 0).any() or (feature >= self.columns).any() or (counts < 1).any():
            raise BundleError("the trees ask for a column that is not there, or count below 1")
        for tree in self._trees():
            children = np.concatenate([tree["left_child"], tree["right_child"]])
            k = len(tree["left_child"])
            # Every node but the root has one parent, and comes after it: no cycle, none left out.
            wanted = [*range(-k - 1, 0), *range(1, k)]
            before = np.tile(np.arange(k), 2)
            if (
                sorted(children.tolist()) != wanted * bool(k)
                or ((children >= 0) & (children <= before)).any()
            ):
                raise BundleError("the trees have a node without a parent, or with two")
            # A child of -1 is leaf 0: the leaves stand at the end, turned round.
            rows = np.concatenate([tree["internal_count"], tree["leaf_count"][::-1]])
            below = rows[tree["left_child"]].astype(np.int64) + rows[tree["right_child"]]
            if (below != tree["internal_count"]).any():
                raise BundleError("the trees have a node that counts other rows than those below")

    def _trees(self) -> list[dict[str, npt.NDArray[Any]]]:
        """Give the arrays of each tree."""
        of_splits, of_leaves = (np.cumsum(count)[:-1] for count in (self.leaves - 1, self.leaves))
        parts = [
            np.split(self.nodes[name], of_splits if name in OF_SPLITS else of_leaves)
            for name in NODES
        ]
        return [dict(zip(NODES, tree, strict=True)) for tree in zip(*parts, strict=True)]

    def _sums_of_many(self, x: FloatArray) -> FloatArray:
        """Give the same sums; each split of small trees is asked of many rows at once.

        A row fails a split if its number is above the threshold: then it cannot fall into any leaf
        below the left child. Of the leaves that remain, the leftmost is the row's own (Lucchese et
        al., "QuickScorer", SIGIR 2015). LightGBM sends down one row at a time and takes four times
        as long.
        """
        sums = np.zeros(len(x))
        for start in range(0, len(x), ROWS_AT_ONCE):
            columns = np.ascontiguousarray(x[start : start + ROWS_AT_ONCE].T)  # (columns, rows)
            here = sums[start : start + ROWS_AT_ONCE]
            fails, adds = np.empty(len(here), dtype=np.bool_), np.empty(len(here), dtype=np.uint16)
            for splits, values in self._prepared:
                ruled_out = np.zeros(len(here), dtype=np.uint16)
                for feature, threshold, below_left in splits:
                    np.greater(columns[feature], threshold, out=fails)
                    np.multiply(fails, below_left, out=adds)
                    np.bitwise_or(ruled_out, adds, out=ruled_out)
                here += values[FIRST_LEFT[ruled_out]]
        return sums

    @cached_property
    def _prepared(self) -> list[Prepared]:
        """The trees, made ready to sum many rows."""
        return [_prepared(tree) for tree in self._trees()]

    @cached_property
    def _booster(self) -> Any:
        """The trees as LightGBM's own model."""
        import lightgbm

        return lightgbm.Booster(model_str=self._text())

    def _text(self) -> str:
        """Write the trees as LightGBM reads them."""
        names = " ".join(f"c{column}" for column in range(self.columns))
        ranges = " ".join(["[-inf:inf]"] * self.columns)
        lines = ["tree", "version=v4", "num_class=1", "num_tree_per_iteration=1", "label_index=0"]
        lines += [f"max_feature_idx={self.columns - 1}", "objective=binary sigmoid:1"]
        lines += [f"feature_names={names}", f"feature_infos={ranges}", ""]
        for number, tree in enumerate(self._trees()):
            k = len(tree["left_child"])
            lines += [f"Tree={number}", f"num_leaves={k + 1}", "num_cat=0"]
            for name, values in tree.items():
                lines.append(f"{name}={' '.join(map(repr, values.tolist()))}")
            zeros, ones = " ".join(["0"] * k), " ".join(["1"] * (k + 1))
            lines += [f"decision_type={' '.join(['2'] * k)}", f"split_gain={zeros}"]
            lines += [f"internal_value={zeros}", f"internal_weight={zeros}", f"leaf_weight={ones}"]
            lines += ["is_linear=0", "shrinkage=1", "", ""]
        return "\n".join([*lines, "end of trees", "", "parameters:", "end of parameters", ""])


def _rounded_down(threshold: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Give the greatest single-precision numbers that are not above: x ≤ t stays the same."""
    rounded = threshold.astype(np.float32)
    above = rounded > threshold
    return np.where(above, np.nextafter(rounded, np.float32(-np.inf)), rounded)


def _prepared(tree: Arrays) -> Prepared:
    """Give each split with the leaves below its left child, and the leaves from left to right."""
    left, right = tree["left_child"].tolist(), tree["right_child"].tolist()
    below: dict[int, list[int]] = {-leaf - 1: [leaf] for leaf in range(len(left) + 1)}
    for node in reversed(range(len(left))):  # children stand after their parents
        below[node] = below[left[node]] + below[right[node]]
    order = below[0] if left else [0]
    bit = {leaf: 1 << place for place, leaf in enumerate(order)}
    masks = [np.uint16(sum(bit[leaf] for leaf in below[child])) for child in left]
    splits = zip(tree["split_feature"].tolist(), tree["threshold"], masks, strict=True)
    return list(splits), tree["leaf_value"][order]
