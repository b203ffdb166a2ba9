"""GKROM against an independent NumPy computation, and what its auxiliary tasks learn from."""

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
from proprl.models.rivals.gkrom import GKROMNetwork, GKROMScorer, Inputs, Links

N, M, D = 4, 3, 5
INCIDENCE = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 0]], dtype=float)
LINKS = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=float)  # resource 0 before 1 before 2
PAIRS = np.array([[0, 1], [1, 0], [3, 2]])
EMPTY = LabelledPairs.empty()
NO_PAIRS = PairSplit(EMPTY, EMPTY, EMPTY, "given", promises_reversed=False)


def evidence(links: np.ndarray | None = LINKS) -> Evidence:
    X = np.random.default_rng(2).normal(size=(N, D))
    return Evidence(X, incidence=INCIDENCE, resource_links=links)


def prepared(links: np.ndarray | None = LINKS) -> tuple[GKROMScorer, GKROMNetwork, Inputs]:
    scorer = GKROMScorer(method_settings("gkrom", hidden=6, size=7), device="cpu")
    given = evidence(links)
    torch.manual_seed(0)
    network = scorer.build(scorer.sizes(given), given.views)
    return scorer, network, scorer.prepare(given, NO_PAIRS)


def numpy_adjacency(X: np.ndarray, V: np.ndarray) -> np.ndarray:
    """A[i, j] = 1 where i and j are linked; concepts first."""
    A = np.zeros((N + M, N + M))
    A[:N, N:], A[N:, :N] = INCIDENCE, INCIDENCE.T
    degree = INCIDENCE.sum(axis=1)
    for i in range(N):
        for j in range(N):
            together = INCIDENCE[i] @ INCIDENCE[j]
            A[i, j] = i != j and together / M > (degree[i] / M) * (degree[j] / M)
    for i in range(M):
        for j in range(M):
            cosine = V[i] @ V[j] / np.linalg.norm(V[i]) / np.linalg.norm(V[j])
            A[N + i, N + j] = i != j and cosine >= 0.7
    return A


def numpy_encode(w: dict[str, np.ndarray], X: np.ndarray, A: np.ndarray) -> np.ndarray:
    def attention(name: str, H: np.ndarray) -> np.ndarray:
        WH = H @ w[f"{name}.W.weight"].T
        out = np.tile(w[f"{name}.b"], (len(H), 1))
        for i in range(len(H)):
            neighbours = np.flatnonzero(A[i])
            if not len(neighbours):
                continue
            s = WH[neighbours] @ w[f"{name}.a"][0] + WH[i] @ w[f"{name}.c"][0]
            share = np.exp(np.where(s > 0, s, 0.2 * s))
            out[i] += share / share.sum() @ WH[neighbours]
        return out

    def linear(name: str, H: np.ndarray) -> np.ndarray:
        return H @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    h = ref.relu(attention("first", X) + linear("past_first", X))
    return attention("second", h) + linear("past_second", h)


def test_forward_pass_equals_the_equations() -> None:
    scorer, network, inputs = prepared()
    raw = evidence().features
    X = (raw - raw.mean(axis=0)) / raw.std(axis=0)
    size = INCIDENCE.sum(axis=0)[:, None]
    nodes = np.concatenate([X, INCIDENCE.T @ X / size])
    w = {name: value.double().numpy() for name, value in network.state_dict().items()}
    A = numpy_adjacency(X, INCIDENCE.T @ raw / size)
    H = numpy_encode(w, nodes, A)
    rho, head = "prerequisite.rho", "prerequisite.w"
    expected = [
        ref.view_logit(
            H, i, j, w[f"{rho}.weight"].T, w[f"{rho}.bias"],
            w[f"{head}.weight"][0], w[f"{head}.bias"],
        )
        for i, j in PAIRS
    ]  # fmt: skip
    with torch.no_grad():
        got = scorer.logits(network, scorer.encode(network, inputs), torch.from_numpy(PAIRS))
    np.testing.assert_allclose(got["pair"].numpy(), expected, atol=1e-5)


def test_containment_reads_both_sides_through_layers_of_their_own() -> None:
    _, network, _ = prepared()
    head = network.containment
    x_c, x_r = torch.randn(3, 7), torch.randn(3, 7)
    w = {name: value.numpy() for name, value in head.state_dict().items()}
    sides = [
        ref.relu(x.numpy() @ w[f"{name}.weight"].T + w[f"{name}.bias"])
        for name, x in (("W_r", x_r), ("W_c", x_c))
    ]
    expected = np.concatenate(sides, axis=1) @ w["w.weight"][0] + w["w.bias"]
    np.testing.assert_allclose(head(x_c, x_r).detach().numpy(), expected, atol=1e-6)


def test_auxiliary_rows_are_links_near_the_batch_and_pairs_without_a_link() -> None:
    _, _, inputs = prepared()
    contained = {(i, N + j) for i, j in np.argwhere(INCIDENCE).tolist()}
    assert {tuple(p) for p in inputs.containment.pairs.tolist()} == contained
    torch.manual_seed(0)
    seen = set()
    for _ in range(50):
        rows, labels = inputs.containment.draw(torch.tensor([[1, 3]]), 4)
        assert len(rows) <= 4
        for pair, label in zip(rows.tolist(), labels.tolist(), strict=True):
            assert (tuple(pair) in contained) == (label == 1)
            assert pair[0] == 1  # concept 3 is in no resource
            seen.add((*pair, label))
    assert seen == {(1, N, 1.0), (1, N + 1, 1.0), (1, N + 2, 0.0)}


def test_dependencies_go_from_prerequisite_to_dependent() -> None:
    _, _, inputs = prepared()
    assert inputs.dependency is not None
    assert inputs.dependency.pairs.tolist() == [[N, N + 1], [N + 1, N + 2]]
    torch.manual_seed(0)
    for _ in range(50):
        rows, labels = inputs.dependency.draw(torch.tensor([N]), 4)
        for pair, label in zip(rows.tolist(), labels.tolist(), strict=True):
            assert pair == [N, N + 1] if label else pair == [N, N + 2]  # never itself


def test_each_auxiliary_task_counts_half(monkeypatch: pytest.MonkeyPatch) -> None:
    scorer, network, inputs = prepared()
    drawn = {
        N + M: (torch.tensor([[0, N], [0, N + 2]]), torch.tensor([1.0, 0.0])),
        0: (torch.tensor([[N, N + 1], [N, N + 2]]), torch.tensor([1.0, 0.0])),
    }

    def draw(self: Links, near: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        return drawn[N + M if self.pairs[0, 0] < N else 0]

    monkeypatch.setattr(Links, "draw", draw)
    pairs, y = torch.from_numpy(PAIRS), torch.tensor([1.0, 0.0, 1.0])
    H = network.encode(inputs.X, inputs.edges)

    def bce(head: torch.nn.Module, rows: torch.Tensor, labels: torch.Tensor) -> float:
        logits = head(H[rows[:, 0]], H[rows[:, 1]]).detach().double().numpy()
        return ref.classification_loss({"": logits}, labels.numpy())

    expected = bce(network.prerequisite, pairs, y)
    expected += 0.5 * bce(network.containment, *drawn[N + M])
    expected += 0.5 * bce(network.dependency, *drawn[0])
    got = scorer.loss(network, inputs, Batch(pairs, y))
    assert got.item() == pytest.approx(expected, abs=1e-5)


def test_without_known_dependencies_their_head_learns_nothing() -> None:
    scorer, network, inputs = prepared(links=None)
    scorer.loss(network, inputs, Batch(torch.from_numpy(PAIRS), torch.ones(3))).backward()
    assert all(p.grad is None for p in network.dependency.parameters())
    assert all(p.grad is not None for p in network.containment.parameters())


def test_a_batch_of_concepts_without_resources_is_still_learned_from() -> None:
    scorer, network, inputs = prepared()
    loss = scorer.loss(network, inputs, Batch(torch.tensor([[3, 3]]), torch.ones(1)))
    assert torch.isfinite(loss)


def test_resources_are_needed() -> None:
    scorer = GKROMScorer(method_settings("gkrom"), device="cpu")
    with pytest.raises(MissingInputError, match="resources that hold concepts"):
        scorer.fit(Evidence(evidence().features), NO_PAIRS, seed=0)


def test_the_paper_preset_is_the_published_setting() -> None:
    schedule = method_settings("gkrom", "paper").schedule(1000)
    assert (schedule.learning_rate, schedule.weight_decay, schedule.batch_size) == (1e-6, 1e-5, 4)
    assert (schedule.epochs, schedule.clip_norm) == (500, 1.0)
