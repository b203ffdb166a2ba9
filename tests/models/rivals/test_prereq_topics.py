"""Pairwise-link LDA: its bound, its updates pair by pair, and a planted corpus."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import psi

from proprl.models.rivals.prereq_topics import LinkTopics, fit_link_lda

TOPICS, DOCUMENTS, WORDS = 3, 45, 30


def planted(seed: int = 0) -> tuple[csr_array, csr_array, np.ndarray]:
    """Topic k has words of its own; documents of topic 0 mostly lead to those of topic 1."""
    rng = np.random.default_rng(seed)
    topic = np.arange(DOCUMENTS) % TOPICS
    counts = np.zeros((DOCUMENTS, WORDS))
    for d, k in enumerate(topic):
        own = k * 10 + rng.integers(0, 10, size=11)
        noise = rng.integers(0, WORDS, size=1)
        np.add.at(counts[d], np.concatenate([own, noise]), 1)
    links = (topic[:, None] == 0) & (topic == 1) & (rng.random((DOCUMENTS, DOCUMENTS)) < 0.8)
    return csr_array(counts), csr_array(links.astype(float)), topic


@pytest.fixture(scope="module")
def found() -> LinkTopics:
    counts, links, _ = planted()
    return fit_link_lda(counts, links, topics=TOPICS, steps=40, rng=np.random.default_rng(1))


def order_of(found: LinkTopics) -> np.ndarray:
    """Which found topic is which planted one, by the planted topic's words."""
    mass = found.beta.reshape(TOPICS, TOPICS, 10).sum(axis=2)  # found × planted
    order = mass.argmax(axis=0)
    assert sorted(order) == [0, 1, 2]
    return order


def test_the_planted_topics_are_found(found: LinkTopics) -> None:
    _, _, topic = planted()
    order = order_of(found)
    np.testing.assert_allclose(found.beta.sum(axis=1), 1)
    for k in range(TOPICS):
        assert found.beta[order[k], k * 10 : (k + 1) * 10].sum() > 0.85
    assert (found.gamma.argmax(axis=1) == order[topic]).mean() > 0.95


def test_the_planted_direction_of_links_is_found(found: LinkTopics) -> None:
    order = order_of(found)
    eta = found.eta[np.ix_(order, order)]
    assert eta[0, 1] == pytest.approx(0.8, abs=0.1)
    eta[0, 1] = 0
    assert eta.max() < 0.05


@pytest.mark.parametrize("topics", [2, 3, 8])
def test_the_bound_never_falls(topics: int) -> None:
    counts, links, _ = planted(seed=topics)
    rng = np.random.default_rng(0)
    found = fit_link_lda(counts, links, topics=topics, steps=15, sweeps=3, tolerance=0, rng=rng)
    assert len(found.bounds) > 3
    gains = np.diff(found.bounds)
    assert gains.min() > -1e-6 * abs(found.bounds[-1])
    assert found.bounds[-1] > found.bounds[0]


def test_pairs_summed_by_matrix_products_are_those_counted_one_by_one() -> None:
    """One sweep against loops over every ordered pair, with the update rules written out."""
    rng = np.random.default_rng(3)
    counts = csr_array(rng.poisson(1.0, (4, 5)).astype(float))
    links = csr_array(np.array([[0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0]], float))
    q = LinkTopics(counts, links, 2, 0.01)
    q.beta = rng.dirichlet(np.ones(5), size=2)
    q.gamma = rng.gamma(2.0, size=(4, 2))
    q.begin_links()
    q.eta = rng.uniform(0.1, 0.9, (2, 2))
    E = psi(q.gamma) - psi(q.gamma.sum(axis=1, keepdims=True))
    m, lam_target = q.m.copy(), dict(zip([(0, 1), (1, 3)], q.lam_target.copy(), strict=True))

    def normalised(logits: np.ndarray) -> np.ndarray:
        return np.exp(logits) / np.exp(logits).sum()

    gamma = np.full((4, 2), 0.01)
    for d in range(4):
        for w in range(5):
            gamma[d] += counts[d, w] * normalised(np.log(q.beta[:, w]) + E[d])
    mean = np.zeros((4, 2))
    for d in range(4):
        for e in range(4):
            if (d, e) in lam_target:
                lam = normalised(E[d] + np.log(q.eta) @ lam_target[d, e])
                gamma[d] += lam
                gamma[e] += normalised(E[e] + np.log(q.eta).T @ lam)
            elif d != e:  # the link of 2 to itself is no pair
                lam = normalised(E[d] + np.log(1 - q.eta) @ m[e])
                gamma[d] += lam
                mean[e] += lam
    unlinked = np.array([3, 2, 3, 2])
    for e in range(4):
        new = normalised(E[e] + np.log(1 - q.eta).T @ (mean[e] / unlinked[e]))
        gamma[e] += unlinked[e] * new
    q.sweep()
    np.testing.assert_allclose(q.gamma, gamma)


def test_a_word_that_never_occurs_is_in_no_topic_and_an_empty_document_does_no_harm() -> None:
    counts, links, _ = planted()
    dense = counts.toarray()
    dense[:, 7], dense[5] = 0, 0
    rng = np.random.default_rng(0)
    found = fit_link_lda(csr_array(dense), links, topics=TOPICS, steps=5, rng=rng)
    assert (found.beta[:, 7] == 0).all()
    assert np.isfinite(found.gamma).all()


def test_links_move_documents_whose_words_say_nothing() -> None:
    """A document without words that leads to all of topic 1 is taken for one of topic 0."""
    counts, links, topic = planted()
    dense, linked = counts.toarray(), links.toarray()
    dense[0] = 0
    linked[0] = topic == 1
    rng = np.random.default_rng(1)
    found = fit_link_lda(csr_array(dense), csr_array(linked), topics=TOPICS, steps=40, rng=rng)
    assert found.gamma[0].argmax() == order_of(found)[0]


def test_without_any_link_the_words_decide() -> None:
    counts, _, topic = planted()
    none = csr_array((DOCUMENTS, DOCUMENTS))
    found = fit_link_lda(counts, none, topics=TOPICS, steps=20, rng=np.random.default_rng(1))
    assert (found.gamma.argmax(axis=1) == order_of(found)[topic]).mean() > 0.95
    assert found.eta.max() <= 1e-5
