"""LCPRE: paths on a graph that one can draw, and each attention against a computation by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch import nn

from proprl.data import Course
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit, grouped_split
from proprl.errors import MissingInputError
from proprl.features.gather import gather_evidence
from proprl.graphs.evidence import Evidence
from proprl.models.networks.scorer import Batch
from proprl.models.registry import method_settings
from proprl.models.rivals.lcpre import (
    Encoded,
    LCPREScorer,
    LCPRESettings,
    PathAttention,
    RoleEncoder,
    without,
)
from proprl.models.rivals.lcpre_paths import Neighbours, Paths, sample_paths

# Concepts 0 to 3, resources 4 and 5. Known: 0 → 1, 1 → 2. Resource 4 holds 0 and 1, resource 5
# holds 1 and 2, and 4 comes before 5. Concept 3 stands alone.
N = 4
CC = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
CR = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
RR = np.array([[0, 1], [0, 0]])


def graph() -> dict[str, Neighbours]:
    matrices = {"CC": CC, "CR": CR, "RC": CR.T, "RR": RR}
    device = torch.device("cpu")
    return {step: Neighbours.of(csr_array(m), device) for step, m in matrices.items()}


def drawn(schema: str, count: int = 200) -> Paths:
    return sample_paths(graph(), schema, N, count, torch.Generator().manual_seed(0))


EVERY_PATH = {
    "CC": [(0, 1), (1, 2)],
    "CRC": [(0, 4, 1), (1, 4, 0), (1, 5, 2), (2, 5, 1)],
    "CRRC": [(0, 4, 5, 1), (0, 4, 5, 2), (1, 4, 5, 2)],  # not 1-4-5-1: it ends where it began
    "CCRCC": [(0, 1, 4, 0, 1), (0, 1, 5, 1, 2), (0, 1, 4, 1, 2), (1, 2, 5, 1, 2)],
}


@pytest.mark.parametrize("schema", EVERY_PATH)
def test_enough_walks_find_every_path_once(schema: str) -> None:
    paths = [tuple(path) for path in drawn(schema).nodes.tolist()]
    assert sorted(paths) == sorted(EVERY_PATH[schema])


def test_a_path_may_come_by_a_node_twice() -> None:
    from_0 = [tuple(path) for path in drawn("CRCRC").nodes.tolist() if path[0] == 0]
    assert sorted(from_0) == [(0, 4, 0, 4, 1), (0, 4, 1, 4, 1), (0, 4, 1, 5, 1), (0, 4, 1, 5, 2)]


def test_a_step_between_concepts_tells_its_edge() -> None:
    paths = drawn("CCRCC")
    edges = dict(zip(map(tuple, paths.nodes.tolist()), paths.edges.tolist(), strict=True))
    assert edges[0, 1, 5, 1, 2] == [0, -1, -1, 1]  # 0 → 1 is edge 0, 1 → 2 is edge 1


def test_few_walks_keep_few_paths() -> None:
    owners = drawn("CRC", count=1).owner.tolist()
    assert len(owners) == len(set(owners)) <= 3


def test_paths_come_from_the_global_generator_unless_given_one() -> None:
    def nodes(seed: int) -> Any:
        torch.manual_seed(seed)
        return sample_paths(graph(), "CRCRC", N, 3).nodes.tolist()

    assert nodes(1) == nodes(1)
    assert any(nodes(1) != nodes(seed) for seed in range(2, 6))


def test_no_edges_give_no_paths() -> None:
    empty = graph() | {"CC": Neighbours.of(csr_array((N, N)), torch.device("cpu"))}
    assert sample_paths(empty, "CCRCC", N, 5).nodes.shape == (0, 5)


def test_paths_over_an_edge_that_is_asked_for_are_left_out() -> None:
    kept = without(drawn("CCRCC"), torch.tensor([False, True]))  # asked: 1 → 2
    assert [tuple(p) for p in kept.nodes.tolist()] == [(0, 1, 4, 0, 1)]
    assert len(without(drawn("CRC"), torch.tensor([True, True])).nodes) == 4  # has no such edge


def test_attention_along_a_path_is_that_of_torch() -> None:
    torch.manual_seed(0)
    ours = PathAttention(size=8, heads=2, longest=4).double()
    theirs = nn.MultiheadAttention(8, 2, batch_first=True).double()
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([W.weight for W in (ours.Q, ours.K, ours.V)]))
        theirs.in_proj_bias.copy_(torch.cat([W.bias for W in (ours.Q, ours.K, ours.V)]))
        theirs.out_proj.weight.copy_(ours.W_o.weight)
        theirs.out_proj.bias.copy_(ours.W_o.bias)
        X, paths = torch.randn(6, 8).double(), torch.tensor([[0, 4, 1], [2, 5, 3]])
        tokens = X[paths] + ours.p[:3]
        expected = theirs(tokens, tokens, tokens, need_weights=False)[0]
        s, t = ours(X, paths)
    torch.testing.assert_close(s, expected[:, 0])
    torch.testing.assert_close(t, expected[:, -1])


def test_attention_over_paths_and_schemas_by_hand() -> None:
    torch.manual_seed(0)
    role = RoleEncoder(schemas=2, size=4, heads=2, out_size=3).double()
    rng = np.random.default_rng(0)
    owner = np.array([0, 2, 0, 7])  # concept 5 has no path; 7 is not asked for
    s, t = rng.normal(size=(2, 2, 4, 4))
    encoded = [Encoded(*map(torch.from_numpy, (owner, s[i], t[i]))) for i in range(2)]
    concepts = [0, 5, 2]
    o = np.zeros((2, 3, 4))
    for i in range(2):
        w, v = role.w[i].detach().numpy(), role.v[i].detach().numpy()
        for row, concept in enumerate(concepts):
            own = np.flatnonzero(owner == concept)
            for h in range(2):
                part = t[i][own, 2 * h : 2 * h + 2]
                g = s[i][own] @ w[h] + part @ v[h]
                g = np.exp(np.where(g > 0, g, 0.01 * g))
                if len(own):
                    o[i, row, 2 * h : 2 * h + 2] = np.maximum((g / g.sum()) @ part, 0)
    with torch.no_grad():
        O = role.summarise(encoded, torch.tensor(concepts), n=8)
        np.testing.assert_allclose(O.numpy(), o, atol=1e-12)
        assert (O[:, 1] == 0).all()
        a = role.schema_weights(O)
        q = role.q.weight.numpy()[0]
        score = [
            q @ np.maximum(o[i] @ W.weight.numpy().T + W.bias.numpy(), 0).mean(axis=0)
            for i, W in enumerate(role.W_schema)
        ]
        np.testing.assert_allclose(a.numpy(), np.exp(score) / np.exp(score).sum())
        mixed = np.einsum("i,ics->cs", a.numpy(), o)
        expected = mixed @ role.W.weight.numpy().T + role.W.bias.numpy()
        np.testing.assert_allclose(role(O, a).numpy(), expected)


# --- the method


@pytest.fixture(scope="module")
def evidence(planted: Course) -> Evidence:
    return gather_evidence(planted)[0]


@pytest.fixture(scope="module")
def split(planted: Course) -> PairSplit:
    return grouped_split(planted.labelled_pairs(), fractions=(0.6, 0.2, 0.2), seed=0)


def tiny() -> tuple[Evidence, PairSplit]:
    train = LabelledPairs(np.array([[0, 1], [1, 2], [2, 0]]), np.array([1, 1, 0]))
    split = PairSplit(
        train, LabelledPairs.empty(), LabelledPairs.empty(), "given", promises_reversed=False
    )
    features = np.random.default_rng(0).normal(size=(N, 6))
    return Evidence(features, incidence=CR, resource_links=RR), split


def scorer(**changes: Any) -> LCPREScorer:
    return LCPREScorer(LCPRESettings(size=8, dropout=0, paths=50, **changes), device="cpu")


def test_a_pairs_own_edge_does_not_help_to_score_it_in_training() -> None:
    """With its only path masked, the loss of 0 → 1 is the loss on a graph without that edge."""
    evidence, split = tiny()
    lcpre = scorer(schemas=("CC",))
    with_edge = lcpre.prepare(evidence, split)
    negatives = LabelledPairs(split.train.pairs, np.array([0, 1, 0]))
    empty = LabelledPairs.empty()
    without_edge = lcpre.prepare(
        evidence, PairSplit(negatives, empty, empty, "given", promises_reversed=False)
    )
    torch.manual_seed(0)
    network = lcpre.build(lcpre.sizes(evidence), ())
    pair, y = torch.tensor([[0, 1]]), torch.ones(1)
    masked = lcpre.loss(network, with_edge, Batch(pair, y))
    torch.testing.assert_close(masked, lcpre.loss(network, without_edge, Batch(pair, y)))
    other = torch.tensor([[2, 0]])  # 0's path to 1 is free to be used for another pair
    reversed_roles = lcpre.loss(network, with_edge, Batch(other.flip(1), y))
    bare = lcpre.loss(network, without_edge, Batch(other.flip(1), y))
    assert (reversed_roles - bare).abs() > 0


def test_each_epoch_draws_new_paths_but_scoring_keeps_its_own(
    evidence: Evidence, split: PairSplit
) -> None:
    lcpre = LCPREScorer(LCPRESettings(size=8, paths=3), device="cpu")
    inputs = lcpre.prepare(evidence, split)
    network = lcpre.build(lcpre.sizes(evidence), ()).eval()
    before = lcpre.encode(network, inputs)
    torch.manual_seed(3)
    lcpre.before_epoch(network, inputs)
    assert any(
        not torch.equal(new.nodes, old.nodes)
        for new, old in zip(inputs.current, inputs.fixed, strict=True)
    )
    after = lcpre.encode(network, inputs)
    for role, h in before.items():
        torch.testing.assert_close(h, after[role])


def test_encoding_in_chunks_changes_nothing(
    evidence: Evidence, split: PairSplit, monkeypatch: pytest.MonkeyPatch
) -> None:
    lcpre = LCPREScorer(LCPRESettings(size=8, paths=3), device="cpu")
    inputs = lcpre.prepare(evidence, split)
    network = lcpre.build(lcpre.sizes(evidence), ()).eval()
    whole = lcpre.encode(network, inputs)
    monkeypatch.setattr("proprl.models.rivals.lcpre._ENCODED_AT_ONCE", 7)
    for role, h in lcpre.encode(network, inputs).items():
        torch.testing.assert_close(h, whole[role])


def test_a_schema_over_links_of_resources_needs_links() -> None:
    evidence, split = tiny()
    lcpre = scorer()
    assert len(lcpre.prepare(evidence, split).fixed) == 5
    unlinked = Evidence(evidence.features, incidence=CR)
    assert len(lcpre.prepare(unlinked, split).fixed) == 4
    with pytest.raises(MissingInputError, match=r"add resource_links\.csv or choose other schemas"):
        scorer(schemas=("CRRC",)).fit(unlinked, split, seed=0)


def test_without_resources_it_says_what_to_add(evidence: Evidence, split: PairSplit) -> None:
    bare = Evidence(evidence.features, evidence.transitions)
    with pytest.raises(MissingInputError, match=r"lcpre cannot learn.*\n.*add resources\.csv"):
        scorer().fit(bare, split, seed=0)


def test_resources_may_have_features_of_their_own_width() -> None:
    evidence, split = tiny()
    own = Evidence(evidence.features, incidence=CR, resource_features=np.eye(2, 9))
    lcpre = scorer(epochs=1)
    lcpre.fit(own, split, seed=0)
    assert lcpre.network.resource.in_features == 9


def test_the_paper_preset_is_the_published_setting_for_mooc() -> None:
    settings = method_settings("lcpre", "paper")
    assert isinstance(settings, LCPRESettings)
    assert (settings.paths, settings.batch_size, settings.epochs) == (128, 64, 50)
    schedule = settings.schedule(1_604)
    assert schedule.decoupled_decay
    assert [schedule.rate(e) for e in (0, 32, 44)] == [5e-4, 2.5e-4, 1.25e-4]
