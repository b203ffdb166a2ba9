"""Logistic regression on ranks: robust to columns of any scale, and kept as two arrays."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.special import ndtri
from sklearn.linear_model import LogisticRegression

from proprl.arrays import FloatArray, IntArray

QUANTILES = 100


class Line:
    """Logistic regression on normal scores: each column is replaced by its rank, as a deviate."""

    def __init__(self, quantiles: FloatArray, coefficients: FloatArray) -> None:
        self.quantiles = quantiles  # (QUANTILES, columns)
        self.coefficients = coefficients  # (columns + 1,), the intercept last

    @classmethod
    def fitted(cls, x: FloatArray, y: IntArray, weights: FloatArray, shyness: float) -> Self:
        """Learn from rows, which count by their weights."""
        quantiles = np.quantile(x, np.linspace(0, 1, QUANTILES), axis=0)
        line = cls(quantiles, np.zeros(x.shape[1] + 1))
        model = LogisticRegression(C=1 / shyness, max_iter=500)
        model.fit(line.normal_scores(x), y, sample_weight=weights)
        line.coefficients = np.append(model.coef_[0], model.intercept_)
        return line

    def normal_scores(self, x: FloatArray) -> FloatArray:
        """Give each number's place among those learned from, as a standard normal deviate."""
        places = np.linspace(0, 1, QUANTILES)
        scores = np.empty(x.shape)
        for column, among in enumerate(self.quantiles.T):
            # From both sides, so that the middle is taken where many are equal.
            above = np.interp(x[:, column], among, places)
            below = 1 - np.interp(-x[:, column], -among[::-1], places)
            scores[:, column] = (above + below) / 2
        return np.asarray(ndtri(scores.clip(1e-3, 1 - 1e-3)))

    def z(self, x: FloatArray) -> FloatArray:
        """Give the logit of each row."""
        return np.asarray(self.normal_scores(x) @ self.coefficients[:-1] + self.coefficients[-1])

    def state(self) -> dict[str, FloatArray]:
        """Give what was learned."""
        return {"quantiles": self.quantiles, "coefficients": self.coefficients}
