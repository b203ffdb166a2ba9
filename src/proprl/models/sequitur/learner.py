"""How Sequitur's trees are grown."""

from __future__ import annotations

import torch  # before LightGBM: it brings the OpenMP library that LightGBM needs

from proprl.arrays import FloatArray, IntArray
from proprl.models.tree_sum import TreeSum

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
BINS = 63


def grown_trees(
    x: FloatArray, y: IntArray, weights: FloatArray, *, trees: int, times: int = 1, seed: int
) -> TreeSum:
    """Learn from rows, which count by their weights: the sum of leaves is a row's log-odds.

    The trees are grown several `times`, and their mean is taken. The same rows and seed give the
    same trees.
    """
    import lightgbm

    threads = torch.get_num_threads()
    # Columns that are the same in all rows stay: columns are told apart by their place.
    data = lightgbm.Dataset(
        x, y, weight=weights, params={"feature_pre_filter": False, "max_bin": BINS}
    )
    grown = [
        lightgbm.train({**GROWTH, "num_threads": threads, "seed": times * seed + time}, data, trees)
        for time in range(times)
    ]
    return TreeSum.from_lightgbm([one.model_to_string() for one in grown], x.shape[1])
