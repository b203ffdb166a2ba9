"""The HGAPNet-style reconstruction: its graph by hand, and what its layers add up."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.errors import MissingInputError, ProprlError
from proprl.graphs.evidence import Evidence
from proprl.models.registry import method_settings
from proprl.models.rivals import hgapnet
from proprl.models.rivals.hgapnet import (
    HGAPNetScorer,
    HGAPNetSettings,
    HGAPNetwork,
    RelationalAttention,
    containment_weights,
)

# Resource 0 holds concepts 0 and 1, resource 1 the same, resource 2 concept 2, resource 3 none.
M = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
FEATURES = np.array([[1.0, 0.0], [2.0, 1.0], [-1.0, 3.0]])


def split() -> PairSplit:
    train = LabelledPairs(np.array([[0, 1], [1, 0], [1, 2]]), np.array([1, 0, 1]))
    none = LabelledPairs.empty()
    return PairSplit(train, none, none, "given", promises_reversed=False)


def test_weights_of_containment_by_hand() -> None:
    def G(x: float) -> float:
        return float(np.exp(-np.exp(-x / 2.5)))

    average = 5 / 4  # concepts in a resource
    pair = (G(np.log2(1.5)) + G(0.5 * np.log10(1 + average / 2))) * np.log10(4 / 3)
    alone = (G(1.0) + G(np.log10(1 + average))) * np.log10(4 / 2)
    expected = M * np.array([[pair], [pair], [alone]])
    np.testing.assert_allclose(containment_weights(M).toarray(), expected)


def test_the_graph_has_four_relations_with_concepts_before_resources() -> None:
    inputs = HGAPNetScorer(HGAPNetSettings(), device="cpu").prepare(
        Evidence(FEATURES, incidence=M), split()
    )
    held, together, holds, alike = (relation.edges.T.tolist() for relation in inputs.relations)
    assert sorted(held) == [[3, 0], [3, 1], [4, 0], [4, 1], [5, 2]]  # resource, then concept
    assert sorted(holds) == sorted([b, a] for a, b in held)
    assert sorted(together) == [[0, 1], [1, 0]]  # concepts 0 and 1 share all their resources
    assert sorted(alike) == [[3, 4], [4, 3]]  # the same concepts, so the same mean
    np.testing.assert_allclose(inputs.relations[1].weights, np.log10(4 * 2 / (2 * 2)), rtol=1e-6)
    assert inputs.concepts == 3
    np.testing.assert_allclose(inputs.X[3], inputs.X[:2].mean(dim=0), rtol=1e-6)


def test_a_layer_sums_what_is_heard_over_each_relation() -> None:
    torch.manual_seed(0)
    layer = RelationalAttention(2, 8, relations=4, heads=4).eval()
    inputs = HGAPNetScorer(HGAPNetSettings(), device="cpu").prepare(
        Evidence(FEATURES, incidence=M), split()
    )
    with torch.no_grad():
        heard = layer.shortcut(inputs.X)
        for attention, relation in zip(layer.attention, inputs.relations, strict=True):
            heard = heard + attention(inputs.X, *relation)
        got = layer(inputs.X, inputs.relations)
    torch.testing.assert_close(got, torch.where(heard > 0, heard, heard.exp() - 1))


def test_weights_of_edges_are_heard() -> None:
    torch.manual_seed(0)
    network = HGAPNetwork(2, 8).eval()
    inputs = HGAPNetScorer(HGAPNetSettings(), device="cpu").prepare(
        Evidence(FEATURES, incidence=M), split()
    )
    other = [r._replace(weights=torch.randn(len(r.weights))) for r in inputs.relations]
    with torch.no_grad():
        ours, theirs = (
            network.encode(inputs.X, relations, inputs.concepts)["concepts"]
            for relations in (inputs.relations, other)
        )
        gap = ours - theirs
    assert gap.abs().max() > 1e-4


def test_a_concept_hears_a_resource_that_is_like_its_own() -> None:
    """Two layers: concept 2 is in resource 5 alone; 3 is like 5; what 3 is reaches concept 2."""
    torch.manual_seed(0)
    network = HGAPNetwork(2, 8).eval()

    def relation(*edges: tuple[int, int]) -> hgapnet.Relation:
        return hgapnet.Relation(torch.tensor(edges).T, torch.ones(len(edges)))

    relations = (relation((5, 2)), relation((0, 1)), relation((2, 5)), relation((3, 5)))
    X = torch.randn(7, 2)
    changed = X.clone()
    changed[3] += 1
    with torch.no_grad():
        before, after = (network.encode(x, relations, 3)["concepts"] for x in (X, changed))
        gap = (before - after).abs().sum(dim=1)
    assert gap[2] > 1e-4
    assert gap[0] == gap[1] == 0


def test_without_resources_it_says_what_to_add() -> None:
    with pytest.raises(MissingInputError, match=r"hgapnet cannot learn.*\n.*add resources\.csv"):
        HGAPNetScorer(HGAPNetSettings(), device="cpu").fit(Evidence(FEATURES), split(), seed=0)


def test_heads_must_divide_the_size() -> None:
    with pytest.raises(ProprlError, match="size 30 cannot be shared by 4 heads"):
        method_settings("hgapnet", size=30)


def test_it_says_that_it_is_a_reconstruction() -> None:
    assert (hgapnet.__doc__ or "").startswith("HGAPNet-style (reconstruction)")
