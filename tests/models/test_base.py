"""Background is training rows, and nothing else; both labels count alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from proprl.arrays import IntArray
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.errors import SplitError, TrainingError
from proprl.graphs.evidence import Evidence
from proprl.models.base import label_weights, training_rows
from proprl.models.registry import METHODS, method, method_settings

N = 8
NOTHING = np.empty((0, 2), dtype=np.int64)


def labelled(*rows: tuple[int, int, int]) -> LabelledPairs:
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return LabelledPairs(table[:, :2], table[:, 2])


def split_of(train: LabelledPairs, *, validation: LabelledPairs | None = None) -> PairSplit:
    validation = LabelledPairs.empty() if validation is None else validation
    return PairSplit(train, validation, LabelledPairs.empty(), "given", promises_reversed=False)


TRAIN = labelled((0, 1, 1), (1, 2, 1), (3, 2, 1), (1, 0, 0), (2, 4, 0), (5, 3, 0))
SPLIT = split_of(TRAIN)
BACKGROUND = np.array([(0, 3), (3, 0), (4, 5), (6, 7)])


def evidence() -> Evidence:
    """Eight concepts, of which each resource holds two neighbours."""
    X = np.random.default_rng(0).normal(size=(N, 4))
    incidence = csr_array(np.eye(N, 4) + np.eye(N, 4, -1))
    return Evidence(X, transitions=csr_array(np.eye(N, N, 1)), incidence=incidence)


def test_the_labels_come_first_then_background_with_label_0() -> None:
    rows = training_rows(SPLIT, BACKGROUND)
    assert rows.pairs.tolist() == TRAIN.pairs.tolist() + BACKGROUND.tolist()
    assert rows.labels.tolist() == [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("nothing", [None, NOTHING])
def test_no_background_leaves_the_labels_as_they_are(nothing: IntArray | None) -> None:
    assert training_rows(SPLIT, nothing) is TRAIN


@pytest.mark.parametrize("split", [SPLIT, split_of(labelled((6, 7, 0)), validation=TRAIN)])
def test_a_labelled_pair_is_no_background(split: PairSplit) -> None:
    both = np.array([(0, 3), (1, 2), (2, 4)])
    with pytest.raises(
        TrainingError, match=r"2 of 3 background pairs have a label .* such as \(1, 2\)"
    ):
        training_rows(split, both)


def test_the_reverse_of_a_label_and_a_test_pair_may_be_background() -> None:
    asked = PairSplit(TRAIN, LabelledPairs.empty(), labelled((0, 3, 1)), "given", False)
    assert len(training_rows(asked, np.array([(2, 1), (0, 3)]))) == len(TRAIN) + 2


def test_background_is_pairs_of_concept_rows() -> None:
    with pytest.raises(SplitError, match=r"shape \(m, 2\), not \(2, 3\)"):
        training_rows(SPLIT, np.ones((2, 3), dtype=np.int64))
    with pytest.raises(SplitError, match=r"concept rows.*entry 1 is \(-1, 2\)"):
        training_rows(SPLIT, np.array([(0, 3), (-1, 2)]))


def test_the_labels_alone_decide_what_a_label_weighs() -> None:
    rare = labelled((0, 1, 1), (1, 0, 0), (2, 4, 0), (5, 3, 0))
    # A quarter is positive: 4 / (2 · 3) and 4 / (2 · 1). With background it is the same.
    assert label_weights(rare) == pytest.approx((2 / 3, 2.0))
    assert label_weights(TRAIN) == (1.0, 1.0)
    scorer = method("nb")(method_settings("nb"))
    report = scorer.fit(evidence(), split_of(rare), background=BACKGROUND, seed=0)
    assert report.class_weights == pytest.approx((2 / 3, 2.0))


def test_both_labels_count_alike() -> None:
    train = labelled(*((0, b, int(b <= 3)) for b in range(1, 101)))
    negative, positive = label_weights(train)
    assert 3 * positive == pytest.approx(97 * negative)
    assert 3 * positive + 97 * negative == pytest.approx(100)


def test_labels_within_a_tenth_of_one_half_are_not_weighted() -> None:
    assert label_weights(labelled(*((0, b, int(b <= 2)) for b in range(1, 6)))) == (1.0, 1.0)
    assert label_weights(labelled(*((0, b, int(b <= 3)) for b in range(1, 11)))) != (1.0, 1.0)


def test_labels_of_one_kind_have_no_balance() -> None:
    assert label_weights(labelled((0, 1, 1), (1, 2, 1))) == (1.0, 1.0)
    assert label_weights(LabelledPairs.empty()) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("rf", {"trees": 10}),
        ("nb", {}),
        ("trees", {"trees": 10}),
        ("proprl", {"size": 8, "epochs": 2}),
        ("gae", {"epochs": 2}),
    ],
)
def test_positives_and_background_are_enough_to_learn_from(
    name: str, settings: dict[str, Any]
) -> None:
    positives = split_of(labelled((0, 1, 1), (1, 2, 1), (3, 2, 1)))
    scorer = method(name)(method_settings(name, **settings), device="cpu")
    scorer.fit(evidence(), positives, background=BACKGROUND, seed=0)
    assert np.isfinite(scorer.score(BACKGROUND)).all()


@given(st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)), max_size=20))
def test_background_changes_no_column_of_a_classical_method(drawn: list[tuple[int, int]]) -> None:
    known = set(map(tuple, TRAIN.pairs.tolist()))
    background = np.array([pair for pair in drawn if pair not in known], dtype=np.int64)
    columns = []
    for given_ in (None, background.reshape(-1, 2)):
        scorer: Any = method("nb")(method_settings("nb", components="all"))
        scorer.fit(evidence(), SPLIT, background=given_, seed=0)
        columns.append(scorer.pair_features(BACKGROUND))
    np.testing.assert_array_equal(*columns)


def test_trees_count_labels_and_no_background() -> None:
    told, untold = (fitted("trees", background, trees=5) for background in (BACKGROUND, None))
    np.testing.assert_array_equal(told.known.pairs, TRAIN.pairs)
    np.testing.assert_array_equal(told._rows(BACKGROUND), untold._rows(BACKGROUND))


def test_with_background_trees_describe_a_row_without_the_labels_of_its_fold() -> None:
    """Else a prerequisite would be known by counts that are one lower than background's."""
    # All labels are about concept 0, as prerequisite; so is the background. With its own label
    # left out, each labelled row would count 19 positives from 0, and background 20.
    n = 60
    pairs = np.array([(0, b) for b in range(1, n)])
    train = LabelledPairs(pairs[:20], np.ones(20, dtype=np.int64))
    scorer: Any = method("trees")(method_settings("trees", trees=5))
    scorer._know(Evidence(np.zeros((n, 1))), train)
    rows = training_rows(split_of(train), pairs[20:])
    from_source = scorer._training_columns(rows, seed=0)[:, -8]
    # Twenty positives over ten folds: two in each, and eighteen outside, for every row.
    assert from_source.tolist() == [18.0] * len(rows)


def fitted(name: str, background: IntArray | None, **settings: Any) -> Any:
    scorer = method(name)(method_settings(name, **settings), device="cpu")
    scorer.fit(evidence(), SPLIT, background=background, seed=0)
    return scorer


def graphs(name: str, split: PairSplit) -> dict[str, Any]:
    """The parts of a network's inputs that carry messages over known prerequisites."""
    scorer: Any = method(name)(method_settings(name), device="cpu")
    inputs = scorer.prepare(evidence(), split)
    parts = {
        "conlearn": ["edges"],
        "lcpre": ["known"],
        "gae": ["A"],
        "vgae": ["A"],
        "mhavgae": ["concept_edges", "A"],
        "rvgae": ["graphs"],
    }
    return {part: getattr(inputs, part) for part in parts[name]}


@pytest.mark.parametrize("name", ["conlearn", "lcpre", "gae", "vgae", "mhavgae", "rvgae"])
def test_no_message_passes_over_background(name: str) -> None:
    with_background = split_of(training_rows(SPLIT, BACKGROUND))
    before, after = graphs(name, SPLIT), graphs(name, with_background)
    assert before.keys() == after.keys()
    assert any(len(graph) for graph in before.values())
    for part, graph in before.items():
        for one, other in zip(graph, after[part], strict=True):
            np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_an_autoencoder_reconstructs_background_as_no_link() -> None:
    scorer: Any = method("gae")(method_settings("gae"), device="cpu")
    links = scorer.prepare(evidence(), split_of(training_rows(SPLIT, BACKGROUND))).links
    cells = tuple(BACKGROUND.T)
    assert links.counted[cells].tolist() == [1, 1, 1, 1]
    assert links.target[cells].tolist() == [0, 0, 0, 0]
    assert links.counted.sum() == len(TRAIN) + len(BACKGROUND)


def test_only_refd_takes_no_background() -> None:
    refusing = {name for name, cls in METHODS.items() if not cls.takes_background}
    assert refusing == {"refd"}
