"""Going through all pairs, and keeping the strongest."""

from __future__ import annotations

import numpy as np
import pytest

from proprl.curriculum import all_pairs as ranking
from proprl.curriculum.all_pairs import Strongest, all_pairs, batches
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


def test_the_strongest_are_the_same_however_they_come() -> None:
    pairs = all_pairs(200)
    p = np.random.default_rng(0).integers(0, 50, len(pairs)) / 50  # many are as strong
    whole, stream = Strongest(30, 0.5), Strongest(30, 0.5)
    whole.add(pairs, p)
    for here in np.array_split(np.random.default_rng(1).permutation(len(pairs)), 9):
        stream.add(pairs[here], p[here])
    for one, other in zip(whole.result(), stream.result(), strict=True):
        np.testing.assert_array_equal(one, other)
    kept, strength = whole.result()
    first = np.flatnonzero(p == p.max())[:30]
    np.testing.assert_array_equal(kept[: len(first)], pairs[first])
    assert (np.diff(strength) <= 0).all()
