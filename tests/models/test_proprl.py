"""The network against an independent NumPy implementation, and its parts one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

import reference as ref
from proprl.graphs.matrices import hypergraph_operator, normalise_rows, propagation_operator
from proprl.models.networks.layers import Channel
from proprl.models.proprl import ProPRLNetwork

N, D, SIZE, ALPHA, K = 7, 6, 32, 0.2, 3


@pytest.fixture
def operators() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    B = sparse.csr_array(rng.poisson(0.7, (N, N)).astype(float))
    M = sparse.csr_array((rng.random((N, 4)) < 0.4).astype(float))
    return {
        "X": rng.normal(size=(N, D)),
        "P": hypergraph_operator(M),
        "A_out": normalise_rows(B),
        "A_in": normalise_rows(B.T.tocsr()),
    }


def channel(A: Any, X: torch.Tensor, *, one_product: bool) -> Channel:
    dense = torch.from_numpy(A.toarray())
    S = torch.from_numpy(propagation_operator(A, ALPHA, K)) if one_product else None
    return Channel(dense, dense @ X, S)


def channels(operators: dict[str, Any], *, one_product: bool) -> dict[str, tuple[Channel, ...]]:
    X = torch.from_numpy(operators["X"])
    make = {k: channel(operators[k], X, one_product=one_product) for k in ("P", "A_out", "A_in")}
    return {"resource": (make["P"],), "behaviour": (make["A_out"], make["A_in"])}


def network(views: tuple[str, ...] = ("resource", "behaviour")) -> ProPRLNetwork:
    torch.manual_seed(0)
    return ProPRLNetwork(D, views, size=SIZE, alpha=ALPHA, k=K).double().eval()


def reference_parameters(net: ProPRLNetwork) -> dict[str, Any]:
    """The network's weights in the shape that the reference documents."""
    w = {name: value.numpy() for name, value in net.state_dict().items()}

    def layers(encoder: str) -> list[dict[str, Any]]:
        return [
            {
                "W_g": w[f"{encoder}.graph.{i}.weight"].T,
                "b_g": w[f"{encoder}.graph.{i}.bias"],
                "W_0": w[f"{encoder}.shortcut.{i}.weight"].T,
                "b_0": w[f"{encoder}.shortcut.{i}.bias"],
            }
            for i in range(2)
        ]

    def mlp(name: str) -> list[dict[str, Any]]:
        numbers = sorted({int(key.split(".")[1]) for key in w if key.startswith(name + ".")})
        return [{"W": w[f"{name}.{i}.weight"].T, "b": w[f"{name}.{i}.bias"]} for i in numbers]

    def branch(view: str) -> dict[str, Any]:
        head = f"branches.{view}"
        return {
            "rho_W": w[f"{head}.rho.weight"].T,
            "rho_b": w[f"{head}.rho.bias"],
            "w": w[f"{head}.w.weight"][0],
            "b": w[f"{head}.w.bias"][0],
        }

    b = "encoders.behaviour"
    return {
        "resource": {"layers": layers("encoders.resource")},
        "behaviour": {
            "out_layers": layers(f"{b}.out"),
            "in_layers": layers(f"{b}.into"),
            "W_out": w[f"{b}.W_out.weight"].T,
            "b_out": w[f"{b}.W_out.bias"],
            "W_in": w[f"{b}.W_in.weight"].T,
            "b_in": w[f"{b}.W_in.bias"],
            "ln_weight": w[f"{b}.norm.weight"],
            "ln_bias": w[f"{b}.norm.bias"],
        },
        "gate": mlp("mlp_g"),
        "fused": mlp("mlp_p"),
        "resource_branch": branch("resource"),
        "behaviour_branch": branch("behaviour"),
    }


@pytest.mark.parametrize("one_product", [True, False], ids=["operator S", "k steps"])
def test_forward_pass_equals_the_reference(operators: dict[str, Any], one_product: bool) -> None:
    net = network()
    pairs = np.array([[0, 1], [1, 0], [3, 6], [5, 2]])
    expected = ref.proprl_forward(
        reference_parameters(net),
        operators["X"],
        operators["A_out"].toarray(),
        operators["A_in"].toarray(),
        operators["P"].toarray(),
        pairs,
        ALPHA,
        K,
    )
    with torch.no_grad():
        views = net.encode(
            torch.from_numpy(operators["X"]), channels(operators, one_product=one_product)
        )
        logits = net(views, torch.from_numpy(pairs))
    assert list(logits) == ["resource", "behaviour", "fused"]
    for branch, s in logits.items():
        np.testing.assert_allclose(s.numpy(), expected[branch], atol=1e-5, rtol=0)


@pytest.mark.parametrize("one_product", [True, False], ids=["operator S", "k steps"])
@pytest.mark.parametrize("layout", [torch.strided, torch.sparse_csr], ids=["dense", "sparse"])
def test_encoding_some_concepts_gives_the_rows_of_encoding_all(
    operators: dict[str, Any], one_product: bool, layout: torch.layout
) -> None:
    net, X, rows = network(), torch.from_numpy(operators["X"]), torch.tensor([1, 4, 5])
    graphs = {
        view: tuple(replace(c, A=c.A.to_sparse(layout=layout)) if layout != torch.strided else c
                    for c in made)
        for view, made in channels(operators, one_product=one_product).items()
    }  # fmt: skip
    with torch.no_grad():
        every, some = net.encode(X, graphs), net.encode(X, graphs, rows)
    for view, H in every.items():
        torch.testing.assert_close(some[view], H[rows])


def test_reversing_a_pair_changes_every_score(operators: dict[str, Any]) -> None:
    net = network()
    with torch.no_grad():
        views = net.encode(torch.from_numpy(operators["X"]), channels(operators, one_product=True))
        there = net(views, torch.tensor([[0, 4]]))
        back = net(views, torch.tensor([[4, 0]]))
    for branch in there:
        assert abs(there[branch].item() - back[branch].item()) > 1e-4


def test_the_gate_is_a_share_for_each_dimension(operators: dict[str, Any]) -> None:
    net = network()
    r_u, r_v = torch.randn(5, 4 * SIZE).double(), torch.randn(5, 4 * SIZE).double()
    g = net.gate(r_u, r_v)
    assert g.shape == (5, 4 * SIZE)
    assert ((g > 0) & (g < 1)).all()


def test_the_paper_counts_about_2_68_million_parameters() -> None:
    net = ProPRLNetwork(768)
    assert sum(p.numel() for p in net.parameters()) == 2_676_867


@pytest.mark.parametrize("views", [("resource",), ("behaviour",), ()])
def test_a_missing_view_has_no_parameters(operators: dict[str, Any], views: tuple[str]) -> None:
    net = network(views)
    used = views or ("content",)
    assert tuple(net.encoders) == tuple(net.branches) == used
    assert net.mlp_g is None
    X = torch.from_numpy(operators["X"])
    graphs = {**channels(operators, one_product=True), "content": (Channel(None, X),)}
    logits = net(net.encode(X, graphs), torch.tensor([[0, 1]]))
    assert list(logits) == [*used, "fused"]
