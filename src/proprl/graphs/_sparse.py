"""What every function here asks of a sparse matrix that comes from outside."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from proprl.arrays import SparseMatrix
from proprl.errors import ProprlError


def owned_csr(matrix: Any, what: str) -> SparseMatrix:
    """Return `matrix` as a csr_array of its own: float64, one entry per cell, no stored zeros.

    Entries must be finite and not negative; `what` names the matrix in the error.
    """
    own = csr_array(matrix, dtype=np.float64, copy=True)
    if own.ndim != 2:
        raise ProprlError(f"{what} must be a matrix (two dimensions), not of shape {own.shape}")
    own.sum_duplicates()
    own.eliminate_zeros()
    bad = np.flatnonzero(~(np.isfinite(own.data) & (own.data > 0)))
    if bad.size:
        row = int(np.searchsorted(own.indptr, bad[0], side="right")) - 1
        raise ProprlError(
            f"{what} holds {own.data[bad[0]]} at row {row}, column {own.indices[bad[0]]}: "
            "entries must be finite and not negative"
        )
    return own


def require_square(matrix: SparseMatrix, what: str) -> None:
    """Raise unless `matrix` has as many rows as columns."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ProprlError(
            f"{what} must be square, one row and one column per concept, "
            f"not of shape {matrix.shape}"
        )
