"""Which labelled pairs are train, which validation and which test.

`split_course` is where to begin: it chooses among the others. `given_split` keeps the parts that
a course names. `random_split` draws pairs one by one, so the two orders of a pair may fall into
two parts. `grouped_split` keeps both orders in one part: whoever has seen (i, j) in train then
knows nothing of (j, i) in test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from proprl.arrays import FloatArray, IntArray
from proprl.data.course import Course
from proprl.data.splits.labelled import (
    PARTS,
    ROW_BITS,
    LabelledPairs,
    pair_codes,
    unordered_codes,
)
from proprl.errors import SplitError

SPLIT_SEED = 0
"""It does not move with a model's seed: runs of several seeds share one test part."""

NO_SPLIT = "none"
"""The protocol that leaves every labelled pair out of learning."""

LEARNED_FROM = (0.9, 0.1)
"""Train and validation, where nothing else says how labels to learn from are divided.

Methods that choose on labels get a tenth for it; the others learn from that tenth too.
"""

_POSITIVE, _NEGATIVE, _BOTH = 1, 2, 3
"""Which labels a group of pairs holds."""


@dataclass(frozen=True)
class PairSplit:
    """Train, validation and test, with what was promised about them and what to know."""

    train: LabelledPairs
    validation: LabelledPairs
    test: LabelledPairs
    protocol: str  # such as "given", "random" or "grouped"
    promises_reversed: bool  # both orders of a pair are promised to stand in one part
    notes: tuple[str, ...] = ()  # what a person should know about this split

    def shared(self, *, reverse: bool = False) -> dict[str, int]:
        """Return how many distinct ordered pairs each two parts ("train/test") have in common.

        With `reverse`, pairs of the one part count whose reverse stands in the other.
        """
        counts = {}
        for one, other in combinations(PARTS, 2):
            pairs, others = getattr(self, one).pairs, getattr(self, other).pairs
            others = others[:, ::-1] if reverse else others
            counts[f"{one}/{other}"] = len(np.intersect1d(pair_codes(pairs), pair_codes(others)))
        return counts


def split_course(
    course: Course,
    protocol: str = "auto",
    *,
    labels_needed: bool = True,
    positives_suffice: bool = False,
) -> PairSplit:
    """Return a course's labelled pairs as train, validation and test, divided by a protocol.

    - "auto": as the course's column `split` says; without that column, as "all".
    - "given": as the column says; a course without it is an error.
    - "random", "grouped": a test part is drawn.
    - "all": every label is learned from, whatever the column says.
    - "none": no label is learned from. Only a method that needs no labels can be fitted so.

    A method that needs no labels gets none under "auto" where they could not teach it anything.
    With `positives_suffice`, labels that all say 1 can be learned from.
    """
    if protocol == NO_SPLIT and labels_needed:
        raise SplitError(
            "the split `none` leaves no labels to learn from, and this method needs some; "
            "choose auto, given, all, random or grouped"
        )
    note = "labels were kept from the method" if protocol == NO_SPLIT else None
    if protocol == "auto" and not labels_needed:
        note = _why_useless(course)
    if note is not None:
        none = LabelledPairs.empty()
        return PairSplit(none, none, none, NO_SPLIT, promises_reversed=True, notes=(note,))
    labelled = course.labelled_pairs()
    given = course.split_column()
    if protocol == "auto":
        protocol = "all" if given is None else "given"
    if protocol == "given":
        if given is None:
            raise SplitError(
                f"{course.name} has no `split` column in pairs; add one with train, validation "
                "and test, or choose the split `grouped`"
            )
        return given_split(labelled, given, seed=SPLIT_SEED, positives_suffice=positives_suffice)
    if protocol == "all":
        split = grouped_split(
            labelled,
            fractions=(*LEARNED_FROM, 0.0),
            seed=SPLIT_SEED,
            positives_suffice=positives_suffice,
        )
        note = "every label was learned from: none was kept apart to judge by"
        return replace(split, protocol="all", notes=(*split.notes, note))
    if protocol in ("random", "grouped"):
        grouped = protocol == "grouped"
        return drawn_split(
            labelled, grouped=grouped, seed=SPLIT_SEED, positives_suffice=positives_suffice
        )
    raise SplitError(
        f"there is no split {protocol!r}; known: auto, given, all, random, grouped, none"
    )


def _why_useless(course: Course) -> str | None:
    """Return why the labels of a course cannot teach anything; None where they can."""
    pairs = course.labels
    if pairs is None or len(pairs) == 0:
        return "the course has no labelled pairs"
    labels = np.unique(pairs["label"].to_numpy())
    if len(labels) < 2:
        return f"all {len(pairs)} labelled pairs have label {labels[0]}: none was used"
    return None


def given_split(
    labelled: LabelledPairs, parts: Sequence[str], *, seed: int = 0, positives_suffice: bool = False
) -> PairSplit:
    """Return the split that `parts` names: "train", "validation" or "test" for each pair.

    Without a validation part, a tenth of train becomes one: drawn with `seed`, stratified, both
    orders of a pair together. Pairs that stand in two parts stay there, and the notes count them.
    With `positives_suffice`, train may hold positives alone.
    """
    if len(parts) != len(labelled):
        raise SplitError(f"there are {len(labelled)} pairs but {len(parts)} names of parts")
    unknown = sorted(set(parts) - set(PARTS))
    if unknown:
        raise SplitError(f"unknown part {unknown[0]!r}: a part is one of {', '.join(PARTS)}")
    _refuse_contradictions(labelled)
    order = np.argsort(pair_codes(labelled.pairs), kind="stable")
    names = np.asarray(parts, dtype=np.str_)[order]
    divided = {name: labelled.take(order[names == name]) for name in PARTS}
    refuse_single_class(divided["train"], "train", positives_suffice=positives_suffice)
    notes: list[str] = []
    train, validation, test = (divided[name] for name in PARTS)
    if not len(validation):
        count = _counted(len(train))
        train, validation = divide(train, LEARNED_FROM, seed)
        taken = f"{len(validation)} of the {count} of train were taken"
        notes.append(f"no validation part was given: {taken}")
    if not len(test):
        notes.append("no test part was given: test is empty")
    three = zip(PARTS, (train, validation, test), strict=True)
    notes += _notes_on_classes({name: part for name, part in three if len(part)})
    split = PairSplit(train, validation, test, "given", promises_reversed=False)
    notes += [
        f"{two_parts.replace('/', ' and ')} share {_counted(count)}"
        for two_parts, count in split.shared().items()
        if count
    ]
    return replace(split, notes=tuple(notes))


def drawn_split(
    labelled: LabelledPairs,
    *,
    grouped: bool,
    fractions: tuple[float, float, float] = (0.8, 0.1, 0.1),
    seed: int,
    positives_suffice: bool = False,
) -> PairSplit:
    """Return a random split of the distinct pairs, stratified by label.

    If `grouped`, both orders of a pair stay in one part. The split is then stratified by the
    labels that a pair holds in its two orders: 1, 0, or both. With `positives_suffice`, all pairs
    may be positive.
    """
    _refuse_contradictions(labelled)
    refuse_single_class(labelled, "pairs", positives_suffice=positives_suffice)
    sums_to_one = len(fractions) == len(PARTS) and np.isclose(sum(fractions), 1)
    if not sums_to_one or min(fractions) < 0 or fractions[0] == 0:
        raise SplitError(
            "fractions must be three shares (train, validation, test) that sum to 1, "
            f"train's greater than 0; found {tuple(fractions)}"
        )
    distinct = labelled.distinct()
    train, validation, test = parts = divide(distinct, fractions, seed, grouped=grouped)
    drawn = zip(PARTS, parts, fractions, strict=True)
    notes = _notes_on_classes({name: part for name, part, share in drawn if share > 0})
    if notes:
        notes.append(
            "there are too few pairs for every part to hold both labels: "
            "train is served first, then validation, then test"
        )
    repeated = len(labelled) - len(distinct)
    if repeated:
        notes.insert(0, f"{_counted(repeated)} left out: repeats of a pair that is kept once")
    protocol = "grouped" if grouped else "random"
    return PairSplit(train, validation, test, protocol, grouped, tuple(notes))


random_split = partial(drawn_split, grouped=False)
grouped_split = partial(drawn_split, grouped=True)


def divide(
    labelled: LabelledPairs, fractions: Sequence[float], seed: int, *, grouped: bool = True
) -> list[LabelledPairs]:
    """Return the pairs in parts of these sizes; if `grouped`, both orders of a pair in one."""
    codes = unordered_codes(labelled.pairs) if grouped else pair_codes(labelled.pairs)
    part = draw_parts(labelled.labels, codes, fractions, seed)
    return [labelled.take(part == k) for k in range(len(fractions))]


def draw_parts(
    labels: IntArray, group_codes: IntArray, fractions: Sequence[float], seed: int
) -> IntArray:
    """Return the part of each pair: whole groups, each kind of group shared by `fractions`.

    Pairs must be in order of (source, target), so that only the seed decides. Every part gets a
    positive and a negative label as long as there are enough groups; parts are served in order.
    A part whose fraction is 0 gets nothing.
    """
    if seed < 0:
        raise SplitError(f"seed must be 0 or greater, not {seed}")
    codes, group = np.unique(group_codes, return_inverse=True)  # group: (m,), the group of a pair
    kind = np.zeros(len(codes), dtype=np.int64)
    kind[group[labels == 1]] |= _POSITIVE
    kind[group[labels == 0]] |= _NEGATIVE
    counts = {k: int((kind == k).sum()) for k in (_POSITIVE, _NEGATIVE, _BOTH)}
    shares = np.array(fractions)
    parts = np.flatnonzero(shares > 0)
    reserved = _reserve(counts, len(parts))

    rng = np.random.default_rng(seed)
    part_of_group = np.zeros(len(codes), dtype=np.int64)
    for k, count in counts.items():
        seats = _apportion(count, shares[parts], reserved[k])
        drawn = rng.permutation(np.flatnonzero(kind == k))
        part_of_group[drawn] = np.repeat(parts, seats)
    part: IntArray = part_of_group[group]
    return part


def _reserve(counts: Mapping[int, int], parts: int) -> dict[int, IntArray]:
    """Return how many groups of each kind every part must get, so that it holds both labels.

    Parts are served in order: by a positive and a negative group where both are left, else by one
    that holds both labels. No other way serves more parts.
    """
    left = dict(counts)
    reserved = {k: np.zeros(parts, dtype=np.int64) for k in counts}
    for part in range(parts):
        kinds = [k for k in (_POSITIVE, _NEGATIVE) if left[k]]
        if len(kinds) < 2 and left[_BOTH]:
            kinds = [_BOTH]
        for k in kinds:
            left[k] -= 1
            reserved[k][part] += 1
    return reserved


def _apportion(count: int, fractions: FloatArray, at_least: IntArray) -> IntArray:
    """Return whole numbers that sum to `count`, as near to the fractions as the bounds allow."""
    target = count * fractions
    seats = np.maximum(np.floor(target).astype(np.int64), at_least)
    while seats.sum() < count:
        seats[np.argmax(target - seats)] += 1
    while seats.sum() > count:
        seats[np.argmax(np.where(seats > at_least, seats - target, -np.inf))] -= 1
    return seats


def _refuse_contradictions(labelled: LabelledPairs) -> None:
    """Raise where one ordered pair has both labels: no part could hold it rightly."""
    codes = pair_codes(labelled.pairs)
    contradicted = np.intersect1d(codes[labelled.labels == 1], codes[labelled.labels == 0])
    if contradicted.size:
        source, target = divmod(int(contradicted[0]), 1 << ROW_BITS)
        raise SplitError(
            f"{_counted(len(contradicted))} with both label 0 and label 1, such as "
            f"({source}, {target}) in concept rows: keep one label for each"
        )


def refuse_single_class(
    labelled: LabelledPairs, where: str, *, positives_suffice: bool = False
) -> None:
    """Raise if there are not both labels to learn from; `where` says whose pairs these are."""
    positive = int(labelled.labels.sum())
    negative = len(labelled) - positive
    if positive and (negative or positives_suffice):
        return
    missing = "label 0" if positive else "label 1" if negative else "either label"
    raise SplitError(
        "learning needs at least one pair with label 1 and one with label 0; "
        f"{where} has {positive} positive and {negative} negative labels: "
        f"add pairs with {missing}"
    )


def _notes_on_classes(divided: Mapping[str, LabelledPairs]) -> list[str]:
    """Return one note for each part that is empty, or misses a label which others hold."""
    present = {label for part in divided.values() for label in part.labels.tolist()}
    notes = []
    for name, part in divided.items():
        missing = sorted(present.difference(part.labels.tolist()))
        if not len(part):
            notes.append(f"{name} is empty")
        elif missing:
            notes.append(f"{name} holds no pair with label {missing[0]}: it has no AUC")
    return notes


def _counted(count: int) -> str:
    return f"{count} pair{'s' if count != 1 else ''}"
