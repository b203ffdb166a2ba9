"""The feature matrix that a course may bring: reading, checking and writing it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from proprl.arrays import FloatArray
from proprl.data.tables.findings import Findings

FEATURES_FILE = "features.safetensors"
_TENSOR = "X"


def read_features(path: Path, findings: Findings) -> Any:
    """Return the tensor `X` of the file, unchecked; None, and a problem, where there is none."""
    try:
        with safe_open(path, framework="numpy") as tensors:
            names = sorted(tensors.keys())
            if _TENSOR not in names:
                found = ", ".join(names) or "none"
                findings.report(path.name, f"holds no tensor `X`; the tensors found are: {found}")
                return None
            if len(names) > 1:
                others = ", ".join(name for name in names if name != _TENSOR)
                expected = f"only the tensor `X` is used, not: {others}"
                findings.report(path.name, expected, warning=True)
            return tensors.get_tensor(_TENSOR)
    except (SafetensorError, OSError) as error:
        findings.report(path.name, f"is not a safetensors file that can be read: {error}")
    except (AttributeError, TypeError, ValueError) as error:  # bfloat16, float8
        findings.report(path.name, f"numpy does not know this type, save `X` as float32: {error}")
    return None


def check_features(
    matrix: Any, concept_count: int | None, file: str, findings: Findings
) -> FloatArray | None:
    """Return a copy of the matrix as floats; None, and problems, where it does not fit.

    `concept_count` is None where the concepts themselves could not be read.
    """
    try:
        given = np.asarray(matrix)
    except (TypeError, ValueError, RuntimeError) as error:  # ragged lists, tensors elsewhere
        findings.report(file, f"must be a matrix of numbers: {error}", column=_TENSOR)
        return None
    if given.dtype.kind not in "fiu":
        findings.report(file, "must hold numbers", column=_TENSOR, value=str(given.dtype))
        return None
    n = "n" if concept_count is None else concept_count
    wrong_rows = concept_count is not None and given.shape[:1] != (concept_count,)
    if given.ndim != 2 or wrong_rows or given.shape[1] == 0:
        expected = f"must have shape ({n}, d): one row per concept, in the order of the concepts"
        findings.report(file, expected, column=_TENSOR, value=str(given.shape))
        return None
    wide = given.dtype in (np.float32, np.float64)
    features: FloatArray = np.array(given, dtype=given.dtype if wide else np.float64, order="C")
    broken = ~np.isfinite(features)
    for row in np.flatnonzero(broken.any(axis=1)):
        value = features[row, np.argmax(broken[row])]
        expected = "every feature must be a finite number"
        findings.report(file, expected, row=int(row) + 1, column=_TENSOR, value=str(value))
    return features


def render_features(features: FloatArray) -> bytes:
    """Return the content of a features file."""
    return save({_TENSOR: np.ascontiguousarray(features)})  # safetensors ignores strides
