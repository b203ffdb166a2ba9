"""The division of labelled pairs into train, validation and test.

Three protocols. `given_split` keeps the parts that the course names. `random_split` draws pairs,
so the two orders of a pair may fall into different parts. `grouped_split` keeps both orders of a
pair together: a model that has seen (i, j) then learns nothing about (j, i) in test.

What a split promises is not taken on trust: `PairSplit.proof` counts it from the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from proprl.arrays import IntArray
from proprl.data.splits.grouping import ROW_BITS, draw_parts, pair_codes, unordered_codes
from proprl.data.splits.labelled import LabelledPairs
from proprl.errors import SplitError

PARTS = ("train", "validation", "test")

_VALIDATION_SHARE = 0.1
"""What `given_split` takes from train where a course names no validation part."""


@dataclass(frozen=True)
class DisjointnessProof:
    """What each two parts of a split have in common, counted in distinct ordered pairs."""

    shared_rows: dict[str, int]
    """For each two parts ("train/test"): ordered pairs that stand in both."""
    shared_reversed: dict[str, int]
    """For each two parts: pairs of one whose reverse stands in the other."""

    def holds(self, promises_reversed: bool) -> bool:
        """Whether no pair stands in two parts, nor, where promised, its reverse."""
        shared = sum(self.shared_rows.values())
        return shared + (sum(self.shared_reversed.values()) if promises_reversed else 0) == 0


@dataclass(frozen=True)
class PairSplit:
    """Train, validation and test, with what was promised about them and what to know."""

    train: LabelledPairs
    validation: LabelledPairs
    test: LabelledPairs
    protocol: str  # "given", "random" or "grouped"
    promises_reversed: bool  # both orders of a pair are promised to stand in one part
    notes: tuple[str, ...] = ()  # what a person should know about this split

    @property
    def proof(self) -> DisjointnessProof:
        """What the parts have in common, counted anew from their pairs."""
        parts = {"train": self.train, "validation": self.validation, "test": self.test}
        codes = {name: np.unique(pair_codes(part.pairs)) for name, part in parts.items()}
        reverse = {name: np.unique(pair_codes(part.pairs[:, ::-1])) for name, part in parts.items()}
        rows, reversed_ = {}, {}
        for a, b in combinations(PARTS, 2):
            rows[f"{a}/{b}"] = _common(codes[a], codes[b])
            reversed_[f"{a}/{b}"] = _common(codes[a], reverse[b])
        return DisjointnessProof(rows, reversed_)


def given_split(
    labelled: LabelledPairs,
    parts: Sequence[str],
    *,
    seed: int = 0,
    positives_suffice: bool = False,
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

    names = np.asarray(parts, dtype=np.str_)
    divided = {name: _in_order(labelled.take(np.flatnonzero(names == name))) for name in PARTS}
    refuse_single_class(divided["train"], "train", positives_suffice=positives_suffice)
    notes: list[str] = []
    if not len(divided["validation"]):
        fractions = {"train": 1 - _VALIDATION_SHARE, "validation": _VALIDATION_SHARE}
        before = divided["train"]
        divided |= _divide(before, unordered_codes(before.pairs), fractions, seed)
        notes.append(
            "no validation part was given: "
            f"{len(divided['validation'])} of the {_counted(len(before))} of train were taken"
        )
    if not len(divided["test"]):
        notes.append("no test part was given: test is empty")
    notes += _notes_on_classes({name: part for name, part in divided.items() if len(part)})
    split = PairSplit(
        divided["train"], divided["validation"], divided["test"], "given", promises_reversed=False
    )
    for two_parts, count in split.proof.shared_rows.items():
        if count:
            notes.append(f"{two_parts.replace('/', ' and ')} share {_counted(count)}")
    return replace(split, notes=tuple(notes))


def random_split(
    labelled: LabelledPairs,
    *,
    fractions: tuple[float, float, float] = (0.8, 0.1, 0.1),
    seed: int,
    positives_suffice: bool = False,
) -> PairSplit:
    """Return a random split of the distinct pairs, stratified by label.

    With `positives_suffice`, all of them may be positive.
    """
    _check_labels(labelled, positives_suffice=positives_suffice)
    return _drawn_split(labelled, fractions, seed, grouped=False)


def grouped_split(
    labelled: LabelledPairs,
    *,
    fractions: tuple[float, float, float] = (0.8, 0.1, 0.1),
    seed: int,
    positives_suffice: bool = False,
) -> PairSplit:
    """Return a random split of the distinct pairs that keeps both orders of a pair in one part.

    It is stratified by the labels that a pair holds in its two orders: 1, 0, or both. With
    `positives_suffice`, all of them may be positive.
    """
    _check_labels(labelled, positives_suffice=positives_suffice)
    return _drawn_split(labelled, fractions, seed, grouped=True)


def _drawn_split(
    labelled: LabelledPairs, fractions: tuple[float, float, float], seed: int, *, grouped: bool
) -> PairSplit:
    _check_fractions(fractions)
    distinct = labelled.distinct()
    groups = unordered_codes(distinct.pairs) if grouped else pair_codes(distinct.pairs)
    wanted = {name: share for name, share in zip(PARTS, fractions, strict=True) if share > 0}
    divided = _divide(distinct, groups, wanted, seed)
    notes = _notes_on_classes(divided)
    if notes:
        notes.append(
            "there are too few pairs for every part to hold both labels: "
            "train is served first, then validation, then test"
        )
    repeated = len(labelled) - len(distinct)
    if repeated:
        notes.insert(0, f"{_counted(repeated)} left out: repeats of a pair that is kept once")
    return PairSplit(
        train=divided["train"],
        validation=divided.get("validation", LabelledPairs.empty()),
        test=divided.get("test", LabelledPairs.empty()),
        protocol="grouped" if grouped else "random",
        promises_reversed=grouped,
        notes=tuple(notes),
    )


def _check_labels(labelled: LabelledPairs, *, positives_suffice: bool) -> None:
    _refuse_contradictions(labelled)
    refuse_single_class(labelled, "pairs", positives_suffice=positives_suffice)


def _divide(
    labelled: LabelledPairs, group_codes: IntArray, fractions: Mapping[str, float], seed: int
) -> dict[str, LabelledPairs]:
    """Return the pairs of each part: whole groups, each kind shared by `fractions`."""
    part = draw_parts(labelled.labels, group_codes, list(fractions.values()), seed)
    return {
        name: labelled.take(np.flatnonzero(part == index)) for index, name in enumerate(fractions)
    }


def _common(codes: IntArray, others: IntArray) -> int:
    return len(np.intersect1d(codes, others, assume_unique=True))


def _in_order(labelled: LabelledPairs) -> LabelledPairs:
    return labelled.take(np.argsort(pair_codes(labelled.pairs), kind="stable"))


def _check_fractions(fractions: tuple[float, float, float]) -> None:
    if (
        len(fractions) != len(PARTS)
        or not np.isclose(sum(fractions), 1)
        or min(fractions) < 0
        or fractions[0] == 0
    ):
        raise SplitError(
            "fractions must be three shares (train, validation, test) that sum to 1, "
            f"train's greater than 0; found {tuple(fractions)}"
        )


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
    if not positive or not (negative or positives_suffice):
        missing = "label 1" if not positive else "label 0"
        if not len(labelled):
            missing = "either label"
        raise SplitError(
            "learning needs at least one pair with label 1 and one with label 0; "
            f"{where} has {positive} positive and {negative} negative labels: "
            f"add pairs with {missing}"
        )


def _notes_on_classes(divided: Mapping[str, LabelledPairs]) -> list[str]:
    """One note for each part that misses a label which others hold."""
    present = {label for part in divided.values() for label in part.labels.tolist()}
    notes = []
    for name, part in divided.items():
        missing = [label for label in (1, 0) if label in present - set(part.labels.tolist())]
        if not len(part):
            notes.append(f"{name} is empty")
        elif missing:
            notes.append(f"{name} holds no pair with label {missing[0]}: it has no AUC")
    return notes


def _counted(count: int) -> str:
    return f"{count} pair{'s' if count != 1 else ''}"
