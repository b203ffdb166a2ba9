"""What a method may learn from, apart from labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from proprl.arrays import FloatArray, SparseMatrix
from proprl.errors import FeatureError, ProprlError
from proprl.graphs._sparse import owned_csr

VIEWS = ("resource", "behaviour")
"""Two views of a concept: the resources it stands in, and how learners move through it."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Features, learner transitions and resource incidence of n concepts, checked once.

    `features` is X (n × d) as the encoder gives it, not standardised. `transitions` is B_out
    (n × n, not negative), `incidence` is M (n × m, 0/1); either may be missing, and one without
    a non-zero entry counts as missing and becomes None.

    `resource_features` (m × d') and `resource_links` (m × m: the row's resource is a prerequisite
    of the column's) say more about the resources; some methods use them.

    `named_in` (n × n) is 1 where the text of the column's concept names the row's concept.

    `readings` (n × d'') is what a language model makes of each concept's place in a curriculum; a
    row of zeros where it has not read about one. Without a reading it becomes None.

    All are copies, so a later change to the caller's arrays changes nothing here.
    `features` is read-only; treat the sparse matrices as read-only too.

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
        features = _checked_features(self.features)
        n = features.shape[0]
        object.__setattr__(self, "features", features)
        for name, called in (
            ("transitions", "transition matrix"),
            ("named_in", "matrix of names in texts"),
        ):
            checked = _checked_between(getattr(self, name), n, called)
            object.__setattr__(self, name, checked)
        object.__setattr__(self, "incidence", _checked_incidence(self.incidence, n))
        if self.readings is not None:
            readings = _checked_features(self.readings)
            if len(readings) != n:
                raise ProprlError(
                    f"there are {len(readings)} readings, but {n} concepts have features: "
                    "expected one row per concept, in the same order"
                )
            object.__setattr__(self, "readings", readings if readings.any() else None)
        self._check_resources()

    def _check_resources(self) -> None:
        """Check what is known of resources against the incidence, which says how many there are."""
        if self.incidence is None:
            object.__setattr__(self, "resource_features", None)
            object.__setattr__(self, "resource_links", None)
            return
        m = self.incidence.shape[1]
        if self.resource_features is not None:
            features = _checked_features(self.resource_features)
            if features.shape[0] != m:
                raise ProprlError(
                    f"{features.shape[0]} resources have features, but the incidence has {m} "
                    "columns: expected one row per resource, in the same order"
                )
            object.__setattr__(self, "resource_features", features)
        if self.resource_links is not None:
            links = owned_csr(self.resource_links, "the matrix of resource links")
            if links.shape != (m, m):
                raise ProprlError(
                    f"the matrix of resource links has shape {links.shape}; expected ({m}, {m})"
                )
            object.__setattr__(self, "resource_links", links if links.nnz else None)

    @property
    def concept_count(self) -> int:
        """The number of concepts, n."""
        return int(self.features.shape[0])

    @property
    def views(self) -> tuple[str, ...]:
        """The views there is evidence for, of `VIEWS`: both, one or none."""
        there = (self.incidence is not None, self.transitions is not None)
        return tuple(view for view, is_there in zip(VIEWS, there, strict=True) if is_there)


def _checked_features(features: FloatArray) -> FloatArray:
    given = np.asarray(features)
    if given.ndim != 2:
        raise FeatureError(f"features must be a matrix, one row per concept, not {given.shape}")
    if np.issubdtype(given.dtype, np.integer) or given.dtype == np.bool_:
        given = given.astype(np.float64)
    if not np.issubdtype(given.dtype, np.floating):
        raise FeatureError(f"features must be real numbers, not {given.dtype}")
    own: FloatArray = given.copy(order="C")
    broken = ~np.isfinite(own).all(axis=1)
    if broken.any():
        raise FeatureError(
            f"features hold NaN or an infinity for {int(broken.sum())} concepts, the first in "
            f"row {int(np.argmax(broken))}: check the encoder or the feature file"
        )
    own.flags.writeable = False
    return own


def _checked_between(matrix: SparseMatrix | None, n: int, called: str) -> SparseMatrix | None:
    """Check a matrix between concepts, and give a copy; None where it says nothing."""
    if matrix is None:
        return None
    own = owned_csr(matrix, f"the {called}")
    if own.shape != (n, n):
        raise ProprlError(
            f"the {called} has shape {own.shape}, but {n} concepts have features: "
            f"expected ({n}, {n}), in the same order"
        )
    return own if own.nnz else None


def _checked_incidence(incidence: SparseMatrix | None, n: int) -> SparseMatrix | None:
    if incidence is None:
        return None
    own = owned_csr(incidence, "the incidence matrix")
    if own.shape[0] != n:
        raise ProprlError(
            f"the incidence matrix has {own.shape[0]} rows, but {n} concepts have features: "
            "expected one row per concept, in the same order"
        )
    other = own.data[own.data != 1.0]
    if other.size:
        raise ProprlError(
            f"the incidence matrix holds {other[0]}: entries are 1 where a concept belongs to a "
            "resource and 0 elsewhere (a link listed twice adds up to 2)"
        )
    return own if own.nnz else None
