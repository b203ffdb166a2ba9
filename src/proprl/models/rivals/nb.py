"""NB: Gaussian naive Bayes on pair features."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy.special import expit
from sklearn.decomposition import PCA
from sklearn.naive_bayes import GaussianNB

from proprl.arrays import FloatArray
from proprl.evaluation.metrics import auc, enough_to_choose
from proprl.models.base import Settings
from proprl.models.rivals.pair_vectors import ClassicalScorer, Facts, Parameters
from proprl.models.scorer import Task

# The columns of a text encoder depend on each other, which naive Bayes takes for independent
# evidence; principal components at least are uncorrelated.
COMPONENTS = 64
# A double rounds σ to 1 from 37 on. Naive Bayes passes that on hundreds of columns, and the
# ranking would drown in ties; so the greatest log-odds of the training pairs become this.
GREATEST_LOG_ODDS = 30.0


class NaiveBayesSettings(Settings):
    """Settings of NB."""

    components: Literal["auto", "all"] | Annotated[int, Field(ge=1)] = "auto"
    """Principal components; "all": the columns as they are; "auto": 64 or all, by validation."""


class NaiveBayesScorer(ClassicalScorer):
    """Each column is a normal variable of its own in each class."""

    settings_type: ClassVar[type[Settings]] = NaiveBayesSettings

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
