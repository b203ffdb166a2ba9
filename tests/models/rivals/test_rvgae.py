"""R-VGAE: its relational layer, its relations and its losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.errors import ProprlError
from proprl.graphs.evidence import Evidence
from proprl.models.networks.scorer import Batch
from proprl.models.registry import method_settings
from proprl.models.rivals.gae import Reconstruction, normalised_adjacency
from proprl.models.rivals.rvgae import RelationalAutoencoder, RelationalConvolution, RVGAEScorer

# Concepts 0 and 1 stand in document 0, concepts 1 and 2 in document 1.
M = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
X = np.array([[1.0, 0.0], [0.5, 2.0], [-1.0, 1.0]])


@pytest.fixture
def split() -> PairSplit:
    none = LabelledPairs.empty()
    train = LabelledPairs(np.array([[0, 1], [2, 0]]), np.array([1, 0]))
    return PairSplit(train, none, none, "given", promises_reversed=True)


def scorer(preset: str = "default", **changes: Any) -> RVGAEScorer:
    return RVGAEScorer(method_settings("rvgae", preset, **changes), device="cpu")


def test_a_layer_is_the_mean_over_its_graphs() -> None:
    rng = np.random.default_rng(0)
    graphs = [normalised_adjacency(np.diag(rng.random(3))) for _ in range(3)]
    layer = RelationalConvolution(2, 4, graphs=3).double()
    W = [p.detach().numpy() for p in layer.parameters()]
    expected = sum(A @ X @ W_r for A, W_r in zip(graphs, W, strict=True)) / 3
    found = layer(torch.from_numpy(X), tuple(torch.from_numpy(A) for A in graphs))
    np.testing.assert_allclose(found.detach(), expected)


def test_released_the_encoder_is_linear() -> None:
    torch.manual_seed(0)
    graphs = (torch.eye(3),) * 3
    x = torch.from_numpy(X).float()
    linear, ours = RelationalAutoencoder(2, linear=True), RelationalAutoencoder(2)
    torch.testing.assert_close(linear(-x, graphs).mu, -linear(x, graphs).mu)
    assert not torch.allclose(ours(-x, graphs).mu, -ours(x, graphs).mu, atol=1e-3)


def test_documents_contain_concepts_and_are_alike(split: PairSplit) -> None:
    """Documents 0 and 2 point the same way and the other one does not."""
    incidence = np.column_stack([M, M[:, 0]])
    documents = np.array([[2.0, 1.0], [-2.0, 0.0], [2.0, 1.5]])
    evidence = Evidence(X, incidence=incidence, resource_features=documents)
    inputs = scorer().prepare(evidence, split)
    contained, alike = np.zeros((6, 6)), np.zeros((6, 6))
    contained[:3, 3:], contained[3:, :3] = incidence, incidence.T
    alike[3, 5] = alike[5, 3] = 1
    for graph, expected in zip(inputs.graphs, (contained + alike, contained, alike), strict=True):
        np.testing.assert_allclose(graph, normalised_adjacency(expected), atol=1e-6)
    assert inputs.alike is not None
    np.testing.assert_array_equal(inputs.alike.target, np.eye(3) + alike[3:, 3:])


def test_messages_never_pass_along_labels(split: PairSplit) -> None:
    inputs = scorer().prepare(Evidence(X, incidence=M), split)
    assert all(graph[0, 1] == 0 == graph[2, 0] for graph in inputs.graphs)


def test_the_objective_adds_up_the_relations(split: PairSplit) -> None:
    ours = scorer()
    inputs = ours.prepare(Evidence(X, incidence=M), split)
    assert inputs.alike is None  # two documents, not alike: nothing to reconstruct
    assert inputs.contained is not None
    assert inputs.links is not None
    torch.manual_seed(0)
    network = ours.build({"in_size": 2}, ("resource",))
    nothing = torch.empty(0)
    torch.manual_seed(1)
    found = ours.loss(network, inputs, Batch(nothing, nothing))
    torch.manual_seed(1)
    posterior = network(inputs.X, inputs.graphs)
    Z = posterior.sample()
    expected = (
        Reconstruction.of(torch.from_numpy(M).float()).loss(Z[:3] @ Z[3:].T)
        + inputs.links.loss(network.decoder.matrix(Z[:3]))
        + posterior.divergence()
    )
    torch.testing.assert_close(found, expected)


def test_as_released_it_learns_nothing_from_labels(split: PairSplit) -> None:
    evidence = Evidence(X, incidence=M)
    turned = LabelledPairs(split.train.pairs, 1 - split.train.labels)
    other = PairSplit(turned, split.validation, split.test, "given", promises_reversed=True)
    pairs = np.array([[0, 1], [1, 2]])
    scores = []
    for part in (split, other):
        released = scorer("paper", epochs=3)
        released.fit(evidence, part, seed=0)
        scores.append(released.score(pairs))
    np.testing.assert_array_equal(*scores)


def test_vectors_of_different_widths_stand_side_by_side(split: PairSplit) -> None:
    evidence = Evidence(X, incidence=M, resource_features=np.eye(2, 3))
    ours = scorer(epochs=2)
    ours.fit(evidence, split, seed=0)
    assert ours.sizes(evidence) == {"in_size": 5}
    assert ours.encoded["Z"].shape == (3, 16)


def test_without_resources_it_says_what_to_add(split: PairSplit) -> None:
    with pytest.raises(ProprlError, match=r"add resources\.csv"):
        scorer().fit(Evidence(X), split, seed=0)
