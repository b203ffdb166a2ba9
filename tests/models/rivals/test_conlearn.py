"""ConLearn against an independent NumPy computation, and what its graph may hold."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import reference as ref
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.errors import ProprlError
from proprl.graphs.evidence import Evidence
from proprl.models.networks.scorer import Batch
from proprl.models.registry import method_settings
from proprl.models.rivals.conlearn import ConLearnNetwork, ConLearnScorer, halve, target_weights

N, D, SIZE, HEADS = 5, 4, 6, 2
EDGES = np.array([[0, 0, 2], [1, 2, 1]])  # 0 → 1, 0 → 2, 2 → 1
PAIRS = np.array([[0, 1], [1, 0], [3, 4]])


def network() -> ConLearnNetwork:
    torch.manual_seed(0)
    net = ConLearnNetwork(N, D, size=SIZE, heads=HEADS).double().eval()
    torch.nn.init.normal_(net.added)
    return net


def numpy_logits(net: ConLearnNetwork, X: np.ndarray) -> list[float]:
    w = {name: value.numpy() for name, value in net.state_dict().items()}

    def linear(name: str, x: np.ndarray) -> np.ndarray:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    A_in, A_out = np.zeros((N, N)), np.zeros((N, N))
    for u, v in EDGES.T:
        A_in[v, u] = 1 / (EDGES[1] == v).sum()
        A_out[u, v] = 1 / (EDGES[0] == u).sum()
    h = linear("project", X + w["added"])
    for _ in range(2):
        m_in = A_in @ linear("layer.W_i", h) + w["layer.b_1"]
        m_out = A_out @ linear("layer.W_o", h) + w["layer.b_2"]
        m = np.concatenate([m_in, m_out], axis=1)
        by_m = m @ w["layer.gru.weight_ih"].T + w["layer.gru.bias_ih"]
        by_h = h @ w["layer.gru.weight_hh"].T + w["layer.gru.bias_hh"]
        r = ref.sigmoid(by_m[:, :SIZE] + by_h[:, :SIZE])
        z = ref.sigmoid(by_m[:, SIZE : 2 * SIZE] + by_h[:, SIZE : 2 * SIZE])
        n = np.tanh(by_m[:, 2 * SIZE :] + r * by_h[:, 2 * SIZE :])
        h = n + z * (h - n)
    Q, K = linear("attention.Q", h), linear("attention.K", h)
    heard = []
    for head in range(HEADS):
        q, k = (x[:, head * SIZE : (head + 1) * SIZE] for x in (Q, K))
        share = np.exp(q @ k.T)
        heard.append(share / share.sum(axis=1, keepdims=True) @ k)
    h = h + linear("attention.together", np.concatenate(heard, axis=1))
    h = h + linear("attention.feed.2", ref.relu(linear("attention.feed.0", h)))
    q = ref.relu(linear("head.rho", h))
    return [linear("head.w", ref.pair_representation(q, a, b)).item() for a, b in PAIRS]


def test_forward_pass_equals_the_equations() -> None:
    X = np.random.default_rng(0).normal(size=(N, D))
    net = network()
    with torch.no_grad():
        h = net.encode(torch.from_numpy(X), torch.from_numpy(EDGES))
        got = net(h, torch.from_numpy(PAIRS))["pair"]
    np.testing.assert_allclose(got.numpy(), numpy_logits(net, X), atol=1e-10)


def test_the_second_concept_is_read() -> None:
    """The released code reads the first one twice."""
    net = network()
    h = torch.randn(N, SIZE).double()
    pairs = torch.tensor([[0, 1], [0, 2], [1, 0]])
    there, other, back = net({"concepts": h}, pairs)["pair"].tolist()
    assert len({round(s, 9) for s in (there, other, back)}) == 3


def test_a_pair_that_the_graph_shows_weighs_nothing() -> None:
    edges = torch.tensor([[0, 0, 2, 3], [1, 2, 1, 4]])
    shown = edges[:, :2]
    pairs = torch.tensor([[0, 1], [2, 1], [1, 0], [3, 4]])
    y = torch.tensor([1.0, 1.0, 0.0, 1.0])
    # Two of four positives are shown: the other two stand for them. (1, 0) is not (0, 1).
    assert target_weights(shown, edges, pairs, y, N).tolist() == [0.0, 2.0, 1.0, 2.0]


def test_half_of_the_edges_is_drawn_anew_each_time() -> None:
    edges = torch.arange(22).reshape(2, 11)
    torch.manual_seed(0)
    drawn = [halve(edges) for _ in range(20)]
    assert {d.shape[1] for d in drawn} == {5}
    assert all((d[1] - d[0] == 11).all() for d in drawn)  # whole edges
    assert set(torch.cat(drawn, dim=1)[0].tolist()) == set(range(11))
    assert halve(edges[:, :1]).shape[1] == 0


def test_evaluation_uses_all_training_positives_once_and_no_others() -> None:
    rng = np.random.default_rng(0)
    train = LabelledPairs(np.array([[2, 3], [0, 1], [0, 1], [1, 2]]), np.array([1, 1, 1, 0]))
    held_out = LabelledPairs(np.array([[3, 4]]), np.array([1]))
    scorer = ConLearnScorer(method_settings("conlearn"), device="cpu")
    split = PairSplit(train, held_out, held_out, "given", promises_reversed=False)
    inputs = scorer.prepare(Evidence(rng.normal(size=(N, D))), split)
    assert inputs.edges.T.tolist() == [[0, 1], [2, 3]]


def test_no_gradient_comes_from_a_shown_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """With every edge in the graph, a batch of positives costs nothing."""
    scorer = ConLearnScorer(method_settings("conlearn", size=SIZE, dropout=0.0), device="cpu")
    train = LabelledPairs(EDGES.T.copy(), np.ones(3, dtype=np.int64))
    split = PairSplit(train, train, train, "given", promises_reversed=False)
    evidence = Evidence(np.random.default_rng(0).normal(size=(N, D)))
    inputs = scorer.prepare(evidence, split)
    net = scorer.build(scorer.sizes(evidence), ())
    pairs, y = torch.from_numpy(train.pairs), torch.ones(3)
    assert scorer.loss(net, inputs, Batch(pairs, y)).item() > 0
    monkeypatch.setattr("proprl.models.rivals.conlearn.halve", lambda edges: edges)
    assert scorer.loss(net, inputs, Batch(pairs, y)).item() == 0


def test_too_many_concepts_are_refused() -> None:
    scorer = ConLearnScorer(method_settings("conlearn"), device="cpu")
    one = LabelledPairs(np.array([[0, 1]]), np.array([1]))
    split = PairSplit(one, one, one, "given", promises_reversed=False)
    with pytest.raises(ProprlError, match="5,000"):
        scorer.prepare(Evidence(np.zeros((5_001, 1))), split)


def test_the_published_schedule_decays_weights_apart_from_the_gradient() -> None:
    schedule = method_settings("conlearn", "paper").schedule(1000)
    assert schedule.decoupled_decay
    assert (schedule.learning_rate, schedule.weight_decay, schedule.batch_size) == (1e-4, 1e-2, 512)
    assert (schedule.epochs, schedule.patience) == (100, 60)
