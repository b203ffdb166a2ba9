"""NB, SVM and RF: classifiers on an ordered pair as one vector.

A pair (a, b) becomes x = [e_a; e_b], standardised on the training pairs; the two halves keep the
order of the pair. A method says what it learns from such vectors (`learned_from`) and what it makes
of them (`probability`). What it has learned is named arrays. Scores are computed from these
arrays alone, so a model that was saved and loaded gives the same ones.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import Field
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC

from proprl.arrays import FloatArray, IntArray
from proprl.data.splits.labelled import LabelledPairs
from proprl.errors import TrainingError
from proprl.evaluation.metrics import auc, enough_to_choose
from proprl.models.base import SCORED_AT_ONCE, FitReport, PairScorer, Settings, State, Task
from proprl.models.tree_sum import TreeSum

Parameters: TypeAlias = dict[str, Any]
"""What a method has learned: named arrays."""
Facts: TypeAlias = Mapping[str, float | str]
"""What is worth telling about it."""

CONCEPTS = ("X", "mean", "scale")
# Naive Bayes takes columns for independent. Those of a text encoder are not; principal components
# are at least uncorrelated.
COMPONENTS = 64
# Log-odds are scaled so that the greatest of a training pair is this. Naive Bayes adds up hundreds
# of columns, and from 37 on a double rounds σ to 1: unscaled, the ranking would drown in ties.
GREATEST_LOG_ODDS = 30.0
CALIBRATION_FOLDS = 5
# How far the gradient must fall. On MOOC the usual 1e-4 took 13 times as long, and reached a
# validation AUC of 0.820 instead of 0.825.
TOLERANCE = 1e-2


class ClassicalScorer(PairScorer):
    """A classifier on [e_a; e_b]."""

    X: FloatArray  # (n, d), as the encoder gave it
    mean: FloatArray  # (2d,) of the training pairs
    scale: FloatArray  # (2d,)
    learned: Parameters

    @abstractmethod
    def learned_from(self, x: FloatArray, task: Task) -> tuple[Parameters, Facts]:
        """Give what is learned from the vectors of `task.rows` (m, 2d), and what to tell of it."""

    @abstractmethod
    def probability(self, x: FloatArray, learned: Parameters) -> FloatArray:
        """Give the probability of label 1 for each vector: (m, 2d) -> (m,)."""

    def learn(self, task: Task) -> FitReport:
        """Learn from the training rows; choose the threshold on the validation pairs."""
        task.progress.begin("fitting", 1)
        self.X = task.evidence.features.astype(np.float32)
        self._standardise(task.split.train)  # not on background, which changes no column
        self.learned, facts = self.learned_from(self.pair_features(task.rows.pairs), task)
        threshold = self.best_threshold(task.split.validation)
        task.progress.step()
        task.progress.end()
        return task.report(threshold=threshold, facts=facts)

    def score(self, pairs: IntArray) -> FloatArray:
        """Give the probability that source is a prerequisite of target: (m, 2) -> (m,)."""
        p = np.empty(len(pairs))
        for start in range(0, len(pairs), SCORED_AT_ONCE):
            chunk = slice(start, start + SCORED_AT_ONCE)
            p[chunk] = self.probability(self.pair_features(pairs[chunk]), self.learned)
        return p.clip(0.0, 1.0)  # rounding may lift a mean of shares a hair above 1

    def state(self) -> dict[str, FloatArray]:
        """Give the concepts' features and what was learned."""
        return {f"concepts/{name}": getattr(self, name) for name in CONCEPTS} | self.learned

    def take_up(self, state: State) -> None:
        """Take up the concepts' features and what was learned."""
        self.X, self.mean, self.scale = (state[f"concepts/{name}"] for name in CONCEPTS)
        self.learned = {k: v for k, v in state.items() if not k.startswith("concepts/")}

    def pair_features(self, pairs: IntArray) -> FloatArray:
        """Give [e_a; e_b] of each pair, standardised: (m, 2) -> (m, 2d)."""
        x = self._joined(pairs)
        x -= self.mean
        x /= self.scale
        return x

    def _joined(self, pairs: IntArray) -> FloatArray:
        return np.concatenate([self.X[pairs[:, 0]], self.X[pairs[:, 1]]], axis=1)

    def _standardise(self, train: LabelledPairs) -> None:
        """Take mean and deviation of each column from the training pairs."""
        x = self._joined(train.pairs)
        self.mean = x.mean(axis=0, dtype=np.float64).astype(np.float32)
        # A constant column keeps its scale; rounding of the mean is not a deviation.
        varies = np.ptp(x, axis=0) > 0
        self.scale = np.where(varies, x.std(axis=0, dtype=np.float64), 1.0).astype(np.float32)


class NaiveBayesSettings(Settings):
    """Settings of NB."""

    components: Literal["auto", "all"] | Annotated[int, Field(ge=1)] = "auto"
    """Principal components; "all": the columns as they are; "auto": 64 or all, by validation."""


class NaiveBayesScorer(ClassicalScorer):
    """Each column is a normal variable of its own in each class."""

    settings_type = NaiveBayesSettings

    def learned_from(self, x: FloatArray, task: Task) -> tuple[Parameters, Facts]:
        """Give means, variances and priors of the classes, of the better number of columns."""
        asked: Any = self.settings.components
        if asked != "auto" or x.shape[1] <= COMPONENTS:
            return _learned(x, task, None if asked in ("auto", "all") else asked)
        validation = task.split.validation
        reduced = _learned(x, task, COMPONENTS)
        if not enough_to_choose(validation.labels):
            return reduced
        every, held_out = _learned(x, task, None), self.pair_features(validation.pairs)
        reached, reduced_to = (
            auc(validation.labels, self.probability(held_out, learned))
            for learned, _ in (every, reduced)
        )
        return every if reached > reduced_to else reduced

    def probability(self, x: FloatArray, learned: Parameters) -> FloatArray:
        """p = σ(log-odds / T): the order and the side of 1/2 do not depend on T."""
        return np.asarray(expit(_log_odds(x, learned) / learned["temperature"]))


def _learned(x: FloatArray, task: Task, components: int | None) -> tuple[Parameters, Facts]:
    learned: Parameters = {}
    reduced = x
    if components is not None:
        components = min(components, *x.shape)
        # "full" is exact and draws nothing at random.
        pca = PCA(components, svd_solver="full").fit(x)
        learned = {"axes": pca.components_.astype(np.float32), "centre": pca.mean_}
        reduced = _project(x, learned)
    model: Any = GaussianNB().fit(reduced, task.rows.labels, sample_weight=task.row_weights)
    learned |= {"means": model.theta_, "variances": model.var_, "priors": model.class_prior_}
    greatest = float(np.abs(_log_odds(x, learned)).max())
    learned["temperature"] = np.array([max(1.0, greatest / GREATEST_LOG_ODDS)])
    return learned, {"components": float(components or reduced.shape[1])}


def _project(x: FloatArray, learned: Parameters) -> FloatArray:
    return np.asarray((x - learned["centre"]) @ learned["axes"].T)


def _log_odds(x: FloatArray, learned: Parameters) -> FloatArray:
    """log P(1 | x) - log P(0 | x), with log N(x; μ, v) = -(log 2πv + (x - μ)² / v) / 2."""
    if "axes" in learned:
        x = _project(x, learned)
    x = x.astype(np.float64)
    classes = zip(learned["means"], learned["variances"], learned["priors"], strict=True)
    negative, positive = (
        np.log(prior) - 0.5 * (np.log(v).sum() + ((x - mean) ** 2 / v).sum(axis=1))
        for mean, v, prior in classes
    )
    return np.asarray(positive - negative)


class SVMSettings(Settings):
    """Settings of SVM."""

    kernel: Literal["linear", "rbf"] = "linear"
    C: float = Field(1.0, gt=0)


class SVMScorer(ClassicalScorer):
    """A margin f(x) for each of five folds, made a probability by Platt's σ(-(A f + B)).

    Each fold learns f on four fifths of the training pairs, and A, B on the rest (Platt 1999);
    the probability is the mean over the folds.
    """

    settings_type = SVMSettings

    def learned_from(self, x: FloatArray, task: Task) -> tuple[Parameters, Facts]:
        """Give the margins of the folds, and their Platt parameters."""
        y = task.rows.labels
        gamma = 1 / (x.shape[1] * max(float(x.var()), 1e-12))
        folds = min(CALIBRATION_FOLDS, int(np.bincount(y, minlength=2).min()))
        if folds < 2:
            raise TrainingError(
                "SVM calibrates its probabilities on held-out training pairs and needs two of "
                "each label; label more pairs"
            )
        cv = StratifiedKFold(folds, shuffle=True, random_state=task.seed)
        calibrated: Any = CalibratedClassifierCV(self._machine(gamma), method="sigmoid", cv=cv)
        calibrated.fit(x, y, sample_weight=task.row_weights)
        fitted = calibrated.calibrated_classifiers_
        platt = [(fold.calibrators[0].a_, fold.calibrators[0].b_) for fold in fitted]
        machines = [fold.estimator for fold in fitted]
        learned = {
            "platt": np.array(platt),  # (folds, 2)
            "intercepts": np.array([m.intercept_[0] for m in machines]),
        }
        if self.settings.kernel == "linear":
            learned["coefficients"] = np.stack([m.coef_[0] for m in machines])  # (folds, 2d)
        else:
            rows = [train for train, _ in cv.split(x, y)]
            learned |= _support(machines, rows, task.rows.pairs) | {"gamma": np.array([gamma])}
        return learned, {"folds": float(folds)}

    def probability(self, x: FloatArray, learned: Parameters) -> FloatArray:
        """Give the mean over the folds of the calibrated probability."""
        if "coefficients" in learned:
            f = x @ learned["coefficients"].T  # (m, folds)
        else:
            v = self.pair_features(learned["support"]).astype(np.float64)  # (s, 2d)
            f = rbf_kernel(x.astype(np.float64), v, learned["gamma"][0]) @ learned["duals"].T
        f = f + learned["intercepts"]
        A, B = learned["platt"].T
        return np.asarray(expit(-(A * f + B)).mean(axis=1))

    def _machine(self, gamma: float) -> Any:
        """Give scikit-learn's machine for the kernel."""
        if self.settings.kernel == "rbf":
            return SVC(C=self.settings.C, kernel="rbf", gamma=gamma)
        # The primal problem is solved without drawing at random, and its time grows with the
        # number of pairs, not with its square.
        return LinearSVC(C=self.settings.C, dual=False, tol=TOLERANCE)


def _support(machines: list[Any], rows: list[IntArray], pairs: IntArray) -> Parameters:
    """Give every pair that supports a fold, once, and what it counts in each fold.

    A support vector is the features of a training pair: two numbers instead of 2d.
    """
    duals = np.zeros((len(machines), len(pairs)))
    for fold, (machine, learned_from) in enumerate(zip(machines, rows, strict=True)):
        duals[fold, learned_from[machine.support_]] = machine.dual_coef_[0]
    supports = duals.any(axis=0)
    return {"support": pairs[supports].astype(np.int32), "duals": duals[:, supports]}


class RandomForestSettings(Settings):
    """Settings of RF."""

    trees: int = Field(200, ge=1)


class RandomForestScorer(ClassicalScorer):
    """The mean over the trees of the share of positives in the leaf a pair falls into."""

    settings_type = RandomForestSettings

    forest: TreeSum

    def learned_from(self, x: FloatArray, task: Task) -> tuple[Parameters, Facts]:
        """Give the nodes of all trees."""
        forest: Any = RandomForestClassifier(
            self.settings.trees,
            class_weight=dict(enumerate(task.class_weights)),
            random_state=task.seed,
        ).fit(x, task.rows.labels)
        self.forest = TreeSum.from_sklearn(forest, x.shape[1])
        return self.forest.state(), {"leaves": float(self.forest.leaves.sum())}

    def probability(self, x: FloatArray, learned: Parameters) -> FloatArray:  # noqa: ARG002
        """Send each row down every tree: (m, 2d) -> (m,)."""
        return self.forest.sums(x)

    def take_up(self, state: State) -> None:
        """Take up the nodes of all trees too."""
        super().take_up(state)
        self.forest = TreeSum.restored(self.learned, 2 * self.X.shape[1])
