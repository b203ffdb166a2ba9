"""Row-normalised graphs and standardised features."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array

from proprl.arrays import FloatArray, SparseMatrix
from proprl.errors import FeatureError, ProprlError
from proprl.graphs._sparse import owned_csr, require_square

Weighting: TypeAlias = Literal["count", "log1p"]
"""How a transition count becomes an edge weight: as it is (the paper), or its log1p."""


def normalise_rows(B: SparseMatrix, *, weighting: Weighting = "count") -> SparseMatrix:
    r"""Return the graph with self-loops whose rows sum to one (n × n, the paper's ``A``).

    .. math:: A = D^{-1}(B' + I), \quad D_{ii} = \sum_j (B' + I)_{ij},
              \quad B' = B \text{ or } \log(1 + B)

    Counts in the thousands drown the self-loop of weight 1; ``"log1p"`` keeps it heard.
    For the incoming direction pass ``B.T``.

    >>> B = csr_array(np.array([[0.0, 3.0], [0.0, 0.0]]))
    >>> normalise_rows(B).toarray()
    array([[0.25, 0.75],
           [0.  , 1.  ]])
    """
    if weighting not in get_args(Weighting):
        known = ", ".join(get_args(Weighting))
        raise ProprlError(f"unknown weighting {weighting!r}; known: {known}")
    B = owned_csr(B, "the transition matrix")
    require_square(B, "the transition matrix")
    if weighting == "log1p":
        B = B.log1p()
    looped = B + eye_array(B.shape[0], format="csr")
    with np.errstate(over="ignore"):  # reported just below, by row
        degree = looped.sum(axis=1)  # at least 1, thanks to the self-loop
    if not np.isfinite(degree).all():
        row = int(np.argmin(np.isfinite(degree)))
        raise ProprlError(f"row {row} of the transition matrix is too large to sum: scale it down")
    return csr_array(diags_array(1.0 / degree) @ looped)


def standardise_columns(X: FloatArray) -> FloatArray:
    r"""Return X with mean 0 and variance 1 in every column; constant columns become 0.

    .. math:: X'_{ij} = (X_{ij} - \bar{x}_j) / s_j, \quad
              s_j^2 = \tfrac{1}{n} \sum_i (X_{ij} - \bar{x}_j)^2

    >>> standardise_columns(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    X = np.array(X, dtype=np.float64)
    if X.ndim != 2:
        raise FeatureError(f"features must be a matrix, one row per concept, not {X.shape}")
    if not X.size:
        return X
    with np.errstate(over="ignore", invalid="ignore"):  # reported just below, by column
        spread = np.ptp(X, axis=0)
    if not np.isfinite(spread).all():
        column = int(np.argmin(np.isfinite(spread)))
        raise FeatureError(
            f"column {column} of the features holds NaN, an infinity or a number beyond "
            "double precision: check the encoder or the feature file"
        )
    # "Constant" is judged by the spread: a mean is rounded, so a column of 0.1s would otherwise
    # be left with noise of 1e-17 that the division blows up to 1. Going through [0, 1] keeps the
    # squares of very small and very large features inside double precision.
    varies = spread > 0
    unit = (X - X.min(axis=0)) / np.where(varies, spread, 1.0)
    centred = unit - unit.mean(axis=0)
    standardised: FloatArray = np.where(
        varies, centred / np.where(varies, unit.std(axis=0), 1.0), 0.0
    )
    return standardised
