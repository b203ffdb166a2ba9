"""RefD, against numbers worked by hand and a direct reading of its definition."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.errors import MissingInputError
from proprl.graphs.evidence import Evidence
from proprl.models.registry import method, method_settings
from proprl.models.rivals.refd import (
    THETA,
    Weights,
    references_in_incidence,
    references_in_transitions,
)

NOTHING = LabelledPairs.empty()
UNLABELLED = PairSplit(NOTHING, NOTHING, NOTHING, "none", promises_reversed=True)


def every_pair(n: int) -> IntArray:
    return np.array([(i, j) for i in range(n) for j in range(n)])


def fitted(evidence: Evidence, split: PairSplit = UNLABELLED, **changes: Any) -> Any:
    scorer = method("refd")(method_settings("refd", **changes))
    scorer.fit(evidence, split, seed=0)
    return scorer


def without_features(**views: Any) -> Evidence:
    n = next(iter(views.values())).shape[0]
    return Evidence(np.empty((n, 0)), **views)


def by_definition(
    n: int, w: Callable[[int, int], float], r: Callable[[int, int], bool], pairs: IntArray
) -> FloatArray:
    """s(a, b) = RefD(b, a), summed term by term."""

    def refers(A: int, B: int) -> float:
        whole = sum(w(c, A) for c in range(n))
        return sum(w(c, A) for c in range(n) if r(c, B)) / whole if whole else 0.0

    return np.array([refers(b, a) - refers(a, b) for a, b in pairs.tolist()])


def test_a_case_worked_by_hand() -> None:
    """0 = calculus, 1 = algebra, 2 and 3 = limits and series.

    Calculus links to limits (9 times), series (3) and algebra (1); limits and series link to
    algebra; algebra links to arithmetic (4) only. Of calculus' three references, two link to
    algebra: 2/3. Of algebra's one reference, none links to calculus: 0. So algebra is a
    prerequisite of calculus with s = 2/3.
    """
    T = np.zeros((5, 5))
    T[0, 2], T[0, 3], T[0, 1], T[2, 1], T[3, 1], T[1, 4] = 9, 3, 1, 1, 1, 2
    s = references_in_transitions(csr_array(T), "equal").difference(np.array([[1, 0], [0, 1]]))
    np.testing.assert_allclose(s, [2 / 3, -2 / 3])
    # df is 1 for limits and series, 3 for algebra, of 5 concepts.
    rare, common = np.log(5), np.log(5 / 3)
    weighed = references_in_transitions(csr_array(T), "tfidf").difference(np.array([[1, 0]]))
    np.testing.assert_allclose(weighed, 12 * rare / (12 * rare + common))


@pytest.mark.parametrize("weights", ["equal", "tfidf"])
def test_transitions_by_definition(weights: Weights) -> None:
    n = 12
    T = np.random.default_rng(1).poisson(0.4, size=(n, n)).astype(float)  # self-loops included
    links = T * (1 - np.eye(n))
    df = (links > 0).sum(axis=0)

    def w(c: int, A: int) -> float:
        if weights == "equal":
            return float(links[A, c] > 0)
        return float(links[A, c] * np.log(n / df[c])) if links[A, c] else 0.0

    s = references_in_transitions(csr_array(T), weights).difference(every_pair(n))
    expected = by_definition(n, w, lambda c, B: links[c, B] > 0, every_pair(n))
    np.testing.assert_allclose(s, expected, atol=1e-12)
    assert len(np.unique(s.round(9))) > 20


@pytest.mark.parametrize("weights", ["equal", "tfidf"])
@pytest.mark.parametrize("tau", [0.1, 0.5, 1.0])
def test_incidence_by_definition(weights: Weights, tau: float) -> None:
    n, m = 10, 14
    M = (np.random.default_rng(2).random((n, m)) < 0.3).astype(float)
    M[3] = 0  # a concept in no resource
    met = (M @ M.T) * (1 - np.eye(n))
    degree = M.sum(axis=1)

    def w(c: int, A: int) -> float:
        rarity = 1.0 if weights == "equal" else np.log(m / degree[c]) if degree[c] else 0.0
        return float(met[c, A] * rarity)

    def r(c: int, B: int) -> bool:
        return bool(met[c, B] > 0 and met[c, B] / degree[c] >= tau)

    s = references_in_incidence(csr_array(M), weights, tau).difference(every_pair(n))
    np.testing.assert_allclose(s, by_definition(n, w, r, every_pair(n)), atol=1e-12)


@pytest.mark.parametrize("weights", ["equal", "tfidf"])
def test_the_reverse_is_the_exact_negative(weights: Weights) -> None:
    T = csr_array(np.random.default_rng(1).poisson(0.3, size=(30, 30)).astype(float))
    references, pairs = references_in_transitions(T, weights), every_pair(30)
    s = references.difference(pairs)
    np.testing.assert_array_equal(s, -references.difference(pairs[:, ::-1]))
    assert np.abs(s).max() <= 1


def test_equal_shares_of_different_counts_are_an_exact_zero() -> None:
    """One of two and two of four references: no rounding may break the tie."""
    T = np.zeros((9, 9))
    T[0, [2, 3]] = T[1, [4, 5, 6, 7]] = 1
    T[2, 1] = T[4, 0] = T[5, 0] = 1
    references = references_in_transitions(csr_array(T), "equal")
    assert references.difference(np.array([[0, 1]]))[0] == 0.0


def test_blocks_of_sources_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    T = csr_array(np.random.default_rng(1).poisson(0.3, size=(30, 30)).astype(float))
    references = references_in_transitions(T, "equal")
    pairs = np.random.default_rng(0).permutation(every_pair(30))[:200]
    s = references.difference(pairs)
    monkeypatch.setattr("proprl.models.rivals.refd.CELLS_AT_ONCE", 60)  # two sources at a time
    np.testing.assert_array_equal(references.difference(pairs), s)
    assert references.difference(pairs[:0]).shape == (0,)


def chain() -> Evidence:
    """Learners walk up a chain of 40 concepts by steps of 1, 2 or 3."""
    T = np.zeros((40, 40))
    for step in (1, 2, 3):
        T += np.eye(40, k=step)
    return without_features(transitions=T)


def chain_labels(seed: int, count: int = 60) -> LabelledPairs:
    rng = np.random.default_rng(seed)
    i = rng.integers(0, 36, size=count)
    near = np.column_stack([i, i + rng.integers(1, 4, size=count)])
    up = rng.random(count) < 0.5
    return LabelledPairs(np.where(up[:, None], near, near[:, ::-1]), up.astype(np.int64))


def test_without_labels_the_sign_is_that_of_links() -> None:
    scorer = fitted(chain())
    assert scorer.report.facts["sign"] == 1
    assert scorer.report.facts["sign_chosen_by"] == "convention"
    pairs = np.array([[5, 7], [7, 5], [0, 30]])
    np.testing.assert_allclose(scorer.score(pairs), (scorer.details(pairs)["refd"] + 1) / 2)
    assert scorer.report.threshold == (1 + THETA["equal"]) / 2
    assert scorer.score(np.array([[7, 5]]))[0] > 0.5  # 5 leads to 7, as 5 would link to 7


def test_labels_turn_the_sign_round_where_learners_walk_forwards() -> None:
    split = PairSplit(chain_labels(0), chain_labels(1), NOTHING, "random", promises_reversed=False)
    scorer = fitted(chain(), split)
    assert scorer.report.facts["sign"] == -1
    assert scorer.report.facts["sign_chosen_by"] == "labels"
    assert scorer.report.facts["probability"] == "logistic"
    up, down = scorer.score(np.array([[5, 7], [7, 5]]))
    assert up > scorer.report.threshold > down


def test_train_decides_where_validation_is_too_small() -> None:
    split = PairSplit(
        chain_labels(0), chain_labels(1, 4), NOTHING, "random", promises_reversed=False
    )
    scorer = fitted(chain(), split)
    assert scorer.report.facts["sign"] == -1
    assert scorer.report.threshold == 0.5


def test_a_curve_that_contradicts_validation_is_not_used() -> None:
    train, validation = chain_labels(0), chain_labels(1)
    lies = LabelledPairs(train.pairs, 1 - train.labels)
    split = PairSplit(lies, validation, NOTHING, "random", promises_reversed=False)
    scorer = fitted(chain(), split)
    assert scorer.report.facts["sign"] == -1
    assert scorer.report.facts["probability"] == "(s+1)/2"


def test_zeros_are_counted() -> None:
    split = PairSplit(chain_labels(0), chain_labels(1), NOTHING, "random", promises_reversed=False)
    labelled = np.concatenate([split.train.pairs, split.validation.pairs])
    scorer = fitted(chain(), split)
    share = (scorer.details(labelled)["refd"] == 0).mean()
    assert scorer.report.facts["zero_share"] == pytest.approx(share)
    alone = fitted(chain())  # without labels they are counted over all ordered pairs
    every = every_pair(40)
    every = every[every[:, 0] != every[:, 1]]
    share = (alone.details(every)["refd"] == 0).mean()
    assert alone.report.facts["zero_share"] == pytest.approx(share)
    assert share > 0.5


def test_tau_is_chosen_on_validation() -> None:
    """In a world in which one τ is right, that one is found."""
    M = (np.random.default_rng(5).random((30, 60)) < np.linspace(0.1, 0.6, 30)[:, None]).astype(int)
    pairs = every_pair(30)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    for tau in (0.1, 0.2, 0.3, 0.5):
        s = references_in_incidence(csr_array(M.astype(float)), "equal", tau).difference(pairs)
        labels = (s > np.median(s)).astype(np.int64)
        split = PairSplit(
            NOTHING, LabelledPairs(pairs, labels), NOTHING, "random", promises_reversed=False
        )
        scorer = fitted(without_features(incidence=M), split)
        assert scorer.report.facts["tau"] == tau
        assert scorer.report.facts["source"] == "incidence"
        assert scorer.report.views == ("resource",)


def test_transitions_come_before_incidence_unless_asked_otherwise() -> None:
    evidence = without_features(transitions=np.eye(6, k=1), incidence=np.ones((6, 2)))
    assert fitted(evidence).report.views == ("behaviour",)
    assert fitted(evidence, source="incidence").report.views == ("resource",)
    with pytest.raises(MissingInputError, match=r"add interactions\.csv or transitions\.csv"):
        fitted(without_features(incidence=np.ones((6, 2))), source="transitions")


def test_no_matrix_of_all_pairs_is_held() -> None:
    """5,000 concepts with 50 references each: dense, each of the matrices would take 200 MB."""
    rng = np.random.default_rng(0)
    T = csr_array(random_array((5_000, 5_000), density=0.01, rng=rng))
    references = references_in_transitions(T, "tfidf")
    pairs = rng.integers(0, 5_000, size=(2_000, 2))
    tracemalloc.start()
    s = references.difference(pairs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6

    def refers(A: int, B: int) -> float:
        w = references.W[[A]].toarray()[0]
        return float(w @ references.R[:, [B]].toarray()[:, 0] / w.sum())

    expected = [refers(b, a) - refers(a, b) for a, b in pairs[:5].tolist()]
    np.testing.assert_allclose(s[:5], expected, atol=1e-12)
