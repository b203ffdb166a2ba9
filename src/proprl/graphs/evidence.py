"""What a method may learn from, apart from labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from proprl.arrays import FloatArray, SparseMatrix
from proprl.errors import FeatureError, ProprlError
from proprl.graphs.matrices import divided

LARGEST = np.float64(1e150)
"""No number is beyond this, so that sums and squares stay within double precision."""

VIEWS = ("resource", "behaviour")
"""Two views of a concept: the resources it stands in, and how learners move through it."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Features, learner transitions and resource incidence of n concepts, checked once.

    `features` is X (n × d) as the encoder gives it, not standardised. `transitions` is B_out
    (n × n, not negative), `incidence` is M (n × m, 0 or 1). Either may be missing; a matrix
    without a non-zero entry counts as missing and becomes None.

    `resource_features` (m × d') and `resource_links` (m × m: the row's resource is a prerequisite
    of the column's) say more about the resources. Some methods use them.

    `named_in` (n × n) is 1 where the text of the column's concept names the row's concept.

    `readings` (n × d'') is what a language model makes of each concept's place in a curriculum. A
    concept that it has not read about has a row of zeros. Without any reading it becomes None.

    All are copies: a later change to the caller's arrays changes nothing here. Features are
    read-only; treat the sparse matrices as read-only too.

    >>> evidence = Evidence(np.eye(2), transitions=np.array([[0, 3], [0, 0]]))
    >>> evidence.concept_count, evidence.views
    (2, ('behaviour',))
    """

    features: FloatArray
    transitions: SparseMatrix | None = None
    incidence: SparseMatrix | None = None
    resource_features: FloatArray | None = None
    resource_links: SparseMatrix | None = None
    named_in: SparseMatrix | None = None
    readings: FloatArray | None = None

    def __post_init__(self) -> None:
        features = _checked_vectors(self.features)
        n = len(features)
        readings = None if self.readings is None else _checked_vectors(self.readings, n)
        incidence = _checked_matrix(self.incidence, "incidence matrix", n)
        own, links = None, None
        if incidence is not None:
            _check_incidence(incidence)
            m = incidence.shape[1]
            links = _checked_matrix(self.resource_links, "matrix of resource links", m, m)
            if self.resource_features is not None:
                own = _checked_vectors(self.resource_features, m, "resource")
        # The class is frozen, so fields cannot be assigned to: this is the one place that may.
        vars(self).update(
            features=features,
            transitions=_checked_matrix(self.transitions, "transition matrix", n, n),
            incidence=incidence,
            resource_features=own,
            resource_links=links,
            named_in=_checked_matrix(self.named_in, "matrix of names in texts", n, n),
            readings=readings if readings is not None and readings.any() else None,
        )

    @property
    def concept_count(self) -> int:
        """The number of concepts, n."""
        return int(self.features.shape[0])

    @property
    def views(self) -> tuple[str, ...]:
        """The views there is evidence for, of `VIEWS`: both, one or none."""
        there = (self.incidence is not None, self.transitions is not None)
        return tuple(view for view, is_there in zip(VIEWS, there, strict=True) if is_there)


def resource_vectors(evidence: Evidence) -> FloatArray:
    """Return a vector for each resource: its own, or else the mean of its concepts' features."""
    if evidence.resource_features is not None:
        return evidence.resource_features
    if evidence.incidence is None:
        raise ProprlError("there are no resources: add resources.csv and concept_resources.csv")
    return mean_of_concepts(evidence.incidence, evidence.features)


def mean_of_concepts(M: SparseMatrix, X: FloatArray) -> FloatArray:
    """Return the mean row of X over each resource's concepts: m × d; 0 where it has none.

    >>> mean_of_concepts(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[1.0], [3.0]]))
    array([[2.],
           [0.]])
    """
    size = np.asarray(M.sum(axis=0), dtype=np.float64)
    means: FloatArray = (M.T @ X) * divided(np.ones_like(size), size)[:, None]
    return means


def _checked_vectors(X: FloatArray, rows: int | None = None, of: str = "concept") -> FloatArray:
    """Give a copy of X that nobody can write to: finite, floating, one row for each `of`."""
    own = np.array(X, order="C")
    if own.ndim != 2:
        raise FeatureError(f"features must be a matrix, one row per {of}, not {own.shape}")
    if own.dtype.kind in "iub":
        own = own.astype(np.float64)
    if own.dtype.kind != "f":
        raise FeatureError(f"features must be real numbers, not {own.dtype}")
    broken = ~(np.abs(own) < LARGEST).all(axis=1)
    if broken.any():
        raise FeatureError(
            f"features hold NaN, an infinity or a number beyond {LARGEST:g} for "
            f"{int(broken.sum())} {of}s, the first in row {int(np.argmax(broken))}: check the "
            "encoder or the feature file"
        )
    if rows not in (None, len(own)):
        raise FeatureError(
            f"there are vectors for {len(own)} {of}s, but there are {rows} {of}s: expected one "
            "row for each, in the same order"
        )
    own.flags.writeable = False
    return own


def _checked_matrix(
    matrix: Any, what: str, rows: int, columns: int | None = None
) -> SparseMatrix | None:
    """Give a copy: one float64 per cell, not negative; None where it says nothing."""
    if matrix is None:
        return None
    own = csr_array(matrix, dtype=np.float64, copy=True)
    if own.ndim != 2 or own.shape != (rows, own.shape[1] if columns is None else columns):
        expected = f"({rows}, {'any' if columns is None else columns})"
        raise ProprlError(f"the {what} has shape {own.shape}; expected {expected}")
    own.sum_duplicates()
    own.eliminate_zeros()
    bad = np.flatnonzero(~((own.data > 0) & (own.data < LARGEST)))
    if bad.size:
        row = int(np.searchsorted(own.indptr, bad[0], side="right")) - 1
        raise ProprlError(
            f"the {what} holds {own.data[bad[0]]} at row {row}, column {own.indices[bad[0]]}: "
            f"entries must be finite, not negative and below {LARGEST:g}"
        )
    return own if own.nnz else None


def _check_incidence(M: SparseMatrix) -> None:
    other = M.data[M.data != 1.0]
    if other.size:
        raise ProprlError(
            f"the incidence matrix holds {other[0]}: entries are 1 where a concept belongs to a "
            "resource and 0 elsewhere (a link listed twice adds up to 2)"
        )
