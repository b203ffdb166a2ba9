"""Each loss against the reference, and the properties that the paper asks of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

import reference as ref
from proprl.models.networks.scorer import Batch
from proprl.models.proprl import consistency_loss, irreversibility_loss

logit = st.floats(-20, 20)


def tensor(values: list[float]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


@given(st.lists(st.tuples(*[st.floats(-20, 20)] * 3, st.booleans()), min_size=1, max_size=8))
def test_classification_loss_equals_the_reference(
    rows: list[tuple[float, float, float, bool]],
) -> None:
    s_u, s_v, s_p, y = (list(column) for column in zip(*rows, strict=True))
    branches = {"resource": s_u, "behaviour": s_v, "fused": s_p}
    labels = np.array(y, dtype=float)
    batch = Batch(torch.empty(0), torch.from_numpy(labels))
    got = batch.cross_entropy({k: tensor(v) for k, v in branches.items()})
    expected = ref.classification_loss({k: np.array(v) for k, v in branches.items()}, labels)
    assert math.isclose(got.item(), expected, abs_tol=1e-5)


@given(st.lists(st.tuples(logit, logit, logit), min_size=1, max_size=8), st.floats(0.1, 2))
def test_consistency_loss_equals_the_reference(rows: list[tuple[Any, ...]], t: float) -> None:
    s_u, s_v, s_p = (list(column) for column in zip(*rows, strict=True))
    got = consistency_loss({"resource": tensor(s_u), "behaviour": tensor(s_v)}, tensor(s_p), t)
    expected = ref.consistency_loss(np.array(s_u), np.array(s_v), np.array(s_p), t)
    assert math.isclose(got.item(), expected, abs_tol=1e-5)


def test_the_fused_branch_teaches_and_is_not_taught() -> None:
    s_u, s_p = tensor([0.3]).requires_grad_(), tensor([1.5]).requires_grad_()
    consistency_loss({"resource": s_u}, s_p, 0.5).backward()
    assert s_u.grad is not None
    assert s_u.grad.abs().item() > 0
    assert s_p.grad is None


@given(st.lists(st.tuples(logit, logit), min_size=1, max_size=6), st.floats(0, 2))
def test_irreversibility_loss_equals_the_reference(rows: list[tuple[Any, ...]], mu: float) -> None:
    forward, reverse = (list(column) for column in zip(*rows, strict=True))
    got = irreversibility_loss(tensor(forward), tensor(reverse), mu)
    expected = ref.irreversibility_loss(np.array(forward), np.array(reverse), mu)
    assert math.isclose(got.item(), expected, abs_tol=1e-5)


def test_irreversibility_is_free_below_the_margin() -> None:
    forward, reverse = tensor([0.0]).requires_grad_(), tensor([-2.0])  # 0.5 + 0.12 < 0.8
    loss = irreversibility_loss(forward, reverse, mu=0.8)
    loss.backward()
    assert loss.item() == 0
    assert forward.grad is not None
    assert forward.grad.item() == 0


def test_irreversibility_pushes_both_directions_down_above_the_margin() -> None:
    forward, reverse = tensor([1.0, 2.0]).requires_grad_(), tensor([0.5, 0.0]).requires_grad_()
    irreversibility_loss(forward, reverse, mu=0.8).backward()
    # d/ds of mean(σ(s) + ...) is σ(s)(1 - σ(s)) / 2 for two pairs.
    for s in (forward, reverse):
        sigma = torch.sigmoid(s.detach())
        assert s.grad is not None
        torch.testing.assert_close(s.grad, sigma * (1 - sigma) / 2)


def test_irreversibility_without_positives_is_zero_and_differentiable() -> None:
    nothing = tensor([]).requires_grad_()
    loss = irreversibility_loss(nothing, nothing, mu=0.8)
    loss.backward()
    assert loss.item() == 0


def test_a_weighted_positive_costs_its_weight() -> None:
    s, y = {"fused": tensor([0.0, 0.0])}, tensor([1.0, 0.0])
    plain = Batch(torch.empty(0), y).cross_entropy(s).item()
    weighted = Batch(torch.empty(0), y, (1.0, 3.0)).cross_entropy(s).item()
    assert math.isclose(plain, math.log(2))
    assert math.isclose(weighted, (3 + 1) / 2 * math.log(2))
