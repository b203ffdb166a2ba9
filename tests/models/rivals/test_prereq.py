"""PREREQ: topic vectors, the Siamese network by hand, and what the released variant cannot do."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from proprl.data import Course
from proprl.data.splits.parts import PairSplit, grouped_split
from proprl.errors import MissingInputError, ProprlError
from proprl.features.gather import gather_evidence
from proprl.graphs.evidence import Evidence
from proprl.models.rivals.prereq import (
    PrereqScorer,
    PrereqSettings,
    SiameseNetwork,
    concept_topics,
    following,
)

QUICK = PrereqSettings(topics=8, size=16, steps=None, epochs=3, em_steps=5, em_sweeps=3)


@pytest.fixture(scope="module")
def evidence(planted: Course) -> Evidence:
    return gather_evidence(planted)[0]


@pytest.fixture(scope="module")
def split(planted: Course) -> PairSplit:
    return grouped_split(planted.labelled_pairs(), fractions=(0.6, 0.2, 0.2), seed=0)


def test_a_concepts_vector_is_its_column_scaled_by_its_largest_share() -> None:
    beta = np.array([[0.2, 0.8, 0.0], [0.4, 0.6, 0.0]])
    np.testing.assert_allclose(concept_topics(beta), [[0.5, 1.0], [1.0, 0.75], [0.0, 0.0]])


def test_a_resource_is_linked_to_the_next() -> None:
    assert following(3).toarray().tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert following(1).toarray().tolist() == [[0]]


@pytest.mark.parametrize("comparison", ["signed", "absolute"])
def test_the_network_equals_its_equation(comparison: str) -> None:
    torch.manual_seed(0)
    net = SiameseNetwork(4, 6, comparison=comparison).double()  # type: ignore[arg-type]
    bn = net.siamese[1]
    bn.running_mean.copy_(torch.randn(4))
    bn.running_var.copy_(torch.rand(4) + 0.5)
    net.eval()
    w = {name: value.numpy() for name, value in net.state_dict().items()}
    X = np.random.default_rng(0).random((2, 4))
    hidden = X @ w["siamese.0.weight"].T + w["siamese.0.bias"]
    hidden = (hidden - w["siamese.1.running_mean"]) / np.sqrt(w["siamese.1.running_var"] + 1e-5)
    U = np.maximum(hidden, 0) @ w["siamese.4.weight"].T + w["siamese.4.bias"]
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    f = U[0] - U[1] if comparison == "signed" else abs(U[0] - U[1])
    with torch.no_grad():
        u = net.encode(torch.from_numpy(X))
        score = net(u[:1], u[1:])
    np.testing.assert_allclose(score.item(), f @ w["w.weight"][0] + w["w.bias"][0])


def test_the_released_comparison_scores_both_orders_alike_and_ours_does_not() -> None:
    torch.manual_seed(0)
    u, v = torch.randn(5, 6), torch.randn(5, 6)
    released = SiameseNetwork(4, 6, comparison="absolute")
    torch.testing.assert_close(released(u, v), released(v, u))
    ours = SiameseNetwork(4, 6)
    assert (ours(u, v) - ours(v, u)).abs().min() > 0


def test_a_concept_in_no_resource_gets_a_score_all_the_same(
    evidence: Evidence, split: PairSplit
) -> None:
    M = evidence.incidence.toarray()
    M[[3, 4]] = 0
    scorer = PrereqScorer(QUICK, device="cpu")
    report = scorer.fit(Evidence(evidence.features, incidence=M), split, seed=0)
    assert report.facts["concepts in no resource"] == 2
    same = scorer.score(np.array([[3, 7], [4, 7]]))
    assert np.isfinite(same).all()
    assert same[0] == pytest.approx(same[1])  # both are the zero vector


def test_the_report_says_where_the_links_come_from(evidence: Evidence, split: PairSplit) -> None:
    def source(evidence: Evidence) -> object:
        report = PrereqScorer(QUICK, device="cpu").fit(evidence, split, seed=0)
        return report.facts["links between resources"]

    m = evidence.incidence.shape[1]
    linked = Evidence(
        evidence.features, incidence=evidence.incidence, resource_links=following(m).T
    )
    assert source(evidence) == "order of the resources"
    assert source(linked) == "given"


def test_published_steps_become_epochs() -> None:
    assert PrereqSettings().schedule(1_604).epochs == 270  # 13 batches of 128 an epoch
    assert PrereqSettings(steps=None, epochs=7).schedule(1_604).epochs == 7


def test_without_resources_it_says_what_to_add(evidence: Evidence, split: PairSplit) -> None:
    bare = Evidence(evidence.features, evidence.transitions)
    with pytest.raises(MissingInputError, match=r"prereq cannot learn.*\n.*add resources\.csv"):
        PrereqScorer(QUICK, device="cpu").fit(bare, split, seed=0)


def test_a_matrix_of_all_pairs_of_too_many_resources_is_refused(split: PairSplit) -> None:
    M = np.zeros((60, 5_001))
    M[0] = 1
    with pytest.raises(ProprlError, match="resources, for at most 5,000; there are 5,001"):
        PrereqScorer(QUICK, device="cpu").fit(Evidence(np.eye(60), incidence=M), split, seed=0)
