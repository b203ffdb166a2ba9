"""MHAVGAE: attention, gate and resource weights against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from proprl.arrays import FloatArray
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.errors import ProprlError
from proprl.graphs.evidence import Evidence
from proprl.models.registry import method_settings
from proprl.models.rivals.mhavgae import (
    AttentionAutoencoder,
    MHAVGAEScorer,
    MultiHeadAttention,
    looped_edges,
    resource_weights,
)

M = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])


@pytest.fixture
def split() -> PairSplit:
    none = LabelledPairs.empty()
    train = LabelledPairs(np.array([[0, 1], [2, 0]]), np.array([1, 0]))
    return PairSplit(train, none, none, "given", promises_reversed=True)


def scorer(preset: str = "default", **changes: Any) -> MHAVGAEScorer:
    return MHAVGAEScorer(method_settings("mhavgae", preset, **changes), device="cpu")


def numpy_attention(
    layer: MultiHeadAttention, H: FloatArray, neighbours: FloatArray, slope: float
) -> FloatArray:
    """e_ij = LeakyReLU(aᵀ [W h_i; W h_j]) over i's neighbours, one head after the other."""
    w = {name: value.detach().numpy() for name, value in layer.named_parameters()}
    outputs = []
    size = layer.W.out_features
    for head, (a, c) in enumerate(zip(w["attention.a"], w["attention.c"], strict=True)):
        WH = H @ w["attention.W.weight"][head * size : (head + 1) * size].T
        e = (WH @ c)[:, None] + (WH @ a)[None, :]
        e = np.where(e > 0, e, slope * e)
        share = np.exp(e) * neighbours
        heard = share / share.sum(axis=1, keepdims=True) @ WH
        outputs.append(np.where(heard > 0, heard, np.expm1(heard)))
    return np.maximum(np.hstack(outputs) @ w["W.weight"].T + w["W.bias"], 0)


@pytest.mark.parametrize(("heads", "slope"), [(1, 0.0), (3, 0.2)], ids=["released", "ours"])
def test_attention_equals_numpy(heads: int, slope: float) -> None:
    torch.manual_seed(0)
    H = np.random.default_rng(0).normal(size=(4, 5))
    links = csr_array(([1.0, 1.0], ([0, 1], [1, 3])), shape=(4, 4))
    layer = MultiHeadAttention(5, 6, heads, slope).double()
    neighbours = links.toarray() + links.toarray().T + np.eye(4)
    found = layer(torch.from_numpy(H), torch.from_numpy(looped_edges(links)))
    np.testing.assert_allclose(
        found.detach(), numpy_attention(layer, H, neighbours, slope), atol=1e-10
    )


def test_edges_run_both_ways_and_every_node_hears_itself() -> None:
    links = csr_array(([1.0], ([0], [1])), shape=(3, 3))
    edges = {tuple(edge) for edge in looped_edges(links).T.tolist()}
    assert edges == {(0, 1), (1, 0), (0, 0), (1, 1), (2, 2)}


def test_a_concepts_resources_count_by_their_share() -> None:
    """Resource 1 holds concept 0 alone, resource 0 two concepts: it counts half as much."""
    np.testing.assert_allclose(
        resource_weights(csr_array(M), averaged=True).toarray(),
        [[1 / 3, 2 / 3, 0], [1, 0, 0], [0, 0, 0]],
    )


def test_released_weights_are_tf_idf_and_do_not_sum_to_one() -> None:
    rare, common = np.log(4 / 2) + 1, np.log(4 / 3) + 1  # in one and in two of three resources
    np.testing.assert_allclose(
        resource_weights(csr_array(M), averaged=False).toarray(),
        [[common / 2, common, 0], [rare / 2, 0, 0], [0, 0, 0]],
    )


def test_the_gate_mixes_both_views_without_parameters() -> None:
    torch.manual_seed(0)
    network = AttentionAutoencoder(5, 5, width=4).double()
    rng = np.random.default_rng(1)
    C, P = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    z = 1 / (1 + np.exp(-(C + P)))
    W, b = network.W.weight.detach().numpy(), network.W.bias.detach().numpy()
    expected = np.maximum((z * C + (1 - z) * P) @ W.T + b, 0)
    found = network.fuse(torch.from_numpy(C), torch.from_numpy(P))
    np.testing.assert_allclose(found.detach(), expected)


def test_codes_are_those_of_a_vgae_on_the_fused_concepts(split: PairSplit) -> None:
    X = np.random.default_rng(2).normal(size=(3, 5))
    links = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    evidence = Evidence(X, incidence=M, resource_links=links)
    ours = scorer(width=4)
    inputs = ours.prepare(evidence, split)
    torch.manual_seed(0)
    network = ours.build(ours.sizes(evidence), ("resource",))
    known = csr_array(([1.0], ([0], [1])), shape=(3, 3))  # the one training positive
    C = network.concepts(inputs.X, torch.from_numpy(looped_edges(known)))
    P = inputs.R @ network.resources(inputs.Y, torch.from_numpy(looped_edges(csr_array(links))))
    F = network.fuse(C, P)
    A = inputs.A
    W_0, W_mu = network.encoder.W_0.W, network.encoder.W_mu.W
    expected = A @ torch.relu(A @ F @ W_0) @ W_mu
    torch.testing.assert_close(ours.posterior(network, inputs).mu, expected)


def test_resources_without_links_hear_only_themselves(split: PairSplit) -> None:
    inputs = scorer().prepare(Evidence(np.eye(3), incidence=M), split)
    np.testing.assert_array_equal(inputs.resource_edges, [[0, 1, 2], [0, 1, 2]])


def test_the_published_setting() -> None:
    s = method_settings("mhavgae", "paper").model_dump()
    published = {"heads": 1, "negative_slope": 0.0, "epochs": 10, "weight_decay": 0.01}
    published |= {"learning_rate": 0.01, "threshold": 0.6, "decoder": "inner", "width": 150}
    assert published.items() <= s.items()


def test_without_resources_it_says_what_to_add(split: PairSplit) -> None:
    with pytest.raises(ProprlError, match=r"add resources\.csv"):
        scorer().fit(Evidence(np.eye(3)), split, seed=0)
