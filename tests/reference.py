"""ProPRL's forward pass and losses in plain NumPy, to hold the real implementation against.

Written from the paper's equations, one function per equation, in double precision and without
dropout (evaluation mode). Every matrix is a dense array; every weight has shape (in, out), so
`x @ W + b` (a `torch.nn.Linear` stores the transpose). Nothing here is fast, and nothing here
imports proprl.

`proprl_forward` takes one nested dict, with d features, width h, and L layers:

    params = {
        "resource": {                    U from P
            "layers": [layer, ...],
        },
        "behaviour": {                   V from A_out and A_in
            "out_layers": [layer, ...],
            "in_layers": [layer, ...],
            "W_out": (h, h), "b_out": (h,),
            "W_in": (h, h), "b_in": (h,),
            "ln_weight": (h,), "ln_bias": (h,),
        },
        "gate": [dense, ...],            MLP_g, 16h -> ... -> 4h
        "fused": [dense, ...],           MLP_p, 4h -> ... -> 1
        "resource_branch": branch,       s^u
        "behaviour_branch": branch,      s^v
    }
    layer  = {"W_g": (in, out), "b_g": (out,), "W_0": (in, out), "b_0": (out,)}
    dense  = {"W": (in, out), "b": (out,)}
    branch = {"rho_W": (h, c), "rho_b": (c,), "w": (4c,), "b": a number}

A pair (i, j) asks whether concept i is a prerequisite of concept j.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Array = np.ndarray
Params = Mapping[str, Any]


def relu(x: Array) -> Array:
    """φ(x) = max(0, x)."""
    return np.maximum(0.0, x)


def sigmoid(s: Array) -> Array:
    """σ(s) = 1 / (1 + exp(-s)), written so that exp cannot overflow."""
    return np.exp(-np.logaddexp(0.0, -np.asarray(s, dtype=np.float64)))


def layer_norm(x: Array, weight: Array, bias: Array, eps: float = 1e-5) -> Array:
    """LN(x) = (x - mean) / sqrt(variance + eps) · weight + bias, over the last axis."""
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + eps) * weight + bias


def mlp(x: Array, layers: Sequence[Params]) -> Array:
    """Dense layers with a ReLU between them and none after the last."""
    for number, layer in enumerate(layers):
        x = x @ layer["W"] + layer["b"]
        if number < len(layers) - 1:
            x = relu(x)
    return x


# Multi-view concept representation


def residual_encoder(A: Array, X: Array, layers: Sequence[Params]) -> Array:
    """H^(l+1) = φ(A H^(l) W_g + b_g) + H^(l) W_0 + b_0, with H^(0) = X.

    The same form serves the hypergraph (A is P, W_g is the paper's W_h) and both directions.
    """
    H = np.asarray(X, dtype=np.float64)
    for layer in layers:
        H = relu(A @ H @ layer["W_g"] + layer["b_g"]) + H @ layer["W_0"] + layer["b_0"]
    return H


def multi_hop(A: Array, Q: Array, alpha: float, k: int) -> Array:
    """Z^(t+1) = (1 - α) A Z^(t) + α Q, with Z^(0) = Q, for k steps."""
    Z = Q
    for _ in range(k):
        Z = (1 - alpha) * (A @ Z) + alpha * Q
    return Z


def behaviour_view(
    A_out: Array,
    A_in: Array,
    X: Array,
    out_layers: Sequence[Params],
    in_layers: Sequence[Params],
    W_out: Array,
    b_out: Array,
    W_in: Array,
    b_in: Array,
    ln_weight: Array,
    ln_bias: Array,
    alpha: float,
    k: int,
) -> Array:
    """V = LN(φ(Z_out W_out + b_out + Z_in W_in + b_in))."""
    Z_out = multi_hop(A_out, residual_encoder(A_out, X, out_layers), alpha, k)
    Z_in = multi_hop(A_in, residual_encoder(A_in, X, in_layers), alpha, k)
    return layer_norm(relu(Z_out @ W_out + b_out + Z_in @ W_in + b_in), ln_weight, ln_bias)


# Pair-conditioned gate


def pair_representation(x: Array, i: int, j: int) -> Array:
    """r_ij = [x_i; x_j; x_i - x_j; x_i ⊙ x_j]."""
    return np.concatenate([x[i], x[j], x[i] - x[j], x[i] * x[j]])


def gate(ru: Array, rv: Array, layers: Sequence[Params]) -> Array:
    """g = σ(MLP_g([r^u; r^v; |r^u - r^v|; r^u ⊙ r^v])), one value per entry of r."""
    return sigmoid(mlp(np.concatenate([ru, rv, np.abs(ru - rv), ru * rv]), layers))


def fused_logit(ru: Array, rv: Array, g: Array, layers: Sequence[Params]) -> float:
    """s^p = MLP_p(g ⊙ r^u + (1 - g) ⊙ r^v)."""
    return mlp(g * ru + (1 - g) * rv, layers).item()


def view_logit(
    x: Array, i: int, j: int, rho_W: Array, rho_b: Array, w: Array, b: float | Array
) -> float:
    """s^a = wᵀ[x̃_i; x̃_j; x̃_i - x̃_j; x̃_i ⊙ x̃_j] + b, with x̃ = φ(x rho_W + rho_b)."""
    x_tilde = relu(x @ rho_W + rho_b)
    return (pair_representation(x_tilde, i, j) @ w + b).item()


def proprl_forward(
    params: Params,
    X: Array,
    A_out: Array,
    A_in: Array,
    P: Array,
    pairs: Array,
    alpha: float,
    k: int,
) -> dict[str, Array]:
    """Return the logits "resource", "behaviour", "fused" (m,) and "gate" (m, 4h) of the pairs.

    X is used as it is given: standardise it first.
    """
    U = residual_encoder(P, X, params["resource"]["layers"])
    V = behaviour_view(A_out, A_in, X, **params["behaviour"], alpha=alpha, k=k)
    s_u, s_v, s_p, gates = [], [], [], []
    for i, j in pairs:
        ru, rv = pair_representation(U, i, j), pair_representation(V, i, j)
        g = gate(ru, rv, params["gate"])
        gates.append(g)
        s_p.append(fused_logit(ru, rv, g, params["fused"]))
        s_u.append(view_logit(U, i, j, **params["resource_branch"]))
        s_v.append(view_logit(V, i, j, **params["behaviour_branch"]))
    return {
        "resource": np.array(s_u),
        "behaviour": np.array(s_v),
        "fused": np.array(s_p),
        "gate": np.array(gates).reshape(len(pairs), 4 * U.shape[1]),
    }


# Objective


def classification_loss(logits_by_branch: Mapping[str, Array], labels: Array) -> float:
    """L_cls = -1/|T| Σ_pairs Σ_branches [y log p + (1 - y) log(1 - p)], p = σ(s).

    log σ(s) is written as -log(1 + exp(-s)), which stays finite for any logit. Every array in
    `logits_by_branch` is one branch: leave the gate out.
    """
    total = 0.0
    for s in logits_by_branch.values():
        log_p, log_not_p = -np.logaddexp(0.0, -s), -np.logaddexp(0.0, s)
        for pair, y in enumerate(labels):
            total -= y * log_p[pair] + (1 - y) * log_not_p[pair]
    return float(total / len(labels))


def consistency_loss(s_u: Array, s_v: Array, s_p: Array, t: float) -> float:
    """L_con = 1/|T| Σ (|σ(s^u/t) - σ(s^p/t)| + |σ(s^v/t) - σ(s^p/t)|).

    The stop-gradient on s^p does not change the value, only the gradient.
    """
    p_u, p_v, p_p = sigmoid(s_u / t), sigmoid(s_v / t), sigmoid(s_p / t)
    return float(np.mean(np.abs(p_u - p_p) + np.abs(p_v - p_p)))


def irreversibility_loss(forward_logits: Array, reverse_logits: Array, mu: float) -> float:
    """L_irr = 1/|T⁺| Σ max(0, p_ij + p_ji - μ) over the positives given; 0 when there is none."""
    if len(forward_logits) == 0:
        return 0.0
    excess = sigmoid(forward_logits) + sigmoid(reverse_logits) - mu
    return float(np.mean(np.maximum(0.0, excess)))
