"""Pairwise-link LDA: topics that explain both the words of documents and the links between them.

The model is that of Nallapati et al. (KDD 2008), as PREREQ (Roy et al., IAAI 2019) uses it: words
as in LDA; and for each ordered pair of documents (d, d') a topic k ~ θ_d, a topic k' ~ θ_d', and a
link from d to d' with probability η_kk'.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammaln, psi, softmax, xlogy

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.models.base import share

# Probabilities of links stay within these, so that neither log η nor log(1 - η) is infinite.
_ETA_RANGE = (1e-6, 1 - 1e-6)
# The probability of a word in a topic where it never occurs.
_NO_WORD = float(np.exp(-100))
# An E step ends when a sweep raises the bound by less than this share.
_SWEEP_TOLERANCE = 1e-6


def fit_link_lda(
    counts: SparseMatrix,
    links: SparseMatrix,
    *,
    topics: int,
    steps: int,
    rng: np.random.Generator,
    alpha: float = 0.01,
    sweeps: int = 20,
    tolerance: float = 1e-4,
) -> LinkTopics:
    """Fit by variational EM: `counts` (D × V) of words, `links` (D × D) from row to column.

    Words alone come first, then words and links together. A document is in 2 (D - 1) pairs and has
    a dozen words: from a random start the pairs would keep all topics alike. Each of the two has at
    most `steps` EM steps, and ends earlier when the bound grows by less than `tolerance` of itself;
    an E step has at most `sweeps` rounds of updates. A document's link to itself is ignored.
    """
    q = LinkTopics(counts, links, topics, alpha)
    words = rng.gamma(100.0, 0.01, size=(topics, counts.shape[1]))
    q.beta = words / words.sum(axis=1, keepdims=True)
    # Published: every E step over words starts anew, lest documents stay with their first topic.
    _climb(q.sweep_words, q.maximise_words, steps, sweeps, tolerance, begin=q.begin_words)
    q.begin_links()
    q.bounds = _climb(q.sweep, q.maximise, steps, sweeps, tolerance)
    q.beta = q.beta * (np.asarray(counts.sum(axis=0)) > 0)
    return q


def _climb(
    sweep: Callable[[], float],
    maximise: Callable[[], None],
    steps: int,
    sweeps: int,
    tolerance: float,
    begin: Callable[[], None] = lambda: None,
) -> tuple[float, ...]:
    """Take EM steps until the bound stands still; give the bound that each E step reached."""
    bounds: list[float] = []
    while len(bounds) < steps and (len(bounds) < 2 or _grew(bounds[-2], bounds[-1], tolerance)):
        begin()
        bound = sweep()
        for _ in range(sweeps - 1):
            before, bound = bound, sweep()
            if not _grew(before, bound, _SWEEP_TOLERANCE):
                break
        maximise()
        bounds.append(bound)
    return tuple(bounds)


def _grew(before: float, now: float, tolerance: float) -> bool:
    return now - before >= tolerance * abs(now)


class LinkTopics:
    """K topics of D documents over V words: the variational posterior, and its updates.

    Every update raises the bound.

    Documents' topics have Dirichlet weights γ, words φ. A linked pair has its own λ (the topic of
    the source) and λ' (that of the target). In the published scheme unlinked pairs have them too,
    and updates cost D² K². Here all unlinked pairs with one target share its λ' = m. The bound
    stays a bound, and the D² K sums are matrix products: with A = exp E[log θ] and
    B = exp(m log(1 - η)ᵀ), λ_dd'k = A_dk B_d'k / Z_dd' and Z = A Bᵀ.

    In the published order of steps links never reach φ, and so never β. Here words and links are
    updated in turn until the bound stands still.
    """

    beta: FloatArray  # (K, V): a topic's words, rows sum to 1; 0 for a word that never occurs
    eta: FloatArray  # (K, K): how likely a document of topic k links to one of topic k'
    gamma: FloatArray  # (D, K): Dirichlet weights of each document's topics
    bounds: tuple[float, ...]
    """The lower bound of the log likelihood in each EM step with links; it never falls."""

    def __init__(
        self, counts: SparseMatrix, links: SparseMatrix, topics: int, alpha: float
    ) -> None:
        self.counts, self.alpha = csr_array(counts, dtype=np.float64), alpha
        D = self.counts.shape[0]
        self.document = np.repeat(np.arange(D), np.diff(self.counts.indptr))  # of each entry
        sources, targets = links.nonzero()
        self.source, self.target = (ends[sources != targets] for ends in (sources, targets))
        self.unlinked = 1.0 - np.eye(D)  # (D, D): 1 where an ordered pair has no link
        self.unlinked[self.source, self.target] = 0.0
        self.as_source, self.as_target = _incidence(self.source, D), _incidence(self.target, D)
        self.degree = self.unlinked.sum(axis=0)[:, None]  # unlinked pairs with each target
        self.topics = topics
        self.begin_words()

    def begin_words(self) -> None:
        """Start γ as if every topic had the same share of a document's words."""
        of_each = self.counts.sum(axis=1)[:, None] / self.topics
        self.gamma = np.repeat(self.alpha + of_each, self.topics, axis=1)

    def begin_links(self) -> None:
        """Start all pairs at the topics that the words gave, and η at the share of links."""
        theta = self.gamma / self.gamma.sum(axis=1, keepdims=True)
        K, pairs = theta.shape[1], max(1.0, len(self.source) + self.degree.sum())
        self.m = theta  # λ' of all unlinked pairs with a target
        self.lam_target = theta[self.target]  # λ' of links
        self.eta = np.clip(np.full((K, K), len(self.source) / pairs), *_ETA_RANGE)

    def sweep_words(self) -> float:
        """Update φ and γ as if there were no pairs; give the bound just before γ is updated."""
        E = self._expected_log_theta()
        bound = self._prior_bound(E) + self._read_words(E)
        self.gamma = self.alpha + self.from_words
        return bound

    def sweep(self) -> float:
        """Update everything once; give the bound just before γ, m and λ' are updated."""
        E = self._expected_log_theta()
        bound = self._prior_bound(E) + self._read_words(E)
        bound += self._compare_linked(E) + self._compare_unlinked(E)
        self.gamma = self.alpha + self.from_words + self.from_links + self.from_gaps
        return bound

    def maximise_words(self) -> None:
        """β: each topic's share of the words, rows sum to 1."""
        n = self.beta * (self.ratio.T @ self.A).T  # (K, V): Σ_d counts φ
        total = n.sum(axis=1, keepdims=True)
        self.beta = np.maximum(share(n, total), _NO_WORD)

    def maximise(self) -> None:
        """β, and η: of the pairs with topics k and k', the share that is linked."""
        self.maximise_words()
        linked = self.lam.T @ self.lam_target  # (K, K)
        rate = linked / (linked + self.gap_target.T @ self.m)
        self.eta = np.clip(rate, *_ETA_RANGE)

    def _expected_log_theta(self) -> FloatArray:
        E: FloatArray = psi(self.gamma) - psi(self.gamma.sum(axis=1, keepdims=True))
        return E  # (D, K)

    def _read_words(self, E: FloatArray) -> float:
        """φ_dwk ∝ β_kw exp E_dk, summed over words without ever being held."""
        self.A = np.exp(E)
        Z = np.einsum("ek,ek->e", self.A[self.document], self.beta.T[self.counts.indices])
        ratio = self.counts.data / Z
        self.ratio = csr_array((ratio, self.counts.indices, self.counts.indptr), self.counts.shape)
        self.from_words = self.A * (self.ratio @ self.beta.T)
        return float(self.counts.data @ np.log(Z))

    def _compare_linked(self, E: FloatArray) -> float:
        """λ ∝ exp(E_d + log η λ'), then λ' ∝ exp(E_d' + log ηᵀ λ), for each link."""
        log_eta = np.log(self.eta)
        scores = E[self.source] + self.lam_target @ log_eta.T  # (links, K)
        self.lam = softmax(scores, axis=1)
        bound = np.sum(self.lam * scores) + _entropy(self.lam) + _entropy(self.lam_target)
        bound += np.sum(self.lam_target * E[self.target])
        self.lam_target = softmax(E[self.target] + self.lam @ log_eta, axis=1)
        self.from_links = self.as_source @ self.lam + self.as_target @ self.lam_target
        return float(bound)

    def _compare_unlinked(self, E: FloatArray) -> float:
        """λ of every unlinked pair, summed over sources and over targets; then m."""
        log_no, degree = np.log1p(-self.eta), self.degree
        B = np.exp(self.m @ log_no.T)  # (D, K)
        Z = self.A @ B.T  # (D, D)
        bound = np.sum(self.unlinked * np.log(Z)) + np.sum(degree * self.m * E)
        bound += np.sum(degree * -xlogy(self.m, self.m))
        R = self.unlinked / Z
        self.gap_target = B * (R.T @ self.A)  # Σ_d λ_dd', (D, K)
        self.m = softmax(E + share(self.gap_target, degree) @ log_no, axis=1)
        self.from_gaps = self.A * (R @ B) + degree * self.m
        return float(bound)

    def _prior_bound(self, E: FloatArray) -> float:
        """E[log p(θ)] - E[log q(θ)], summed over documents."""
        D, K = E.shape
        prior = gammaln(K * self.alpha) - K * gammaln(self.alpha)
        own = gammaln(self.gamma.sum(axis=1)) - gammaln(self.gamma).sum(axis=1)
        return float(D * prior - own.sum() + np.sum((self.alpha - self.gamma) * E))


def _incidence(ends: IntArray, D: int) -> SparseMatrix:
    """A matrix (D × links) that sums rows of links into rows of documents."""
    return csr_array((np.ones(len(ends)), (ends, np.arange(len(ends)))), shape=(D, len(ends)))


def _entropy(p: FloatArray) -> float:
    return float(-xlogy(p, p).sum())
