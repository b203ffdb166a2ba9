"""NB, SVM and RF: what they keep is enough to score as scikit-learn would."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.errors import TrainingError
from proprl.evaluation.metrics import auc, f1
from proprl.graphs.evidence import Evidence
from proprl.models.registry import method, method_settings
from proprl.models.rivals.nb_svm_rf import NaiveBayesScorer

N, D = 40, 50  # 100 columns: more than the 64 components of NB


def labelled(count: int, seed: int) -> LabelledPairs:
    """Pairs that are prerequisites where the first column rises; a few labels are wrong."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, N, size=(count, 2))
    rises = features()[pairs[:, 0], 0] < features()[pairs[:, 1], 0]
    return LabelledPairs(pairs, (rises ^ (rng.random(count) < 0.1)).astype(np.int64))


def features() -> FloatArray:
    X: FloatArray = np.random.default_rng(0).normal(size=(N, D)) * np.linspace(2, 1, D) + 3
    return X


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return Evidence(features())


@pytest.fixture(scope="module")
def split() -> PairSplit:
    return PairSplit(
        labelled(160, 1), labelled(60, 2), labelled(80, 3), "random", promises_reversed=False
    )


def fitted(name: str, evidence: Evidence, split: PairSplit, seed: int = 0, **changes: Any) -> Any:
    scorer = method(name)(method_settings(name, **changes))
    scorer.fit(evidence, split, seed=seed)
    return scorer


def standardised(evidence: Evidence, split: PairSplit) -> tuple[FloatArray, FloatArray]:
    """[e_a; e_b] of the training and the test pairs, by scikit-learn's own scaler."""

    def joined(pairs: IntArray) -> FloatArray:
        X = evidence.features.astype(np.float32)
        return np.hstack([X[pairs[:, 0]], X[pairs[:, 1]]])

    scaler = StandardScaler().fit(joined(split.train.pairs))
    return scaler.transform(joined(split.train.pairs)), scaler.transform(joined(split.test.pairs))


def test_a_pair_is_its_two_concepts_in_order(evidence: Evidence, split: PairSplit) -> None:
    scorer = fitted("nb", evidence, split)
    x = scorer.pair_features(split.train.pairs)
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(x.std(axis=0), 1, atol=1e-5)
    np.testing.assert_allclose(x, standardised(evidence, split)[0], atol=1e-4)
    forward, backward = scorer.pair_features(np.array([[1, 2], [2, 1]])) * scorer.scale
    np.testing.assert_allclose((forward + scorer.mean)[:D], (backward + scorer.mean)[D:], atol=1e-4)


def test_a_constant_column_is_harmless(split: PairSplit) -> None:
    X = features()
    X[:, 1] = 0.1
    for name in ("nb", "svm", "rf"):
        assert np.isfinite(fitted(name, Evidence(X), split).score(split.test.pairs)).all()


def test_nb_weighs_normal_densities(evidence: Evidence, split: PairSplit) -> None:
    """log-odds = log P(1) - log P(0) + Σ_c log N(x_c; μ_1c, v_1c) - log N(x_c; μ_0c, v_0c)."""
    scorer = fitted("nb", evidence, split, components="all")
    x, x_test = (a.astype(np.float64) for a in standardised(evidence, split))
    y = split.train.labels
    odds = np.zeros(len(x_test))
    for sign, label in ((1, 1), (-1, 0)):
        mean, deviation = x[y == label].mean(axis=0), x[y == label].std(axis=0)
        density = norm.logpdf(x_test, mean, deviation).sum(axis=1)
        odds += sign * (density + np.log((y == label).mean()))
    p = scorer.score(split.test.pairs)
    temperature = scorer.state()["temperature"][0]
    np.testing.assert_allclose(np.log(p / (1 - p)) * temperature, odds, rtol=1e-3, atol=1e-2)
    likelier = GaussianNB().fit(x, y).predict(x_test)
    np.testing.assert_array_equal(p >= 0.5, likelier == 1)


def test_nb_keeps_its_ranking_on_many_columns() -> None:
    """Unscaled, log-odds in the hundreds round to probabilities of exactly 0 and 1."""
    rng = np.random.default_rng(0)
    pairs = np.array([(i, j) for i in range(N) for j in range(N) if i != j])
    y = (pairs[:, 0] < pairs[:, 1]).astype(np.int64)
    X = np.linspace(-1, 1, N)[:, None] + 0.3 * rng.normal(size=(N, 800))
    order = rng.permutation(len(pairs))
    train, validation = (LabelledPairs(pairs[o], y[o]) for o in (order[:400], order[400:500]))
    split = PairSplit(train, validation, LabelledPairs.empty(), "random", promises_reversed=False)
    scorer = fitted("nb", Evidence(X), split, components="all")
    p = scorer.score(pairs)
    assert scorer.state()["temperature"][0] > 5
    assert len(np.unique(p)) > 0.99 * len(p)


def test_nb_chooses_its_columns_on_validation(evidence: Evidence, split: PairSplit) -> None:
    reached = {}
    for components in ("all", 64, "auto"):
        scorer = fitted("nb", evidence, split, components=components)
        validation = split.validation
        reached[components] = auc(validation.labels, scorer.score(validation.pairs))
    assert reached["all"] != reached[64]
    assert reached["auto"] == max(reached["all"], reached[64])


def test_nb_reduces_where_validation_cannot_choose(evidence: Evidence, split: PairSplit) -> None:
    few = PairSplit(split.train, labelled(10, 2), split.test, "random", promises_reversed=False)
    scorer = NaiveBayesScorer(method_settings("nb"))
    report = scorer.fit(evidence, few, seed=0)
    assert report.facts["components"] == 64
    assert report.threshold == 0.5


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_svm_is_five_calibrated_machines(kernel: str, evidence: Evidence, split: PairSplit) -> None:
    x, x_test = standardised(evidence, split)
    machine = LinearSVC(dual=False, tol=1e-2) if kernel == "linear" else SVC(gamma="scale")
    cv = StratifiedKFold(5, shuffle=True, random_state=3)
    theirs = CalibratedClassifierCV(machine, cv=cv).fit(x, split.train.labels)
    ours = fitted("svm", evidence, split, seed=3, kernel=kernel)
    expected = theirs.predict_proba(x_test)[:, 1]
    # Their "scale" is that of each fold, ours that of all training pairs.
    np.testing.assert_allclose(ours.score(split.test.pairs), expected, atol=0.01)


def test_svm_keeps_support_vectors_as_pairs(evidence: Evidence, split: PairSplit) -> None:
    state = fitted("svm", evidence, split, kernel="rbf").state()
    support = {tuple(pair) for pair in state["support"].tolist()}
    assert support <= {tuple(pair) for pair in split.train.pairs.tolist()}
    assert state["duals"].shape == (5, len(state["support"]))


def test_svm_needs_two_of_each_label(evidence: Evidence, split: PairSplit) -> None:
    positive = int(np.flatnonzero(split.train.labels)[0])
    rows = np.append(np.flatnonzero(split.train.labels == 0), positive)
    lonely = PairSplit(
        split.train.take(rows), split.validation, split.test, "random", promises_reversed=False
    )
    with pytest.raises(TrainingError, match="label more pairs"):
        fitted("svm", evidence, lonely)


def test_rf_is_the_mean_of_its_trees(evidence: Evidence, split: PairSplit) -> None:
    """The flat nodes give what the trees give, to the last leaf."""
    scorer = fitted("rf", evidence, split, seed=7, trees=30)
    x = scorer.pair_features(split.train.pairs)
    theirs = RandomForestClassifier(30, class_weight={0: 1.0, 1: 1.0}, random_state=7)
    theirs.fit(x, split.train.labels)
    expected = theirs.predict_proba(scorer.pair_features(split.test.pairs))[:, 1]
    np.testing.assert_allclose(scorer.score(split.test.pairs), expected, atol=1e-7)


def test_rf_is_kept_in_small_numbers(evidence: Evidence, split: PairSplit) -> None:
    state = fitted("rf", evidence, split, trees=10).state()
    assert {array.dtype.itemsize for array in state.values()} == {4}
    assert len(state["leaves"]) == 10


@pytest.mark.parametrize("name", ["nb", "svm", "rf"])
def test_the_threshold_has_the_best_f1_on_validation(
    name: str, evidence: Evidence, split: PairSplit
) -> None:
    scorer = fitted(name, evidence, split)
    p, y = scorer.score(split.validation.pairs), split.validation.labels
    best = max(f1(y, p, threshold) for threshold in p)
    assert f1(y, p, scorer.report.threshold) == best


@pytest.mark.parametrize("name", ["nb", "svm", "rf"])
def test_scores_do_not_depend_on_how_many_are_asked(
    name: str, evidence: Evidence, split: PairSplit, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = fitted(name, evidence, split)
    together = scorer.score(split.test.pairs)
    monkeypatch.setattr("proprl.models.rivals.nb_svm_rf.SCORED_AT_ONCE", 7)
    np.testing.assert_allclose(scorer.score(split.test.pairs), together, atol=1e-9)
