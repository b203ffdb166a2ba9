"""What an ablation removes changes nothing any more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.graphs.evidence import Evidence
from proprl.models.networks.scorer import Batch
from proprl.models.proprl import Inputs, ProPRLNetwork, ProPRLScorer
from proprl.models.registry import method, method_settings

ABLATIONS = {
    "proprl-without-gate": ("gate", False),
    "proprl-without-propagation": ("k", 0),
    "proprl-without-irreversibility": ("lam", 0.0),
}
PAIRS = torch.tensor([[0, 1], [2, 3], [4, 0]])
Y = torch.tensor([1.0, 0.0, 1.0])


@pytest.fixture
def evidence() -> Evidence:
    rng = np.random.default_rng(0)
    return Evidence(
        rng.normal(size=(6, 5)),
        rng.poisson(1.0, (6, 6)) * (1 - np.eye(6)),
        (rng.random((6, 4)) < 0.5).astype(float),
    )


def built(
    name: str, evidence: Evidence, **changes: Any
) -> tuple[ProPRLScorer, ProPRLNetwork, Inputs]:
    """A scorer with its network, in evaluation mode, and its inputs."""
    scorer = method(name)(method_settings(name, size=32, **changes), device="cpu")
    assert isinstance(scorer, ProPRLScorer)
    empty = LabelledPairs.empty()
    inputs = scorer.prepare(evidence, PairSplit(empty, empty, empty, "given", False))
    torch.manual_seed(0)
    return scorer, scorer.build(scorer.sizes(evidence), evidence.views).eval(), inputs


@pytest.mark.parametrize(("name", "removed"), ABLATIONS.items())
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_an_ablation_has_proprls_settings_but_for_what_it_removes(
    name: str, removed: tuple[str, Any], preset: str
) -> None:
    """Also where the removed part is asked for, as settings chosen for ProPRL do."""
    chosen = {"gate": True, "k": 3, "lam": 0.5, "alpha": 0.2}
    full = method_settings("proprl", preset, **chosen).model_dump()
    key, value = removed
    assert method_settings(name, preset, **chosen).model_dump() == {**full, key: value}


def test_without_gate_both_views_count_half_whatever_they_say(evidence: Evidence) -> None:
    _, network, inputs = built("proprl-without-gate", evidence)
    for r_u, r_v in [(torch.zeros(2, 128), torch.ones(2, 128)), torch.randn(2, 2, 128) * 100]:
        assert (network.gate(r_u, r_v) == 0.5).all()
    assert not [key for key in network.state_dict() if key.startswith("mlp_g")]
    # A half of both is symmetric in the views: exchanging them does not change the fused score.
    views = network.encode(inputs.X, inputs.channels)
    exchanged = dict(zip(views, reversed(views.values()), strict=True))
    torch.testing.assert_close(network.fuse(views, PAIRS), network.fuse(exchanged, PAIRS))
    _, gated, _ = built("proprl", evidence)
    assert not torch.allclose(gated.fuse(views, PAIRS), gated.fuse(exchanged, PAIRS))


def test_without_propagation_an_encoders_output_passes_through(evidence: Evidence) -> None:
    _, network, inputs = built("proprl-without-propagation", evidence)
    out, _ = inputs.channels["behaviour"]
    Q = torch.randn(6, 32)
    assert network.encoders["behaviour"].propagate(Q, out) is Q
    # So α, which only propagation uses, no longer matters.
    scores = {}
    for name in ("proprl-without-propagation", "proprl"):
        for alpha in (0.05, 0.9):
            _, net, inputs = built(name, evidence, alpha=alpha)
            scores[name, alpha] = net(net.encode(inputs.X, inputs.channels), PAIRS)["fused"]
    ablated = "proprl-without-propagation"
    assert torch.equal(scores[ablated, 0.05], scores[ablated, 0.9])
    assert not torch.allclose(scores["proprl", 0.05], scores["proprl", 0.9])


def test_without_irreversibility_no_gradient_asks_about_the_reverse(evidence: Evidence) -> None:
    def gradients(name: str, mu: float) -> list[torch.Tensor]:
        scorer, network, inputs = built(name, evidence, mu=mu, lam=1.0)
        loss = scorer.loss(network, inputs, Batch(PAIRS, Y))
        return list(torch.autograd.grad(loss, list(network.parameters())))

    def alike(name: str) -> bool:
        both = zip(gradients(name, 0.0), gradients(name, 2.0), strict=True)
        return all(torch.equal(a, b) for a, b in both)

    # μ = 0 punishes every pair of directions, μ = 2 none: the full model tells them apart.
    assert alike("proprl-without-irreversibility")
    assert not alike("proprl")


def test_without_irreversibility_reverses_are_not_even_scored(
    evidence: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer, network, inputs = built("proprl-without-irreversibility", evidence)
    scored: list[torch.Tensor] = []
    fuse = network.fuse

    def spy(views: Any, pairs: torch.Tensor) -> torch.Tensor:
        scored.append(pairs)
        return fuse(views, pairs)

    monkeypatch.setattr(network, "fuse", spy)
    scorer.loss(network, inputs, Batch(PAIRS, Y))
    assert len(scored) == 1
    assert torch.equal(scored[0], PAIRS)
