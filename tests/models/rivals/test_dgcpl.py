"""DGCPL against an independent NumPy computation."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import reference as ref
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.errors import MissingInputError
from proprl.graphs.evidence import Evidence
from proprl.models.networks.scorer import Batch
from proprl.models.registry import method_settings
from proprl.models.rivals.dgcpl import DGCPLNetwork, DGCPLScorer, DGCPLSettings, mutual_distillation

N, D, SIZE = 6, 5, 8
PAIRS = np.array([[0, 1], [1, 0], [5, 2]])
EMPTY = LabelledPairs.empty()
NO_PAIRS = PairSplit(EMPTY, EMPTY, EMPTY, "given", promises_reversed=False)


@pytest.fixture
def evidence() -> Evidence:
    rng = np.random.default_rng(0)
    M = (rng.random((N, 4)) < 0.5).astype(float)
    M[3] = 0  # a concept without a resource
    B = rng.poisson(1.0, (N, N)) * (1 - np.eye(N))
    return Evidence(rng.normal(size=(N, D)), B, M)


def scorer(**changes: object) -> DGCPLScorer:
    return DGCPLScorer(method_settings("dgcpl", "paper", size=SIZE, **changes), device="cpu")


def graphs(evidence: Evidence) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """G, Out and In as the specification writes them, from dense matrices."""
    H, T = evidence.incidence.toarray(), evidence.transitions.toarray()
    d_v, d_e = H.sum(axis=1), H.sum(axis=0)
    with np.errstate(divide="ignore"):
        v, e = np.where(d_v > 0, d_v**-0.5, 0), np.where(d_e > 0, 1 / d_e, 0)
    G = np.diag(v) @ H @ np.diag(e) @ H.T @ np.diag(v)
    out, into = T + np.eye(N), T.T + np.eye(N)
    return G, out / out.sum(axis=1, keepdims=True), into / into.sum(axis=1, keepdims=True)


def numpy_logits(net: DGCPLNetwork, X: np.ndarray, evidence: Evidence) -> dict[str, np.ndarray]:
    w = {name: value.double().numpy() for name, value in net.state_dict().items()}

    def linear(name: str, x: np.ndarray) -> np.ndarray:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    G, out, into = graphs(evidence)
    X_H, X_out, X_in = X, X, X
    for i in range(2):
        heard = G @ linear(f"hypergraph.graph.{i}", X_H)  # G (x W + b)
        X_H = ref.relu(heard) + linear(f"hypergraph.shortcut.{i}", X_H)
        heard = out @ X_out @ w[f"out.graph.{i}.weight"].T + w[f"out.graph.{i}.bias"]
        X_out = ref.relu(heard) + linear(f"out.shortcut.{i}", X_out)
        heard = into @ X_in @ w[f"into.graph.{i}.weight"].T + w[f"into.graph.{i}.bias"]
        X_in = ref.relu(heard) + linear(f"into.shortcut.{i}", X_in)
    X_N = ref.relu(linear("W_1", X_out) + linear("W_2", X_in))
    theta = ref.sigmoid(linear("W_3", X_H) + linear("W_4", X_N))
    X_T = theta * X_H + (1 - theta) * X_N

    def head(branch: str, x: np.ndarray) -> np.ndarray:
        rho, b = f"heads.{branch}.rho", f"heads.{branch}.w"
        return np.array(
            [
                ref.view_logit(
                    x,
                    i,
                    j,
                    w[f"{rho}.weight"].T,
                    w[f"{rho}.bias"],
                    w[f"{b}.weight"][0],
                    w[f"{b}.bias"],
                )
                for i, j in PAIRS
            ]
        )

    return {
        "resource": head("resource", X_H),
        "behaviour": head("behaviour", X_N),
        "fused": head("fused", X_T),
    }


def test_forward_pass_equals_the_equations(evidence: Evidence) -> None:
    method = scorer()
    inputs = method.prepare(evidence, NO_PAIRS)
    net = method.build(method.sizes(evidence), evidence.views).eval()
    X = evidence.features
    expected = numpy_logits(net, (X - X.mean(axis=0)) / X.std(axis=0), evidence)
    with torch.no_grad():
        got = method.logits(net, method.encode(net, inputs), torch.from_numpy(PAIRS))
    assert list(got) == list(expected) == ["resource", "behaviour", "fused"]
    for branch, logits in expected.items():
        np.testing.assert_allclose(got[branch].numpy(), logits, atol=1e-5)


def test_the_loss_sums_the_heads_and_the_batch_of_distillation(evidence: Evidence) -> None:
    method = scorer(kappa=0.3, tau=0.5)
    inputs = method.prepare(evidence, NO_PAIRS)
    net = method.build(method.sizes(evidence), evidence.views).eval()
    y = np.array([1.0, 0.0, 1.0])
    pairs = torch.from_numpy(PAIRS)
    l = {k: v.detach().double().numpy() for k, v in net(net.encode(*inputs), pairs).items()}
    p = {branch: ref.sigmoid(s / 0.5) for branch, s in l.items()}
    gaps = abs(p["fused"] - p["resource"]) + abs(p["fused"] - p["behaviour"])
    expected = ref.classification_loss(l, y) + 0.3 * gaps.sum()
    got = method.loss(net, inputs, Batch(pairs, torch.from_numpy(y).float()))
    assert got.item() == pytest.approx(expected, abs=1e-5)


def test_encoding_some_concepts_gives_the_rows_of_encoding_all(evidence: Evidence) -> None:
    method, rows = scorer(), torch.tensor([0, 2])
    inputs = method.prepare(evidence, NO_PAIRS)
    net = method.build(method.sizes(evidence), evidence.views).eval()
    with torch.no_grad():
        every, some = net.encode(*inputs), net.encode(*inputs, rows)
    for branch, H in every.items():
        torch.testing.assert_close(some[branch], H[rows])


def test_distillation_is_mutual() -> None:
    """Teacher and students move: nothing is detached."""
    logits = {b: torch.tensor([x], requires_grad=True) for b, x in
              [("resource", -1.0), ("behaviour", 0.5), ("fused", 2.0)]}  # fmt: skip
    mutual_distillation(logits, 0.5).backward()
    assert logits["fused"].grad > 0 > logits["resource"].grad


def test_the_probability_is_the_mean_of_three(evidence: Evidence) -> None:
    labelled = LabelledPairs(PAIRS, np.array([1, 0, 1]))
    split = PairSplit(labelled, labelled, EMPTY, "given", promises_reversed=False)
    method = scorer(epochs=1)
    method.fit(evidence, split, seed=0)
    parts = method.details(PAIRS)
    np.testing.assert_allclose(method.score(PAIRS), np.mean(list(parts.values()), axis=0))


def test_convolutions_start_within_the_bound_of_their_outputs() -> None:
    net = DGCPLNetwork(in_size=400, size=16)
    weight = net.hypergraph.graph[0].weight
    assert 0.24 < weight.abs().max() <= 0.25  # 1/√16; Linear's own bound would be 1/√400


def test_both_views_are_needed(evidence: Evidence) -> None:
    with pytest.raises(MissingInputError, match="learner behaviour"):
        scorer().fit(Evidence(evidence.features, incidence=evidence.incidence), NO_PAIRS, seed=0)


def test_the_paper_preset_is_the_published_setting() -> None:
    s = DGCPLSettings()
    assert method_settings("dgcpl", "paper") == s
    assert (s.learning_rate, s.batch_size, s.epochs, s.tau, s.size) == (1e-4, 16, 50, 0.5, 256)
