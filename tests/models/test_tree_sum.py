"""Trees that add up: what their growers said is what they say, and no damaged one is read."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch  # noqa: F401 - before LightGBM: it brings the OpenMP library that LightGBM needs
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from proprl.arrays import FloatArray, IntArray
from proprl.errors import BundleError
from proprl.models import tree_sum
from proprl.models.tree_sum import NODES, OF_LEAVES, OF_SPLITS, TreeSum

COLUMNS = 4
State = dict[str, npt.NDArray[Any]]


def lesson() -> tuple[FloatArray, IntArray]:
    """Rows with repeats in their columns, so that many lie exactly on a split."""
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(size=(400, 3)).round(1), rng.integers(0, 4, 400)])
    y = (x[:, 0] + x[:, 3] - 1.5 + rng.normal(size=400) > 0).astype(np.int64)
    return x.astype(np.float32), y


X, Y = lesson()


@pytest.fixture(scope="module")
def booster() -> Any:
    import lightgbm

    settings = {"objective": "binary", "num_leaves": 9, "verbose": -1, "num_threads": 1}
    settings |= {"extra_trees": True, "min_data_in_leaf": 5, "seed": 3}
    return lightgbm.train(settings, lightgbm.Dataset(X, Y), 25)


@pytest.fixture(scope="module")
def boosted(booster: Any) -> TreeSum:
    return TreeSum.from_lightgbm([booster.model_to_string()], COLUMNS)


@pytest.fixture(scope="module")
def forest() -> tuple[Any, TreeSum]:
    grown: Any = RandomForestClassifier(20, random_state=1).fit(X, Y)
    return grown, TreeSum.from_sklearn(grown, COLUMNS)


def restored(trees: TreeSum) -> TreeSum:
    return TreeSum.restored({name: array.copy() for name, array in trees.state().items()}, COLUMNS)


def leaves_by_hand(trees: TreeSum, x: FloatArray) -> tuple[IntArray, FloatArray]:
    """The leaf of each row in each tree (m, trees), and what these leaves add up to (m,)."""
    found = np.empty((len(x), len(trees.leaves)), dtype=np.int64)
    sums = np.zeros(len(x))
    for one, tree in enumerate(trees._trees()):
        for row in range(len(x)):
            node = 0 if len(tree["left_child"]) else -1
            while node >= 0:
                below = x[row, tree["split_feature"][node]] <= tree["threshold"][node]
                node = int(tree["left_child" if below else "right_child"][node])
            found[row, one] = -node - 1
            sums[row] += float(tree["leaf_value"][-node - 1])
    return found, sums


# What the growers said


def test_sums_are_those_of_the_arrays_bit_for_bit(boosted: TreeSum) -> None:
    expected = leaves_by_hand(boosted, X)[1]
    np.testing.assert_array_equal(boosted.sums(X), expected)
    np.testing.assert_array_equal(restored(boosted).sums(X), expected)


def test_many_rows_are_summed_split_by_split_to_the_same_bits(
    boosted: TreeSum, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = boosted.sums(X)  # LightGBM's descent, row by row
    many = np.tile(X, (tree_sum.MANY_ROWS // len(X) + 1, 1))
    monkeypatch.setattr(TreeSum, "_booster", None)  # it must not be asked
    np.testing.assert_array_equal(boosted.sums(many)[: len(X)], few)
    monkeypatch.setattr(tree_sum, "ROWS_AT_ONCE", 7)
    np.testing.assert_array_equal(boosted.sums(many)[: len(X)], few)


def test_small_trees_are_told_from_large_ones(
    boosted: TreeSum, forest: tuple[Any, TreeSum]
) -> None:
    assert boosted.leaves.max() <= tree_sum.LEAVES_AT_MOST < forest[1].leaves.max()
    many = np.tile(X, (tree_sum.MANY_ROWS // len(X) + 1, 1))
    np.testing.assert_array_equal(forest[1].sums(many)[: len(X)], forest[1].sums(X))


def test_one_leaf_and_many_rows() -> None:
    many = np.zeros((tree_sum.MANY_ROWS, COLUMNS), dtype=np.float32)
    assert set(leaf_and_split().sums(many).tolist()) == {-0.75}


def test_every_row_falls_into_the_leaf_that_lightgbm_said(booster: Any, boosted: TreeSum) -> None:
    """Splits are kept in single precision, and not one row changes sides."""
    np.testing.assert_array_equal(leaves_by_hand(boosted, X)[0], booster.predict(X, pred_leaf=True))


def test_sums_are_lightgbms_but_for_single_precision(booster: Any, boosted: TreeSum) -> None:
    np.testing.assert_allclose(boosted.sums(X), booster.predict(X, raw_score=True), atol=1e-5)


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_a_forest_says_what_scikit_learn_says(kind: Any) -> None:
    grown = kind(20, min_samples_leaf=2, class_weight={0: 0.5, 1: 2.0}, random_state=1).fit(X, Y)
    trees = TreeSum.from_sklearn(grown, COLUMNS)
    for kept in (trees, restored(trees)):
        np.testing.assert_array_equal(kept.sums(X), leaves_by_hand(trees, X)[1])
        np.testing.assert_allclose(kept.sums(X), grown.predict_proba(X)[:, 1], atol=1e-6)


def test_no_rows_have_no_sums(boosted: TreeSum) -> None:
    assert boosted.sums(X[:0]).shape == (0,)


# Shapley values


def test_shapley_values_add_up_to_what_is_said(
    boosted: TreeSum, forest: tuple[Any, TreeSum]
) -> None:
    for trees in (boosted, forest[1]):
        values = trees.contributions(X)
        assert values.shape == (len(X), COLUMNS + 1)
        np.testing.assert_allclose(values.sum(axis=1), trees.sums(X), atol=1e-9)
        assert np.ptp(values[:, -1]) == 0  # the base is the same for all rows


def test_shapley_values_are_those_of_the_grower(booster: Any, boosted: TreeSum) -> None:
    theirs = booster.predict(X, pred_contrib=True)
    np.testing.assert_allclose(restored(boosted).contributions(X), theirs, atol=1e-4)


def test_a_split_on_one_column_is_worth_its_distance_from_the_mean() -> None:
    # Of ten rows three go left, to -1; seven go right, to 2: the mean is 1.1.
    trees = restored(TreeSum(COLUMNS, np.array([2], dtype=np.int32), one_split()))
    rows = np.array([[0, 0.5, 0, 0], [0, 0.75, 0, 0]], dtype=np.float32)
    assert trees.sums(rows).tolist() == [-1, 2]
    np.testing.assert_allclose(
        trees.contributions(rows), [[0, -2.1, 0, 0, 1.1], [0, 0.9, 0, 0, 1.1]], atol=1e-9
    )


def one_split() -> State:
    nodes = {
        "split_feature": [1],
        "threshold": [0.5],
        "left_child": [-1],
        "right_child": [-2],
        "internal_count": [10],
        "leaf_value": [-1, 2],
        "leaf_count": [3, 7],
    }
    return {name: np.array(values, dtype=NODES[name]) for name, values in nodes.items()}


# Trees of one leaf


def leaf_and_split() -> TreeSum:
    """A tree that is nothing but a leaf of 0.25, then one with a split."""
    nodes = one_split()
    nodes["leaf_value"] = np.array([0.25, -1, 2], dtype=np.float32)
    nodes["leaf_count"] = np.array([10, 3, 7], dtype=np.int32)
    return TreeSum(COLUMNS, np.array([1, 2], dtype=np.int32), nodes)


def test_a_tree_of_one_leaf_says_the_same_of_every_row() -> None:
    trees, rows = restored(leaf_and_split()), np.array([[0, 0, 0, 0], [0, 1, 0, 0]])
    assert trees.sums(rows.astype(np.float32)).tolist() == [-0.75, 2.25]
    np.testing.assert_allclose(trees.contributions(rows)[:, -1], 1.35)


def test_lightgbm_that_finds_nothing_to_split_gives_one_leaf() -> None:
    import lightgbm

    settings = {"objective": "binary", "verbose": -1, "min_data_in_leaf": 500, "num_threads": 1}
    nothing = lightgbm.train(settings, lightgbm.Dataset(X, Y), 5)
    trees = restored(TreeSum.from_lightgbm([nothing.model_to_string()], COLUMNS))
    assert set(trees.leaves.tolist()) == {1}
    np.testing.assert_allclose(trees.sums(X), nothing.predict(X, raw_score=True), atol=1e-6)


def test_a_forest_of_stumps_and_leaves_is_kept() -> None:
    labels = np.zeros(len(X), dtype=np.int64)
    labels[0] = 1  # most resamples of the rows hold one label only
    grown: Any = RandomForestClassifier(6, max_depth=1, random_state=4).fit(X, labels)
    trees = restored(TreeSum.from_sklearn(grown, COLUMNS))
    assert set(trees.leaves.tolist()) == {1, 2}
    np.testing.assert_allclose(trees.sums(X), grown.predict_proba(X)[:, 1], atol=1e-6)


# Damage


def changed(name: str, place: int, value: float) -> Callable[[State], None]:
    def change(state: State) -> None:
        state[name][place] = value

    return change


def put(name: str, array: Any, dtype: Any = None) -> Callable[[State], None]:
    return lambda state: state.update({name: np.array(array, dtype or state[name].dtype)})


def a_cycle(state: State) -> None:
    """The second split of the first tree leads back to the first."""
    state["left_child"][1] = 0


def two_parents(state: State) -> None:
    state["left_child"][0] = state["right_child"][0]


def shortened(name: str) -> Callable[[State], None]:
    return lambda state: state.update({name: state[name][:-1]})


DAMAGE: dict[str, Callable[[State], object]] = {
    **{f"no {name}": lambda state, name=name: state.pop(name) for name in ("leaves", *NODES)},
    **{f"a shorter {name}": shortened(name) for name in ("leaves", *NODES)},
    **{
        f"{name} in double precision": lambda state, name=name: state.update(
            {name: state[name].astype(np.float64)}
        )
        for name in ("columns", "leaves", *NODES)
    },
    "leaf_value as a matrix": lambda state: state.update(leaf_value=state["leaf_value"][:, None]),
    "text for numbers": put("threshold", ["a"], "U1"),
    "other columns": put("columns", [COLUMNS + 1]),
    "columns below 0": put("columns", [-1]),
    "two numbers of columns": put("columns", [COLUMNS, COLUMNS]),
    "no trees": lambda state: state.update({name: state[name][:0] for name in ("leaves", *NODES)}),
    "a tree without a leaf": changed("leaves", 0, 0),
    "leaves below 0": changed("leaves", 0, -3),
    "more leaves than there are": changed("leaves", 0, 900),
    "the fewest leaves a number can say": changed("leaves", 0, -(2**31)),
    "leaves without end": changed("leaves", 0, 2**31 - 1),
    "a threshold that is no number": changed("threshold", 0, np.nan),
    "an infinite threshold": changed("threshold", 0, np.inf),
    "a leaf that is no number": changed("leaf_value", 0, np.nan),
    "an infinite leaf": changed("leaf_value", 0, -np.inf),
    "a column that is not there": changed("split_feature", 0, COLUMNS),
    "a column below 0": changed("split_feature", 0, -1),
    "a child that is not there": changed("left_child", 0, 999),
    "a leaf that is not there": changed("right_child", 0, -999),
    "a cycle": a_cycle,
    "its own child": changed("left_child", 0, 0),
    "a node with two parents": two_parents,
    "a count below 0": changed("leaf_count", 0, -1),
    "a split that counts below 0": changed("internal_count", 0, -1),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_is_damaged_is_refused_before_the_library_reads_it(
    damage: str, boosted: TreeSum, monkeypatch: pytest.MonkeyPatch
) -> None:
    import lightgbm

    monkeypatch.setattr(lightgbm, "Booster", lambda **_: pytest.fail("the library read it"))
    state = {name: array.copy() for name, array in boosted.state().items()}
    DAMAGE[damage](state)
    with pytest.raises(BundleError, match="the trees"):
        TreeSum.restored(state, COLUMNS)


def test_a_state_holds_what_a_restored_one_needs_and_nothing_else(boosted: TreeSum) -> None:
    state = boosted.state()
    assert set(state) == {"columns", "leaves", *OF_SPLITS, *OF_LEAVES}
    assert {array.dtype.itemsize for array in state.values()} == {4}
    again = restored(boosted).state()
    assert all(again[name].tobytes() == array.tobytes() for name, array in state.items())


FUZZING = """
import sys
import numpy as np
from proprl.errors import BundleError
from proprl.models.tree_sum import TreeSum

X = np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32)
good = dict(np.load(sys.argv[1]))
rng = np.random.default_rng(1)


def damaged():
    state = {name: array.copy() for name, array in good.items()}
    names = rng.choice(sorted(state), size=rng.integers(1, 4))
    for name in names:
        array, what = state[name], rng.integers(4)
        if what == 0 and len(array):  # some bytes
            raw = array.view(np.uint8)
            raw[rng.integers(len(raw), size=3)] = rng.integers(256, size=3)
        elif what == 1:  # other numbers of the right type
            bits = rng.integers(-2**31, 2**31, size=len(array)).astype(np.int32)
            state[name] = bits.view(array.dtype)
        elif what == 2:  # small ones, which are right more often
            state[name] = rng.integers(-8, 9, size=len(array)).astype(array.dtype)
        else:  # another length, or another order
            place = rng.integers(len(array) + 1)
            state[name] = array[place:] if rng.integers(4) == 0 else rng.permutation(array)
    return state


read = refused = 0
for _ in range(int(sys.argv[2])):
    try:
        trees = TreeSum.restored(damaged(), 4)
    except BundleError:
        refused += 1
        continue
    assert np.isfinite(trees.sums(X)).all()
    trees.contributions(X)
    read += 1
print(read, refused)
"""


def test_whatever_a_file_holds_it_is_refused_or_answers(boosted: TreeSum, tmp_path: Path) -> None:
    """In a process of its own: a library that trusts what it reads may take the process down."""
    np.savez(tmp_path / "trees.npz", **boosted.state())
    command = [sys.executable, "-c", FUZZING, str(tmp_path / "trees.npz"), "300"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
    read, refused = map(int, ended.stdout.split())
    assert min(read, refused) > 20  # else nothing was tried
