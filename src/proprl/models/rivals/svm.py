"""SVM: a support vector machine on pair features, with calibrated probabilities."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC, LinearSVC

from proprl.arrays import FloatArray, IntArray
from proprl.errors import TrainingError
from proprl.models.base import Settings
from proprl.models.rivals.pair_vectors import ClassicalScorer, Facts, Parameters
from proprl.models.scorer import Task

CALIBRATION_FOLDS = 5
# How far the gradient must fall. On MOOC the usual 1e-4 took 13 times as long, and reached a
# validation AUC of 0.820 instead of 0.825.
TOLERANCE = 1e-2


class SVMSettings(Settings):
    """Settings of SVM."""

    kernel: Literal["linear", "rbf"] = "linear"
    C: float = Field(1.0, gt=0)


class SVMScorer(ClassicalScorer):
    """A margin f(x) for each of five folds, made a probability by Platt's σ(-(A f + B)).

    Each fold learns f on four fifths of the training pairs, and A, B on the rest (Platt 1999);
    the probability is the mean over the folds.
    """

    settings_type: ClassVar[type[Settings]] = SVMSettings

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
            v = self.pair_features(learned["support"])  # (s, 2d)
            f = np.exp(-learned["gamma"] * _squared_distances(x, v)) @ learned["duals"].T
        f = f + learned["intercepts"]
        A, B = learned["platt"].T
        return np.asarray(expit(-(A * f + B)).mean(axis=1))

    def _machine(self, gamma: float) -> Any:
        if self.settings.kernel == "rbf":
            return SVC(C=self.settings.C, kernel="rbf", gamma=gamma)
        # The primal problem is solved without drawing at random, and its time grows with the
        # number of pairs, not with its square.
        return LinearSVC(C=self.settings.C, dual=False, tol=TOLERANCE)


def _squared_distances(x: FloatArray, v: FloatArray) -> FloatArray:
    """Give the squared distance of each row to each row: (m, c), (s, c) -> (m, s)."""
    x, v = x.astype(np.float64), v.astype(np.float64)
    squared = (x**2).sum(axis=1)[:, None] - 2 * (x @ v.T) + (v**2).sum(axis=1)
    return np.asarray(squared.clip(0))


def _support(machines: list[Any], rows: list[IntArray], pairs: IntArray) -> Parameters:
    """Give every pair that supports a fold, once, and what it counts in each fold.

    A support vector is the features of a training pair: two numbers instead of 2d.
    """
    duals = np.zeros((len(machines), len(pairs)))
    for fold, (machine, learned_from) in enumerate(zip(machines, rows, strict=True)):
        duals[fold, learned_from[machine.support_]] = machine.dual_coef_[0]
    supports = duals.any(axis=0)
    return {"support": pairs[supports].astype(np.int32), "duals": duals[:, supports]}
