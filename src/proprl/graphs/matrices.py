"""The paper's matrices: moves B, graph A, hypergraph P, propagation S, standardised features X."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array, eye_array

from proprl.arrays import FloatArray, IntArray, SparseMatrix

Weighting: TypeAlias = Literal["count", "log1p"]
"""How a count of moves becomes an edge weight: as it is (the paper), or its log1p."""


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
    follows = (learners[1:] == learners[:-1]) & (concepts[1:] != concepts[:-1])
    ends = concepts[:-1][follows], concepts[1:][follows]
    return coo_array((np.ones(len(ends[0])), ends), shape=(n, n)).tocsr()  # sums repeated cells


def normalise_rows(B: SparseMatrix, *, weighting: Weighting = "count") -> SparseMatrix:
    r"""Return the graph with self-loops whose rows sum to one (n × n, the paper's ``A``).

    .. math:: A = D^{-1}(B' + I), \quad D_{ii} = \sum_j (B' + I)_{ij},
              \quad B' = B \text{ or } \log(1 + B)

    Counts in the thousands drown the self-loop, whose weight is 1; ``"log1p"`` keeps it heard.
    For the incoming direction pass ``B.T``.

    >>> B = csr_array(np.array([[0.0, 3.0], [0.0, 0.0]]))
    >>> normalise_rows(B).toarray()
    array([[0.25, 0.75],
           [0.  , 1.  ]])
    """
    if weighting == "log1p":
        B = B.log1p()
    looped = B + eye_array(B.shape[0], format="csr")
    degree = looped.sum(axis=1)  # at least 1, thanks to the self-loop
    return csr_array(diags_array(1.0 / degree) @ looped)


def propagation_operator(A: SparseMatrix, alpha: float, k: int) -> FloatArray:
    r"""Return what k steps along A do to features, each drawn back by alpha (n × n, dense).

    .. math:: Z^{(t+1)} = (1 - \alpha) A Z^{(t)} + \alpha Q, \quad Z^{(0)} = Q, \qquad
              S Q = Z^{(k)}, \quad S = \alpha \sum_{t<k} (1 - \alpha)^t A^t + (1 - \alpha)^k A^k

    It takes 8 n² bytes: for graphs of a few thousand concepts.

    >>> A = csr_array(np.array([[0.5, 0.5], [0.0, 1.0]]))
    >>> propagation_operator(A, alpha=0.5, k=1)
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    """
    S = np.eye(A.shape[0])
    step, restart = (1.0 - alpha) * A, alpha * S
    for _ in range(k):
        S = step @ S + restart
    return S


def hypergraph_operator(M: SparseMatrix) -> SparseMatrix:
    r"""Return how concepts hear each other through shared resources (n × n, the paper's ``P``).

    .. math:: P = D_c^{-1/2} M D_r^{-1} M^\top D_c^{-1/2}, \quad
              (D_c)_{ii} = \sum_j M_{ij}, \quad (D_r)_{jj} = \sum_i M_{ij}

    Every resource is a hyperedge of weight 1 around its concepts. A concept without a resource,
    or a resource without a concept, has inverse degree 0. P is symmetric, and its eigenvalues lie
    in [0, 1].

    >>> M = csr_array(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]))
    >>> hypergraph_operator(M).toarray().round(6)
    array([[0.5, 0.5, 0. ],
           [0.5, 0.5, 0. ],
           [0. , 0. , 0. ]])
    """
    D_c, D_r = (diags_array(_inverse_root(M.sum(axis=axis))) for axis in (1, 0))
    # P = K Kᵀ, with the degree of resources split over both sides: symmetric to the last bit.
    K = csr_array(D_c @ M @ D_r)
    P = csr_array(K @ K.T)
    P.sort_indices()
    return P


def standardise_columns(X: FloatArray) -> FloatArray:
    r"""Return X with mean 0 and variance 1 in every column; constant columns become 0.

    .. math:: X'_{ij} = (X_{ij} - \bar{x}_j) / s_j, \quad
              s_j^2 = \tfrac{1}{n} \sum_i (X_{ij} - \bar{x}_j)^2

    >>> standardise_columns(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    X = np.asarray(X, dtype=np.float64)
    if not X.size:
        return X
    spread = np.ptp(X, axis=0)
    # A column is constant if its spread is 0. Its mean is rounded: a column of 0.1s would else be
    # left with noise of 1e-17, which the division blows up to 1. Going through [0, 1] keeps the
    # squares of very small and very large features inside double precision.
    varies = spread > 0
    unit = (X - X.min(axis=0)) / np.where(varies, spread, 1.0)
    centred = unit - unit.mean(axis=0)
    return np.where(varies, centred / np.where(varies, unit.std(axis=0), 1.0), 0.0)


def _inverse_root(degree: FloatArray) -> FloatArray:
    return divided(np.ones_like(degree), np.sqrt(degree))


def divided(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return part / whole, and 0 where the whole is 0."""
    shares: FloatArray = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return shares


def unit_rows(X: FloatArray) -> FloatArray:
    """Return the rows of X scaled to length 1; a row of zeros stays so."""
    return divided(X, np.linalg.norm(X, axis=1, keepdims=True))
