"""The NumPy reference against numbers worked out by hand, so that it can be trusted."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

import reference as ref

I2, O2 = np.eye(2), np.zeros((2, 2))
zeros2 = np.zeros(2)

# Two concepts, one learner who went 0 → 1, one resource that holds both.
A_OUT = np.array([[0.5, 0.5], [0.0, 1.0]])
A_IN = np.array([[1.0, 0.0], [0.5, 0.5]])
P = np.array([[0.5, 0.5], [0.5, 0.5]])

# φ(A X): with X = I and no shortcut, Q is A itself.
PLAIN_LAYER = {"W_g": I2, "b_g": zeros2, "W_0": O2, "b_0": zeros2}
BEHAVIOUR = {
    "out_layers": [PLAIN_LAYER],
    "in_layers": [PLAIN_LAYER],
    "W_out": I2,
    "b_out": np.array([-1.0, -1.0]),
    "W_in": 2 * I2,
    "b_in": np.array([-0.25, -0.25]),
    "ln_weight": np.array([2.0, 1.0]),
    "ln_bias": np.array([0.0, 1.0]),
}
# With alpha = 1/2 and one step, Z = (A A + A) / 2:
#   A_out A_out = [[.25, .75], [0, 1]]   Z_out = [[.375, .625], [0, 1]]
#   A_in A_in   = [[1, 0], [.75, .25]]   Z_in  = [[1, 0], [.625, .375]]
#   Z_out + 2 Z_in - 1.25 = [[1.125, -.625], [0, .5]]   after φ: [[1.125, 0], [0, .5]]
# Rows have mean .5625 and .25 and deviate from it by just as much, so LN first gives
# [[c, -c], [-d, d]], with c and d a little below 1 because of eps; then ·[2, 1] + [0, 1].
c = 0.5625 / (0.5625**2 + 1e-5) ** 0.5
d = 0.25 / (0.25**2 + 1e-5) ** 0.5
V = np.array([[2 * c, 1 - c], [-2 * d, 1 + d]])


def picks(size: int, weights: dict[int, float]) -> np.ndarray:
    """A weight vector that is zero but for a few entries."""
    w = np.zeros(size)
    for index, weight in weights.items():
        w[index] = weight
    return w


def test_encoder_adds_the_bias_after_aggregation_and_inside_the_activation():
    # Rows of this A do not sum to 1, so a bias added before aggregation would show.
    A = np.array([[0.5, 0.5], [0.0, 0.5]])
    X = np.array([[1.0], [-2.0]])
    first = {"W_g": [[2.0]], "b_g": [3.0], "W_0": [[3.0]], "b_0": [-1.0]}
    # A X = [-.5, -1]; ·2 + 3 = [2, 1]; φ: [2, 1]; plus 3 X - 1 = [2, -7]: [4, -6]
    np.testing.assert_allclose(ref.residual_encoder(A, X, [first]), [[4], [-6]])
    second = {"W_g": [[1.0]], "b_g": [0.0], "W_0": [[0.5]], "b_0": [1.0]}
    # A H = [-1, -3]; φ: [0, 0]; plus H/2 + 1 = [3, -2]
    np.testing.assert_allclose(ref.residual_encoder(A, X, [first, second]), [[3], [-2]])


def test_encoder_without_layers_returns_the_features():
    np.testing.assert_array_equal(ref.residual_encoder(A_OUT, I2, []), I2)


def test_multi_hop_by_hand():
    Q = np.array([[4.0], [0.0]])
    # step 1: ½·[2, 0] + ½·[4, 0] = [3, 0]; step 2: ½·[1.5, 0] + ½·[4, 0] = [2.75, 0]
    np.testing.assert_allclose(ref.multi_hop(A_OUT, Q, 0.5, 1), [[3], [0]])
    np.testing.assert_allclose(ref.multi_hop(A_OUT, Q, 0.5, 2), [[2.75], [0]])
    # alpha = ¼: ¾·[2, 0] + ¼·[4, 0] = [2.5, 0]; alpha weighs the restart, not the graph
    np.testing.assert_allclose(ref.multi_hop(A_OUT, Q, 0.25, 1), [[2.5], [0]])


def test_layer_norm_divides_by_the_population_deviation():
    x = np.array([[1.0, 2.0, 6.0]])  # mean 3, variance (4 + 1 + 9) / 3 = 14/3
    expected = np.array([[-2.0, -1.0, 3.0]]) / (14 / 3 + 1e-5) ** 0.5
    np.testing.assert_allclose(ref.layer_norm(x, np.ones(3), np.zeros(3)), expected)


def test_behaviour_view_by_hand():
    found = ref.behaviour_view(A_OUT, A_IN, I2, **BEHAVIOUR, alpha=0.5, k=1)
    np.testing.assert_allclose(found, V, rtol=1e-12)


def test_behaviour_view_tells_the_directions_apart():
    swapped = ref.behaviour_view(A_IN, A_OUT, I2, **BEHAVIOUR, alpha=0.5, k=1)
    assert np.abs(swapped - V).max() > 1e-5


def test_mlp_has_a_relu_between_layers_and_none_at_the_end():
    first = {"W": np.array([[1.0, -1.0]]), "b": np.array([0.0, 1.0])}
    last = {"W": np.array([[-1.0], [5.0]]), "b": np.array([0.5])}
    # 3 → [3, -2] → φ: [3, 0] → -3 + 0.5
    np.testing.assert_allclose(ref.mlp(np.array([3.0]), [first, last]), [-2.5])


def test_pair_representation_is_ordered():
    x = np.array([[1.0, 2.0], [3.0, -4.0]])
    np.testing.assert_array_equal(ref.pair_representation(x, 0, 1), [1, 2, 3, -4, -2, 6, 3, -8])
    np.testing.assert_array_equal(ref.pair_representation(x, 1, 0), [3, -4, 1, 2, 2, -6, 3, -8])


def test_gate_sees_both_views_their_distance_and_their_product():
    ru, rv = np.array([2.0]), np.array([-3.0])
    # blocks: r^u = 2, r^v = -3, |r^u - r^v| = 5, r^u r^v = -6
    for block, value in enumerate([2, -3, 5, -6]):
        layer = {"W": picks(4, {block: 1.0})[:, None], "b": np.zeros(1)}
        np.testing.assert_allclose(ref.gate(ru, rv, [layer]), [1 / (1 + np.exp(-value))])


def test_fused_logit_takes_the_gate_as_the_share_of_the_resource_view():
    head = [{"W": np.array([[1.0], [10.0]]), "b": np.array([0.5])}]
    ru, rv, g = np.array([4.0, 8.0]), np.array([0.0, 2.0]), np.array([0.25, 1.0])
    # r = [¼·4 + ¾·0, 8] = [1, 8]; 1 + 80 + 0.5
    assert ref.fused_logit(ru, rv, g, head) == pytest.approx(81.5)


def test_view_logit_by_hand():
    x = np.array([[1.0, 0.0], [0.0, 2.0]])
    rho_W, rho_b = np.array([[3.0], [1.0]]), np.array([-1.0])
    # x̃ = φ([3 - 1, 2 - 1]) = [2, 1]; [2, 1, 1, 2]·[1, 10, 100, 1000] = 2112; plus b
    w = np.array([1.0, 10.0, 100.0, 1000.0])
    assert ref.view_logit(x, 0, 1, rho_W, rho_b, w, 0.5) == pytest.approx(2112.5)
    # reversed: [1, 2, -1, 2]
    assert ref.view_logit(x, 1, 0, rho_W, rho_b, w, 0.5) == pytest.approx(1921.5)
    # a large negative bias switches x̃ off
    assert ref.view_logit(x, 0, 1, rho_W, rho_b - 9, w, 0.5) == pytest.approx(0.5)


def test_the_whole_forward_pass_by_hand():
    params = {
        "resource": {"layers": [{"W_g": I2, "b_g": zeros2, "W_0": I2, "b_0": zeros2}]},
        "behaviour": BEHAVIOUR,
        "gate": [{"W": np.zeros((32, 8)), "b": np.full(8, log(3))}],  # g = 3/4 everywhere
        "fused": [{"W": picks(8, {0: 1, 2: 10, 4: 100, 6: 1000})[:, None], "b": np.zeros(1)}],
        "resource_branch": {"rho_W": I2, "rho_b": zeros2, "w": picks(8, {1: 1, 4: 10}), "b": 1.0},
        "behaviour_branch": {"rho_W": I2, "rho_b": zeros2, "w": picks(8, {0: 1, 3: 10}), "b": 2.0},
    }
    out = ref.proprl_forward(params, I2, A_OUT, A_IN, P, np.array([[0, 1], [1, 0]]), 0.5, 1)

    # U = φ(P) + I = [[1.5, .5], [.5, 1.5]]; already positive, so ρ keeps it
    # s^u_01 = u_0[1] + 10 (u_0 - u_1)[0] + 1 = .5 + 10 + 1; s^u_10 = 1.5 - 10 + 1
    np.testing.assert_allclose(out["resource"], [11.5, -7.5])
    # φ(V) = [[2c, 1-c], [0, 1+d]]
    # s^v_01 = ṽ_0[0] + 10 ṽ_1[1] + 2 = 2c + 10 (1+d) + 2; s^v_10 = 0 + 10 (1-c) + 2
    np.testing.assert_allclose(out["behaviour"], [2 * c + 10 * (1 + d) + 2, 10 * (1 - c) + 2])
    np.testing.assert_allclose(out["gate"], np.full((2, 8), 0.75))
    # First entries of the four blocks for (0, 1):
    #   r^u: 1.5, .5, 1, .75       r^v: 2c, -2d, 2c + 2d, -4cd
    # r = ¾ r^u + ¼ r^v, weighed by 1, 10, 100, 1000:
    #   ¾ (1.5 + 5 + 100 + 750) = 642.375
    #   ¼ (2c - 20d + 200c + 200d - 4000cd) = 50.5c + 45d - 1000cd
    # and for (1, 0): r^u: .5, 1.5, -1, .75; r^v: -2d, 2c, -2d - 2c, -4cd
    #   ¾ (.5 + 15 - 100 + 750) = 499.125; ¼ (-202d - 180c - 4000cd)
    expected = [
        642.375 + 50.5 * c + 45 * d - 1000 * c * d,
        499.125 - 50.5 * d - 45 * c - 1000 * c * d,
    ]
    np.testing.assert_allclose(out["fused"], expected)


def test_no_pairs_give_no_logits():
    params = {
        "resource": {"layers": []},
        "behaviour": BEHAVIOUR,
        "gate": [],
        "fused": [],
        "resource_branch": {},
        "behaviour_branch": {},
    }
    none = np.zeros((0, 2), dtype=np.int64)
    out = ref.proprl_forward(params, I2, A_OUT, A_IN, P, none, 0.5, 1)
    assert {name: part.shape for name, part in out.items()} == {
        "resource": (0,),
        "behaviour": (0,),
        "fused": (0,),
        "gate": (0, 8),
    }


def test_classification_loss_sums_branches_and_averages_pairs():
    # logits log 3 and -log 3 are probabilities ¾ and ¼
    logits = {"fused": np.array([log(3), log(3)]), "resource": np.array([-log(3), 0.0])}
    # fused: -log ¾ (label 1), -log ¼ (label 0); resource: -log ¼, -log ½; over two pairs
    expected = (log(4 / 3) + log(4) + log(4) + log(2)) / 2
    assert ref.classification_loss(logits, np.array([1, 0])) == pytest.approx(expected)


def test_classification_loss_is_finite_for_extreme_logits():
    loss = ref.classification_loss({"fused": np.array([-1000.0, 1000.0])}, np.array([1, 0]))
    assert loss == pytest.approx(1000)


def test_consistency_loss_softens_logits_by_the_temperature():
    s_u, s_v, s_p = np.array([0.0, 0.0]), np.array([-log(3) / 2, 0.0]), np.array([log(3) / 2, 0.0])
    # t = ½ doubles the logits: probabilities ½, ¼ and ¾, then ½ thrice; (¼ + ½ + 0 + 0) / 2
    assert ref.consistency_loss(s_u, s_v, s_p, 0.5) == pytest.approx(0.375)


def test_irreversibility_loss_counts_only_what_exceeds_the_margin():
    forward, reverse = np.array([log(3), log(3)]), np.array([0.0, -log(3)])
    # ¾ + ½ - 1.1 = .15; ¾ + ¼ - 1.1 < 0; mean .075
    assert ref.irreversibility_loss(forward, reverse, 1.1) == pytest.approx(0.075)
    # μ = .8: .45 and .2; mean .325
    assert ref.irreversibility_loss(forward, reverse, 0.8) == pytest.approx(0.325)


def test_irreversibility_loss_without_positives_is_zero():
    assert ref.irreversibility_loss(np.array([]), np.array([]), 0.8) == 0.0
