"""The array types that pass between layers."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

IntArray: TypeAlias = npt.NDArray[np.int64]
"""Indices of concepts, or labels 0 and 1. A list of pairs has shape (m, 2)."""

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
"""Scores, features, probabilities."""

SparseMatrix: TypeAlias = Any
"""A `scipy.sparse.csr_array`; scipy carries no types."""
