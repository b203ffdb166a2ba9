"""Going through all pairs, and keeping the strongest."""

from __future__ import annotations

import numpy as np
import pytest

from proprl.curriculum import all_pairs as ranking
from proprl.curriculum.all_pairs import all_pairs, batches, strongest
from proprl.pairs.table import FOLDS, fold_of


def test_all_pairs_are_all_but_those_of_a_concept_with_itself() -> None:
    pairs = all_pairs(7)
    assert len({tuple(pair) for pair in pairs.tolist()}) == 7 * 6
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert all_pairs(1).shape == (0, 2)


def test_a_batch_holds_pairs_of_one_fold_and_every_pair_is_in_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ranking, "PAIRS_AT_ONCE", 50)
    pairs = all_pairs(40)
    found = batches(pairs)
    assert sorted(np.concatenate(found).tolist()) == list(range(40 * 39))
    for here in found:
        assert len(here) <= 50
        assert len(np.unique(fold_of(pairs[here], FOLDS))) == 1
    assert batches(all_pairs(1)) == []


def test_of_pairs_as_strong_the_first_come_first() -> None:
    pairs = all_pairs(200)
    p = np.random.default_rng(0).integers(0, 50, len(pairs)) / 50  # many are as strong
    kept, strength = strongest(pairs, p, top=2000, threshold=0.5)
    first = np.flatnonzero(p == p.max())
    assert len(kept) == 2000 > len(first)
    np.testing.assert_array_equal(kept[: len(first)], pairs[first])
    assert (np.diff(strength) <= 0).all()
    shuffled = np.random.default_rng(1).permutation(len(pairs))
    again = strongest(pairs[shuffled], p[shuffled], top=2000, threshold=0.5)
    np.testing.assert_array_equal(again[0], kept)
    assert strongest(pairs, p, threshold=0.5)[1].min() == 0.5
