"""GAE and VGAE: every layer and loss against NumPy on graphs small enough to follow by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from proprl.arrays import FloatArray
from proprl.data import Course
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit, grouped_split
from proprl.errors import ProprlError, SplitError
from proprl.evaluation.metrics import auc, ordered_share
from proprl.features.gather import gather_evidence
from proprl.graphs.evidence import Evidence
from proprl.graphs.matrices import standardise_columns
from proprl.models.needs import refuse_beyond_limit
from proprl.models.networks.scorer import Batch
from proprl.models.registry import method, method_settings
from proprl.models.rivals.gae import (
    AutoencoderSettings,
    ConvolutionalEncoder,
    Decoder,
    GAEScorer,
    Posterior,
    Reconstruction,
    VGAEScorer,
    adjacency,
    counted_cells,
    normalised_adjacency,
    symmetrise,
)


def labelled(*rows: tuple[int, int, int]) -> LabelledPairs:
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return LabelledPairs(table[:, :2], table[:, 2])


def split_of(train: LabelledPairs, validation: Any = None, test: Any = None) -> PairSplit:
    none = LabelledPairs.empty()
    return PairSplit(train, validation or none, test or none, "given", promises_reversed=False)


@pytest.fixture
def tiny() -> PairSplit:
    """Five concepts: 0 → 1 → 2 is known, 3 → 0 is known not to be, 1 → 4 and 3 → 2 are held out."""
    return split_of(
        labelled((0, 1, 1), (1, 2, 1), (3, 0, 0)), labelled((1, 4, 1)), labelled((3, 2, 0))
    )


def bce(logits: FloatArray, target: FloatArray, pos_weight: float) -> FloatArray:
    p = 1 / (1 + np.exp(-logits))
    return -(pos_weight * target * np.log(p) + (1 - target) * np.log(1 - p))


def as_double(array: FloatArray) -> torch.Tensor:
    return torch.from_numpy(np.asarray(array, dtype=np.float64))


def test_a_graph_is_normalised_by_both_ends() -> None:
    """With loops, node 1 of the path 0-1-2 has degree 3 and the others 2."""
    path = symmetrise(adjacency(np.array([[0, 1], [1, 2]]), 3))
    root = 1 / np.sqrt(6)
    np.testing.assert_allclose(
        normalised_adjacency(path), [[1 / 2, root, 0], [root, 1 / 3, root], [0, root, 1 / 2]]
    )


def test_with_all_zeros_only_held_out_cells_are_masked_in_both_orders(tiny: PairSplit) -> None:
    A = adjacency(tiny.train.positives, 5)
    counted = counted_cells(A, tiny, "all")
    assert set(zip(*np.nonzero(counted == 0), strict=True)) == {(1, 4), (4, 1), (3, 2), (2, 3)}


def test_with_labelled_zeros_only_training_pairs_count(tiny: PairSplit) -> None:
    counted = counted_cells(adjacency(tiny.train.positives, 5), tiny, "labelled")
    assert set(zip(*np.nonzero(counted), strict=True)) == {(0, 1), (1, 2), (3, 0)}


def test_what_a_training_label_says_stands_where_parts_overlap() -> None:
    """The published splits hold some training pairs, or their reverses, in test as well."""
    overlapping = split_of(labelled((0, 1, 1), (2, 1, 0)), test=labelled((1, 0, 0), (1, 2, 1)))
    counted = counted_cells(adjacency(overlapping.train.positives, 3), overlapping, "all")
    assert counted[0, 1] == counted[2, 1] == 1
    assert counted[1, 0] == counted[1, 2] == 0


@pytest.mark.parametrize("loops", [False, True])
def test_reconstruction_loss_equals_numpy(tiny: PairSplit, loops: bool) -> None:
    rng = np.random.default_rng(0)
    A = adjacency(tiny.train.positives, 5)
    logits, counted = rng.normal(size=(5, 5)), counted_cells(A, tiny, "all")
    # 21 of 25 cells count, 2 of them are links; loops are no part of the weights.
    cells = bce(logits, A + loops * np.eye(5), pos_weight=19 / 2)[counted == 1]
    expected = 21 / (2 * 19) * cells.mean()
    links = Reconstruction.of(as_double(A), as_double(counted), loops=loops)
    assert links.loss(as_double(logits)).item() == pytest.approx(expected)


def test_masked_cells_teach_nothing(tiny: PairSplit) -> None:
    A = adjacency(tiny.train.positives, 5)
    counted = counted_cells(A, tiny, "all")
    logits = torch.zeros(5, 5, dtype=torch.float64, requires_grad=True)
    Reconstruction.of(as_double(A), as_double(counted)).loss(logits).backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None
    np.testing.assert_array_equal(logits.grad.numpy() != 0, counted == 1)


def test_divergence_equals_numpy() -> None:
    rng = np.random.default_rng(1)
    mu, log_sigma = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    kl = 0.5 * (mu**2 + np.exp(log_sigma) ** 2 - 1 - 2 * log_sigma).sum(axis=1)  # of each node
    found = Posterior(as_double(mu), as_double(log_sigma)).divergence()
    assert found.item() == pytest.approx(kl.mean() / 4)
    assert Posterior(torch.zeros(4, 3), torch.zeros(4, 3)).divergence().item() == 0
    assert Posterior(as_double(mu)).divergence().item() == 0


def test_samples_have_the_posteriors_mean_and_spread() -> None:
    torch.manual_seed(0)
    log_sigma = torch.log(torch.tensor([0.5, 2.0])).expand(20_000, 2)
    Z = Posterior(torch.tensor([3.0, -1.0]).expand(20_000, 2), log_sigma).sample()
    np.testing.assert_allclose(Z.mean(dim=0), [3, -1], atol=0.05)
    np.testing.assert_allclose(Z.std(dim=0), [0.5, 2], rtol=0.05)


@pytest.mark.parametrize("variational", [False, True])
def test_encoder_equals_numpy(variational: bool) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(5, 6))
    A = normalised_adjacency(symmetrise(adjacency(np.array([[0, 1], [1, 2]]), 5)))
    encoder = ConvolutionalEncoder(6, 4, 3, variational=variational).double()
    W = {name: value.detach().numpy() for name, value in encoder.named_parameters()}
    H = np.maximum(A @ X @ W["W_0.W"], 0)
    mu, log_sigma = encoder(as_double(X), as_double(A))
    np.testing.assert_allclose(mu.detach(), A @ H @ W["W_mu.W"])
    if variational:
        np.testing.assert_allclose(log_sigma.detach(), A @ H @ W["W_sigma.W"])
    else:
        assert log_sigma is None


def test_there_are_weights_for_32_and_16_and_no_biases() -> None:
    network = VGAEScorer(AutoencoderSettings()).build({"in_size": 100}, ())
    assert sum(p.numel() for p in network.parameters()) == 100 * 32 + 2 * 32 * 16 + 16 * 16


def test_decoders_score_pairs_as_they_score_the_whole_matrix() -> None:
    torch.manual_seed(0)
    Z = torch.randn(5, 3)
    for decoding in ("directed", "inner"):
        decoder = Decoder(3, decoding)
        R = np.eye(3) if decoder.R is None else decoder.R.detach().numpy()
        expected = Z.numpy() @ R @ Z.numpy().T
        np.testing.assert_allclose(decoder.matrix(Z).detach(), expected, atol=1e-5)
        pair = decoder(Z[[1]], Z[[4]]).item()
        assert pair == pytest.approx(expected[1, 4], abs=1e-5)


def test_only_a_full_matrix_can_tell_the_direction() -> None:
    torch.manual_seed(0)
    Z, decoder = torch.randn(5, 3), Decoder(3, "directed")
    directed = decoder.matrix(Z)
    assert not torch.allclose(directed, directed.T, atol=1e-2)
    assert decoder.R is not None
    decoder.R.data = torch.diag(torch.randn(3))  # DistMult
    diagonal = decoder.matrix(Z)
    torch.testing.assert_close(diagonal, diagonal.T)


@pytest.mark.parametrize("decoder", ["directed", "inner"])
def test_the_objective_equals_numpy(tiny: PairSplit, decoder: str) -> None:
    """L = norm · BCE(Z R Zᵀ, A) as published, without a KL term for GAE."""
    X = np.random.default_rng(3).normal(size=(5, 6))
    scorer = GAEScorer(AutoencoderSettings(decoder=decoder, zeros="all"), device="cpu")
    inputs = scorer.prepare(Evidence(X), tiny)
    torch.manual_seed(0)
    network = scorer.build({"in_size": 6}, ())
    W = {name: value.detach().numpy() for name, value in network.named_parameters()}

    directed = adjacency(tiny.train.positives, 5)
    both = symmetrise(directed)
    A = normalised_adjacency(both)
    Z = A @ np.maximum(A @ standardise_columns(X) @ W["encoder.W_0.W"], 0) @ W["encoder.W_mu.W"]
    links = both if decoder == "inner" else directed
    target = links + np.eye(5) if decoder == "inner" else links
    counted = counted_cells(links, tiny, "all") == 1
    C, P = counted.sum(), links.sum()
    cells = bce(Z @ W.get("decoder.R", np.eye(16)) @ Z.T, target, pos_weight=(C - P) / P)
    expected = C / (2 * (C - P)) * cells[counted].mean()

    nothing = torch.empty(0)
    found = scorer.loss(network, inputs, Batch(nothing, nothing))
    assert found.item() == pytest.approx(expected, rel=1e-4)


def test_a_held_out_label_changes_nothing(tiny: PairSplit) -> None:
    """Which pairs are held out decides the mask; what their labels are does not."""
    evidence = Evidence(np.random.default_rng(4).normal(size=(5, 6)))
    other = split_of(tiny.train, labelled((1, 4, 0)), labelled((3, 2, 1)))
    scorer = GAEScorer(AutoencoderSettings(zeros="all"), device="cpu")
    ours, theirs = (scorer.prepare(evidence, split) for split in (tiny, other))
    torch.testing.assert_close(ours.links.target, theirs.links.target)
    torch.testing.assert_close(ours.links.counted, theirs.links.counted)
    torch.testing.assert_close(ours.A, theirs.A)


@pytest.mark.parametrize("name", ["gae", "vgae", "rvgae", "mhavgae"])
def test_the_published_decoder_fails_the_direction_half(name: str, planted: Course) -> None:
    """It finds which concepts belong together, and scores both orders of a pair alike."""
    evidence = gather_evidence(planted)[0]
    split = grouped_split(planted.labelled_pairs(), fractions=(0.6, 0.2, 0.2), seed=0)
    scorer = method(name)(method_settings(name, "paper", epochs=20), device="cpu")
    scorer.fit(evidence, split, seed=0)
    forward = scorer.score(split.test.positives)
    reverse = scorer.score(split.test.positives[:, ::-1].copy())
    np.testing.assert_allclose(forward, reverse, atol=1e-6)
    assert ordered_share(forward, reverse) < 0.5
    assert auc(split.test.labels, scorer.score(split.test.pairs)) > 0.62


def test_learning_needs_both_kinds_of_labels() -> None:
    evidence = Evidence(np.eye(4))
    only_negative, only_positive = split_of(labelled((0, 1, 0))), split_of(labelled((0, 1, 1)))
    scorer = GAEScorer(AutoencoderSettings(), device="cpu")
    with pytest.raises(SplitError, match="no training pair has label 1"):
        scorer.fit(evidence, only_negative, seed=0)
    with pytest.raises(SplitError, match=r'label 0.*or set zeros="all"'):
        scorer.fit(evidence, only_positive, seed=0)


def test_more_concepts_than_a_dense_matrix_can_hold_are_refused() -> None:
    with pytest.raises(ProprlError, match=r"at most 5,000; there are 5,001: choose .* proprl"):
        GAEScorer(AutoencoderSettings(), device="cpu").fit(
            Evidence(np.zeros((5_001, 1))), split_of(labelled((0, 1, 1))), seed=0
        )
    refuse_beyond_limit("gae", 5_000, "concepts")


def test_a_step_takes_all_pairs_and_no_other_batch_can_be_asked_for() -> None:
    assert AutoencoderSettings().schedule(1_604).batch_size == 1_604
    with pytest.raises(ProprlError, match="batch_size"):
        method_settings("gae", batch_size=16)
