"""How Sequitur's trees are grown."""

from __future__ import annotations

from typing import Any

import torch  # before LightGBM: it brings the OpenMP library that LightGBM needs

from proprl.arrays import FloatArray, IntArray
from proprl.models.forests.tree_sum import TreeSum

# Trees that split at random places, one of few columns each: many weak opinions generalise from
# few labels better than a few sharp ones.
GROWTH = {
    "objective": "binary",
    "extra_trees": True,
    "learning_rate": 0.045,
    "num_leaves": 15,
    "feature_fraction": 0.3,
    "min_data_in_leaf": 20,
    "lambda_l2": 5.0,
    "deterministic": True,
    "force_col_wise": True,
    "verbose": -1,
}

# Places where a column may be split: more of them take longer and tell no more.
PLACES_TO_SPLIT = 63


class Lesson:
    """Rows to learn from, which count by their weights; the sum of trees is a row's log-odds."""

    def __init__(self, x: FloatArray, y: IntArray, weights: FloatArray) -> None:
        import lightgbm

        self.columns = x.shape[1]
        # Columns that are the same in all rows stay: columns are told apart by their place.
        binning = {"feature_pre_filter": False, "max_bin": PLACES_TO_SPLIT, "verbose": -1}
        binning["num_threads"] = torch.get_num_threads()
        self._rows: Any = lightgbm.Dataset(x, y, weight=weights, params=binning).construct()

    def grown(
        self, trees: int, *, among: IntArray | None = None, times: int = 1, seed: int
    ) -> TreeSum:
        """Grow trees from all rows, or those `among` them: the mean of several `times`."""
        from lightgbm import train

        rows = self._rows if among is None else self._rows.subset(among)
        growth = {**GROWTH, "num_threads": torch.get_num_threads()}
        seeds = range(times * seed, times * (seed + 1))
        grown = [train({**growth, "seed": one}, rows, trees) for one in seeds]
        return TreeSum.from_lightgbm([one.model_to_string() for one in grown], self.columns)
