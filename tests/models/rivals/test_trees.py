"""Trees: what is counted about a pair, and that its own label is not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier

from proprl.arrays import IntArray
from proprl.data import Course
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import grouped_split
from proprl.features.gather import gather_evidence
from proprl.models.registry import method, method_settings
from proprl.models.rivals.trees import TreesScorer, label_counts

N = 5
ORDERED = [(a, b) for a in range(N) for b in range(N) if a != b]


def known(*labelled: tuple[int, int, int]) -> LabelledPairs:
    rows = np.array(labelled, dtype=np.int64).reshape(-1, 3)
    return LabelledPairs(rows[:, :2], rows[:, 2])


def counts(labels: LabelledPairs, pair: tuple[int, int]) -> list[float]:
    return [float(number) for number in label_counts(labels, np.array([pair]), N)[0]]


def test_labels_are_counted_by_where_they_begin_and_end() -> None:
    labels = known((0, 1, 1), (0, 2, 1), (3, 0, 1), (4, 1, 1), (1, 2, 0), (2, 0, 0))
    # Positives: 0 begins two and ends one, 1 ends two; negatives: 1 begins one, 0 ends one.
    assert counts(labels, (0, 1)) == [1, 1, 0, 1, 0, 1, 1, 0]
    assert counts(labels, (1, 0)) == [0, 1, 1, 1, 1, 0, 0, 1]


def test_a_label_that_is_given_twice_counts_once() -> None:
    assert counts(known((0, 1, 1), (0, 1, 1)), (0, 2)) == counts(known((0, 1, 1)), (0, 2))


@given(
    labels=st.dictionaries(st.sampled_from(ORDERED), st.integers(0, 1)),
    pair=st.sampled_from(ORDERED),
)
def test_no_label_is_its_own_evidence(
    labels: dict[tuple[int, int], int], pair: tuple[int, int]
) -> None:
    others = {p: label for p, label in labels.items() if set(p) != set(pair)}
    with_it, without = (
        known(*((a, b, label) for (a, b), label in which.items())) for which in (labels, others)
    )
    assert counts(with_it, pair) == counts(without, pair)


@pytest.fixture(scope="module")
def taught(planted: Course) -> tuple[TreesScorer, IntArray, IntArray]:
    split = grouped_split(planted.labelled_pairs(), fractions=(0.6, 0.2, 0.2), seed=0)
    scorer = method("trees")(method_settings("trees", trees=20), device="cpu")
    scorer.fit(gather_evidence(planted)[0], split, seed=3)
    assert isinstance(scorer, TreesScorer)
    return scorer, split.train.pairs, split.train.labels


def test_scores_are_those_of_scikit_learn(taught: tuple[TreesScorer, IntArray, IntArray]) -> None:
    scorer, pairs, labels = taught
    weights = dict(enumerate(scorer.report.class_weights))
    forest = ExtraTreesClassifier(20, min_samples_leaf=2, class_weight=weights, random_state=3)
    forest.fit(scorer._rows(pairs), labels)
    turned = pairs[:, ::-1].copy()
    expected = forest.predict_proba(scorer._rows(turned))[:, 1]
    np.testing.assert_allclose(scorer.score(turned), expected, atol=1e-6)
