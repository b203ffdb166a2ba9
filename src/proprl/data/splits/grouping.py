"""Numbers for pairs, and drawing whole groups of pairs into parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from proprl.arrays import IntArray
from proprl.errors import SplitError

ROW_BITS = 31
"""Two concept rows share one 64-bit code, so that a pair is compared as a single number."""

_POSITIVE, _NEGATIVE, _BOTH = 1, 2, 3
"""The kinds of groups: which labels a group of pairs holds."""


def pair_codes(pairs: IntArray) -> IntArray:
    """One number per ordered pair; numbers sort as (source, target) does."""
    return (pairs[:, 0] << ROW_BITS) | pairs[:, 1]


def distinct_pairs(pairs: IntArray) -> IntArray:
    """Each ordered pair once, in order of the pair.

    >>> distinct_pairs(np.array([[1, 0], [0, 1], [1, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    distinct: IntArray = pairs[np.unique(pair_codes(pairs), return_index=True)[1]]
    return distinct


def unordered_codes(pairs: IntArray) -> IntArray:
    """One number per pair, the same for both of its orders."""
    return pair_codes(np.sort(pairs, axis=1))


def draw_parts(
    labels: IntArray, group_codes: IntArray, fractions: Sequence[float], seed: int
) -> IntArray:
    """Return the part of each pair: whole groups, each kind of group shared by `fractions`.

    Pairs must be in order of (source, target), so that only the seed decides. Every part gets a
    positive and a negative label as long as there are enough groups; parts are served in order.
    """
    if seed < 0:
        raise SplitError(f"seed must be 0 or greater, not {seed}")
    codes, group = np.unique(group_codes, return_inverse=True)  # group: (m,), the group of a pair
    kind = np.zeros(len(codes), dtype=np.int64)
    kind[group[labels == 1]] |= _POSITIVE
    kind[group[labels == 0]] |= _NEGATIVE
    counts = {k: int((kind == k).sum()) for k in (_POSITIVE, _NEGATIVE, _BOTH)}
    reserved = _reserve(counts, len(fractions))

    rng = np.random.default_rng(seed)
    part_of_group = np.zeros(len(codes), dtype=np.int64)
    for k, count in counts.items():
        seats = _apportion(count, np.array(fractions), reserved[k])
        drawn = rng.permutation(np.flatnonzero(kind == k))
        part_of_group[drawn] = np.repeat(np.arange(len(seats)), seats)
    part: IntArray = part_of_group[group]
    return part


def _reserve(counts: Mapping[int, int], parts: int) -> dict[int, IntArray]:
    """How many groups of each kind every part must get, so that it holds both labels.

    Parts are served in order, by a positive and a negative group where both are left, else by
    one that holds both labels: this serves as many parts as can be served at all.
    """
    left = dict(counts)
    reserved = {k: np.zeros(parts, dtype=np.int64) for k in counts}
    for part in range(parts):
        if not (left[_POSITIVE] and left[_NEGATIVE]) and left[_BOTH]:
            kinds: tuple[int, ...] = (_BOTH,)
        else:
            kinds = tuple(k for k in (_POSITIVE, _NEGATIVE) if left[k])
        for k in kinds:
            left[k] -= 1
            reserved[k][part] += 1
    return reserved


def _apportion(
    count: int, fractions: npt.NDArray[np.float64], at_least: IntArray
) -> npt.NDArray[np.int64]:
    """Whole numbers that sum to `count`, as near to the fractions as the lower bounds allow."""
    target = count * fractions
    seats = np.maximum(np.floor(target).astype(np.int64), at_least)
    while seats.sum() < count:
        seats[np.argmax(target - seats)] += 1
    while seats.sum() > count:
        seats[np.argmax(np.where(seats > at_least, seats - target, -np.inf))] -= 1
    return seats
