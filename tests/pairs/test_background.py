"""Which pairs are open, which of them are background, and how many are drawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proprl.data.splits.labelled import LabelledPairs
from proprl.pairs import background
from proprl.pairs.background import (
    PER_POSITIVE,
    background_pool,
    draw_background,
    follows_from_others,
    open_pairs,
)

N = 6
# 0 → 1 → 2, so 0 → 2 follows; 3 is no prerequisite of 0. Of 4 and 5 nobody has said anything.
KNOWN = LabelledPairs(np.array([(0, 1), (1, 2), (3, 0)]), np.array([1, 1, 0]))


def as_pairs(pairs: np.ndarray) -> set[tuple[int, int]]:
    return {(int(a), int(b)) for a, b in pairs}


def test_open_is_what_has_no_label_and_follows_in_neither_order() -> None:
    settled = {(0, 1), (1, 2), (0, 2), (3, 0)}
    settled |= {(b, a) for a, b in settled}
    every = {(a, b) for a in range(N) for b in range(N) if a != b}
    assert as_pairs(np.argwhere(open_pairs(KNOWN, N))) == every - settled


def test_what_follows_over_a_third_concept_would_not_be_open_without_its_label() -> None:
    way = [(0, 1), (1, 2), (2, 3), (0, 2)]
    known = LabelledPairs(np.array([*way, (3, 1), (4, 3)]), np.array([1, 1, 1, 1, 0, 0]))
    every = np.array([(a, b) for a in range(N) for b in range(N) if a != b])
    follows = as_pairs(every[follows_from_others(every, known, N)])
    # 0 → 2 has a label and another way; 3 → 1 is the reverse of what follows; 1 → 2 has no
    # other way, and 4 → 3 none.
    assert follows == {(0, 2), (2, 0), (0, 3), (3, 0), (1, 3), (3, 1)}


def test_the_pool_holds_open_pairs_of_concepts_that_have_labels() -> None:
    assert as_pairs(background_pool(KNOWN, N)) == {(1, 3), (3, 1), (2, 3), (3, 2)}


def test_nothing_follows_from_a_negative() -> None:
    known = LabelledPairs(np.array([(0, 1), (1, 2), (2, 3)]), np.array([0, 0, 1]))
    assert (0, 2) in as_pairs(background_pool(known, N))
    assert (1, 3) in as_pairs(background_pool(known, N))


def test_without_labels_everything_is_open_and_nothing_is_background() -> None:
    nobody = LabelledPairs.empty()
    assert open_pairs(nobody, N).sum() == N * (N - 1)
    assert background_pool(nobody, N).shape == (0, 2)
    assert draw_background(nobody, N, seed=0).shape == (0, 2)


def test_where_every_pair_is_settled_nothing_is_drawn() -> None:
    chain = LabelledPairs(np.array([(0, 1), (1, 2)]), np.array([1, 1]))
    assert draw_background(chain, 3, seed=0).shape == (0, 2)


def test_few_open_pairs_are_all_drawn() -> None:
    drawn = draw_background(KNOWN, N, seed=0)
    np.testing.assert_array_equal(drawn, background_pool(KNOWN, N))


def a_star(n: int) -> LabelledPairs:
    """Concept 0 is the prerequisite of 1, and of the rest it is not."""
    pairs = np.array([(0, b) for b in range(1, n)])
    return LabelledPairs(pairs, (np.arange(1, n) == 1).astype(int))


def test_so_many_are_drawn_for_each_positive(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 40  # of the other 39, 39 · 38 pairs are open
    assert len(background_pool(a_star(n), n)) == 39 * 38
    assert len(draw_background(a_star(n), n, seed=0)) == PER_POSITIVE
    monkeypatch.setattr(background, "AT_MOST", 7)
    assert len(draw_background(a_star(n), n, seed=0)) == 7


def test_the_seed_draws() -> None:
    once, again, other = (draw_background(a_star(40), 40, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(once, again)
    assert as_pairs(once) != as_pairs(other)


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] != pair[1]),
        st.integers(0, 1),
    ),
    st.integers(0, 99),
)
def test_what_is_drawn_has_no_label_follows_from_none_and_comes_once(
    labels: dict[tuple[int, int], int], seed: int
) -> None:
    rows = np.array([(*pair, label) for pair, label in labels.items()], dtype=int).reshape(-1, 3)
    drawn = draw_background(LabelledPairs(rows[:, :2], rows[:, 2]), 8, seed=seed).tolist()
    assert len({(a, b) for a, b in drawn}) == len(drawn)
    follows = {pair for pair, label in labels.items() if label}
    while more := {(a, d) for a, b in follows for c, d in follows if b == c} - follows:
        follows |= more
    named = {concept for pair in labels for concept in pair}
    for a, b in drawn:
        assert a != b
        assert not {(a, b), (b, a)} & (labels.keys() | follows)
        assert {a, b} <= named
