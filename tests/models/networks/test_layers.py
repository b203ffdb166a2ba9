"""Graph attention against a computation edge by edge."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from proprl.models.networks import layers
from proprl.models.networks.layers import GraphAttention, edge_softmax

# Node 4 has no incoming edge; 0 → 1 stands twice.
EDGES = torch.tensor([[0, 1, 2, 0, 3, 0], [1, 0, 0, 3, 3, 1]])


def layer(*, heads: int, weighted: bool) -> GraphAttention:
    torch.manual_seed(0)
    made = GraphAttention(3, 5, heads, weighted=weighted).double()
    torch.nn.init.normal_(made.b)
    return made


def by_hand(net: GraphAttention, H: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    W, a, c, b = (t.detach().numpy() for t in (net.W.weight, net.a, net.c, net.b))
    v = None if net.v is None else net.v.detach().numpy()[0]
    heads, size = a.shape
    out = np.zeros((len(H), heads * size))
    for head in range(heads):
        own = slice(head * size, (head + 1) * size)
        WH = H @ W[own].T
        for i in range(len(H)):
            incoming = [e for e in range(EDGES.shape[1]) if EDGES[1, e] == i]
            scores = []
            for e in incoming:
                s = a[head] @ WH[EDGES[0, e]] + c[head] @ WH[i]
                if v is not None and weights is not None:
                    s += v[head] * weights[e]
                scores.append(s if s > 0 else 0.2 * s)
            shares = np.exp(scores) / np.exp(scores).sum()
            for share, e in zip(shares, incoming, strict=True):
                out[i, own] += share * WH[EDGES[0, e]]
    return out + b


@pytest.mark.parametrize("dense", [True, False], ids=["dense product", "edge by edge"])
@pytest.mark.parametrize(("heads", "weighted"), [(1, False), (3, True)])
def test_nodes_hear_their_sources_by_shares(
    heads: int, weighted: bool, dense: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layers, "DENSE_UP_TO", 5 if dense else 4)
    rng = np.random.default_rng(0)
    H = rng.normal(size=(5, 3))
    weights = rng.normal(size=EDGES.shape[1]) if weighted else None
    net = layer(heads=heads, weighted=weighted)
    got = net(torch.from_numpy(H), EDGES, None if weights is None else torch.from_numpy(weights))
    np.testing.assert_allclose(got.detach().numpy(), by_hand(net, H, weights), atol=1e-12)


def test_a_node_without_edges_gets_the_bias_alone() -> None:
    net = layer(heads=2, weighted=False)
    heard = net(torch.randn(5, 3).double(), EDGES)
    torch.testing.assert_close(heard[4], net.b)


def test_shares_of_a_target_sum_to_one_even_for_huge_scores() -> None:
    scores = torch.tensor([[1000.0], [1000.0], [-5.0]])
    shares = edge_softmax(scores, torch.tensor([1, 1, 0]), 3)
    torch.testing.assert_close(shares, torch.tensor([[0.5], [0.5], [1.0]]))
