"""From learners' sequences to transition counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array

from proprl.arrays import IntArray, SparseMatrix
from proprl.errors import ProprlError, UnknownConceptError


def count_transitions(learners: IntArray, concepts: IntArray, n: int) -> SparseMatrix:
    r"""Return how often each concept directly follows another (n × n, the paper's ``B_out``).

    .. math:: B^{out}_{ij} = \sum_u |\{t : c_{u,t} = i,\ c_{u,t+1} = j\}|, \qquad i \neq j

    `learners` and `concepts` describe one event per position, each learner's events together
    and in order of time. Staying on the same concept is no transition: the diagonal is zero.

    >>> learners = np.array([7, 7, 7, 7, 9, 9])
    >>> concepts = np.array([0, 0, 1, 2, 0, 1])
    >>> count_transitions(learners, concepts, 3).toarray()
    array([[0., 2., 0.],
           [0., 0., 1.],
           [0., 0., 0.]])
    """
    learners, concepts = np.asarray(learners), np.asarray(concepts)
    _check_events(learners, concepts, n)
    follows = (learners[1:] == learners[:-1]) & (concepts[1:] != concepts[:-1])
    sources = concepts[:-1][follows]
    targets = concepts[1:][follows]
    ones = np.ones(sources.size, dtype=np.float64)
    return coo_array((ones, (sources, targets)), shape=(n, n)).tocsr()  # sums repeated cells


def _check_events(learners: npt.NDArray[Any], concepts: npt.NDArray[Any], n: int) -> None:
    if learners.ndim != 1 or learners.shape != concepts.shape:
        raise ProprlError(
            "learners and concepts must be two lists of the same length, one entry per event, "
            f"not of shapes {learners.shape} and {concepts.shape}"
        )
    if not concepts.size:
        return
    if not np.issubdtype(concepts.dtype, np.integer):
        raise ProprlError(f"concepts must be whole-number indices, not {concepts.dtype}")
    outside = np.flatnonzero((concepts < 0) | (concepts >= n))
    if outside.size:
        raise UnknownConceptError(
            f"event {outside[0]} has concept {concepts[outside[0]]}, "
            f"but there are {n} concepts, counted from 0"
        )
    # A learner who comes back later was not sorted: transitions would be lost at the seam.
    first = np.concatenate(([True], learners[1:] != learners[:-1]))
    runs, times = np.unique(learners[first], return_counts=True)
    if (times > 1).any():
        raise ProprlError(
            f"the events of learner {runs[np.argmax(times > 1)]} do not stand together: "
            "sort the events by learner, then by time"
        )
