"""The protocol `whole-map`: some of a map is known, and every other annotated pair is asked.

A hash of the two names decides to which half a pair belongs. So both orders of a pair stand
together, nobody can choose the division, and it is the same on every machine. The SHA-256 digest
of the names (`pair_digest`) is read byte by byte:

- the lowest bit of the first byte says the half: 1 is test, 0 is development;
- the lowest bit of the third byte divides development once more: 0 is known, 1 is asked;
- with *a fifth known*, only pairs whose second byte is below 102 of 256 may be labels;
- with *a quarter of the concepts* known, only pairs of two known concepts may be labels. A concept
  is known if the first byte of its own digest is below 64 of 256.

Known pairs become labels as people draw them: all positives, and as many negatives, half of which
are positives turned round. Settings are chosen inside development. With part "test", all of
development is known and the test half is asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from proprl.arrays import IntArray
from proprl.data.course import Course
from proprl.data.lookup import plain_name
from proprl.data.splits.labelled import LabelledPairs, pair_codes
from proprl.data.splits.parts import LEARNED_FROM, PairSplit, divide, refuse_single_class
from proprl.errors import SplitError
from proprl.graphs.closure import BoolArray, what_follows

MapPart: TypeAlias = Literal["development", "test"]
Known: TypeAlias = Literal["half", "fifth", "quarter"]
"""How much of a map is known: half of the pairs, a fifth, or a quarter of the concepts."""

MAP_PARTS: tuple[MapPart, ...] = ("development", "test")
FIFTH_BELOW = 102
"""Of 256 values of a byte: a fifth of all pairs, as half of them are known."""
QUARTER_BELOW = 64
"""Of 256 values of a byte: a quarter of the concepts."""

_NEGATIVES, _SPLIT = 1, 2  # seeds: two draws of one task share no random numbers


@dataclass(frozen=True)
class WholeMapTask:
    """What a method is told about a map, what it is asked, and what is true of it."""

    concepts: int
    known: LabelledPairs
    """The labels. No other label may reach a method."""
    asked: LabelledPairs
    """Every pair that is judged, with its truth."""
    annotated: LabelledPairs
    """What people said, known or not: edges are judged by it. Inside development it holds nothing
    of the test half."""
    in_view: BoolArray
    """The ordered pairs (n, n) whose edges may be judged. Inside development, the test half is
    not."""
    draw: int = 0

    def split(self) -> PairSplit:
        """Return the labels as train and validation (a tenth of them), the asked pairs as test."""
        train, validation = divide(self.known, LEARNED_FROM, seed=_SPLIT + 10 * self.draw)
        return PairSplit(train, validation, self.asked, "whole-map", promises_reversed=True)

    def follows(self) -> BoolArray:
        """Return what follows from the known positives, without any model: (n, n)."""
        return what_follows(self.concepts, self.known.positives)

    def open(self) -> BoolArray:
        """Return which of the asked pairs are open (m,): neither they nor their reverses follow."""
        implied = self.follows()
        source, target = self.asked.pairs.T
        return np.asarray(~(implied[source, target] | implied[target, source]))


def whole_map_task(
    course: Course, *, part: MapPart, draw: int = 0, share: Known = "half"
) -> WholeMapTask:
    """Return what is known and what is asked of a set whose pairs are (nearly) all annotated.

    `draw` changes which negatives are labels; what is asked depends on `part` alone.
    """
    if part not in MAP_PARTS:
        raise SplitError(f"there is no part {part!r} of a map; known: {', '.join(MAP_PARTS)}")
    if draw < 0:
        raise SplitError(f"draw must be 0 or greater, not {draw}")
    annotated = course.labelled_pairs().distinct()
    digests = pair_digests(course.names, annotated.pairs)  # (m, 3)
    in_test, inner_asked = (digests[:, 0] & 1 == 1), (digests[:, 2] & 1 == 1)
    if part == "test":
        known, asked = ~in_test, in_test
    else:
        known, asked = ~in_test & ~inner_asked, ~in_test & inner_asked
    if share == "fifth":
        known = known & (digests[:, 1] < FIFTH_BELOW)
    if share == "quarter":
        known = known & in_quarter(course.names)[annotated.pairs].all(axis=1)
    n = len(course)
    in_view, seen = np.ones((n, n), dtype=np.bool_), annotated
    if part == "development":
        everything = np.argwhere(in_view)
        in_view[tuple(everything.T)] = pair_digests(course.names, everything)[:, 0] & 1 == 0
        seen = annotated.take(~in_test)
    return WholeMapTask(
        concepts=n,
        known=labels_as_people_draw_them(annotated.take(known), draw),
        asked=annotated.take(asked),
        annotated=seen,
        in_view=in_view,
        draw=draw,
    )


def direct_steps_task(course: Course, *, draw: int = 0) -> WholeMapTask:
    """Return the task of a course whose labels are direct steps, and whose split is given.

    Known are the labels of train and validation. Asked are all ordered pairs of concepts that have
    none in either order; the truth about them is what follows from all positives of the course.
    """
    parts = course.split_column()
    if parts is None:
        raise SplitError(
            f"{course.name} has no `split` column in pairs: nothing says what is known"
        )
    labelled, n = course.labelled_pairs(), len(course)
    known = labelled.take(np.array(parts) != "test").distinct()
    unasked = np.eye(n, dtype=np.bool_)
    unasked[tuple(known.pairs.T)] = True
    pairs = np.argwhere(~(unasked | unasked.T))
    true = what_follows(n, labelled.positives)[tuple(pairs.T)]
    asked = LabelledPairs(pairs, true.astype(np.int64))
    return WholeMapTask(n, known, asked, labelled, np.ones((n, n), dtype=np.bool_), draw)


def labels_as_people_draw_them(annotated: LabelledPairs, draw: int) -> LabelledPairs:
    """Return all positives and as many negatives, half of them positives turned round.

    A positive turned round is taken only where it is itself annotated 0. Where one kind of
    negative is too rare, the other fills up; the same `draw` draws the same.
    """
    refuse_single_class(annotated, "the known part of the map")
    codes = pair_codes(annotated.pairs)
    positive = annotated.labels == 1
    turned = ~positive & np.isin(pair_codes(annotated.pairs[:, ::-1]), codes[positive])
    rng = np.random.default_rng([_NEGATIVES, draw])
    reverses, others = (
        rng.permutation(np.flatnonzero(chosen)) for chosen in (turned, ~positive & ~turned)
    )
    wanted = int(positive.sum())
    from_reverses = min(len(reverses), max(wanted // 2, wanted - len(others)))
    negatives = np.concatenate([reverses[:from_reverses], others[: wanted - from_reverses]])
    return annotated.take(np.sort(np.concatenate([np.flatnonzero(positive), negatives])))


def in_quarter(names: Sequence[str]) -> BoolArray:
    """Return which concepts belong to the known quarter of them: (n,)."""
    first = [hashlib.sha256(plain_name(name).encode()).digest()[0] for name in names]
    return np.array(first) < QUARTER_BELOW


def pair_digests(names: Sequence[str], pairs: IntArray) -> npt.NDArray[np.uint8]:
    """Return the first three bytes of each pair's digest, equal for both of its orders: (m, 3)."""
    plain = [plain_name(name) for name in names]
    found = b"".join(pair_digest(plain[i], plain[j])[:3] for i, j in pairs.tolist())
    return np.frombuffer(found, dtype=np.uint8).reshape(-1, 3)


def pair_digest(one: str, other: str) -> bytes:
    """Return SHA-256 of the two names: case-folded, squeezed, sorted, joined by a tab, in UTF-8."""
    return hashlib.sha256("\t".join(sorted([plain_name(one), plain_name(other)])).encode()).digest()
