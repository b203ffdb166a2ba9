"""Whether labels, behaviour and resources number the concepts from the same row.

A table whose ids are one row out looks sound: every id is known. But its pairs then hardly ever
meet what the other tables say about the same concepts. So each set of pairs is moved by s rows
(both ends), for s in −3..+3, and the pairs that another table confirms are counted:

- a positive, by a direct behaviour link between its two concepts, in either direction;
- a positive, by a resource that holds both;
- a behaviour link (the strongest 2,000), by a resource that holds both.

A shift *stands out* when it has at least twice as many confirmed pairs as the other shifts have on
average, and, unless it is 0, twice as many as shift 0.

Popular concepts meet anywhere, so that alone proves nothing. Each count is also compared with what
chance would give at that shift. Chance is the configuration model: links are dealt out anew while
every concept keeps as many as it has. The lift of a shift is confirmed over expected pairs. Two
tests must both find p < 0.001 / 7:

- Poisson: how likely is a count as high, if this shift had the lift of all others together?
- Binomial, unless the shift is 0: how likely are its share of the pairs confirmed here or at shift
  0, if the two had one lift?

The level is strict because pairs that share a concept are not quite independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest, poisson

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.data.audit.finding import SHOWN, Finding, LabelledRows, counted
from proprl.data.splits.labelled import pair_codes

SHIFTS = range(-3, 4)
_TIMES = 2
_LEVEL = 0.001 / len(SHIFTS)
_STRONGEST = 2_000


class Behaviour:
    """Confirms pairs from whose source learners went directly to the target.

    P(i → j by chance) = 1 − exp(−out(i) · in(j) / E), for E links in all.
    """

    def __init__(self, links: IntArray, n: int) -> None:
        self.codes = pair_codes(links)
        self.out = np.bincount(links[:, 0], minlength=n)
        self.into = np.bincount(links[:, 1], minlength=n)

    def confirms(self, pairs: IntArray) -> npt.NDArray[np.bool_]:
        """Return which of these pairs (m, 2) are links."""
        return np.isin(pair_codes(pairs), self.codes)

    def chance(self, pairs: IntArray) -> FloatArray:
        """Return how likely each pair is a link by chance."""
        rate = self.out[pairs[:, 0]] * self.into[pairs[:, 1]] / max(len(self.codes), 1)
        return 1 - np.exp(-rate)


class Resources:
    """Confirms pairs of concepts that some resource holds both of.

    P(i, j together by chance) = 1 − exp(−r(i) · r(j) · Σₖ sₖ (sₖ − 1) / (Σₖ sₖ)²), where concept i
    stands in r(i) resources and resource k holds sₖ concepts.
    """

    def __init__(self, incidence: SparseMatrix) -> None:
        self.incidence = incidence
        self.held = np.asarray(incidence.sum(axis=1)).ravel()
        sizes = np.asarray(incidence.sum(axis=0)).ravel()
        self.rate = float((sizes * (sizes - 1)).sum() / max(sizes.sum(), 1) ** 2)

    def confirms(self, pairs: IntArray) -> npt.NDArray[np.bool_]:
        """Return which of these pairs (m, 2) stand together in a resource."""
        i, j = pairs.T
        together = self.incidence[i].multiply(self.incidence[j]).sum(axis=1)
        return np.asarray(together).ravel() > 0

    def chance(self, pairs: IntArray) -> FloatArray:
        """Return how likely each pair stands together in a resource by chance."""
        rate: FloatArray = self.held[pairs[:, 0]] * self.held[pairs[:, 1]] * self.rate
        return 1 - np.exp(-rate)


def links_of(transitions: SparseMatrix) -> IntArray:
    """Return where learners went from one concept to another (k, 2), the strongest first."""
    links = transitions.tocoo()
    ends = np.stack([links.row, links.col], axis=1).astype(np.int64)
    order = np.argsort(-links.data, kind="stable")
    order = order[(links.data[order] > 0) & (ends[order, 0] != ends[order, 1])]
    strongest: IntArray = ends[order]
    return strongest


@dataclass(frozen=True)
class Fit:
    """How many pairs another table confirms at each shift, and how many it would by chance."""

    confirmed: Mapping[int, int]
    expected: Mapping[int, float]

    def standing_out(self) -> int | None:
        """Return the shift that fits clearly better than the others; None if there is none."""
        best = max(SHIFTS, key=lambda s: (self.confirmed[s], s == 0))
        found, others = self.confirmed[best], [s for s in SHIFTS if s != best]
        elsewhere = sum(self.confirmed[s] for s in others)
        by_chance = sum(self.expected[s] for s in others)
        if not by_chance or found * len(others) < _TIMES * elsewhere:
            return None
        usual = self.expected[best] * elsewhere / by_chance
        if poisson.sf(found - 1, usual) >= _LEVEL:
            return None
        return best if best == 0 or self._beats_zero(best) else None

    def _beats_zero(self, shift: int) -> bool:
        found, here = self.confirmed[shift], self.confirmed[0]
        share = self.expected[shift] / (self.expected[shift] + self.expected[0])
        unlikely = binomtest(found, found + here, share, alternative="greater").pvalue < _LEVEL
        return bool(found >= _TIMES * here and unlikely)


def _fit(pairs: IntArray | None, witness: Behaviour | Resources | None, n: int) -> Fit | None:
    """Return how many of the pairs are confirmed when both ends are moved by each shift."""
    if pairs is None or witness is None:
        return None
    confirmed, expected = {}, {}
    for shift in SHIFTS:
        moved = pairs + shift
        moved = moved[((moved >= 0) & (moved < n)).all(axis=1)]
        confirmed[shift] = int(witness.confirms(moved).sum())
        expected[shift] = float(witness.chance(moved).sum())
    return Fit(confirmed, expected)


@dataclass(frozen=True)
class Alignment:
    """The fit of each two tables, and the shift that sets a table right against the names.

    Resources are what the others are measured by: their links to concepts go by names. Where
    labels or behaviour do not fit them at any shift, the shift between the two tells.
    """

    labels_by_resources: Fit | None
    labels_by_behaviour: Fit | None
    labels_by_behaviour_forward: Fit | None  # shown in details only
    behaviour_by_resources: Fit | None

    @classmethod
    def of(
        cls,
        rows: LabelledRows | None,
        transitions: SparseMatrix | None,
        incidence: SparseMatrix | None,
        n: int,
    ) -> Alignment:
        """Measure every two tables that the course has."""
        together = None if incidence is None else Resources(incidence)
        links = forward = either = None
        if transitions is not None:
            links = links_of(transitions)
            forward = Behaviour(links, n)
            either = Behaviour(links_of(transitions + transitions.T), n)
        positives = None if rows is None else rows.positives
        return cls(
            _fit(positives, together, n),
            _fit(positives, either, n),
            _fit(positives, forward, n),
            _fit(None if links is None else links[:_STRONGEST], together, n),
        )

    def label_shift(self) -> int | None:
        """Return by how many rows both ids of a label must be moved; None if nothing tells."""
        by_resources, by_behaviour, behaviour = self._shifts()
        if by_resources is not None or by_behaviour is None:
            return by_resources
        return by_behaviour + (behaviour or 0)

    def behaviour_shift(self) -> int | None:
        """Return by how many rows behaviour must be moved; None if no resource tells."""
        by_resources, by_behaviour, behaviour = self._shifts()
        if behaviour is not None or by_resources is None or by_behaviour is None:
            return behaviour
        return by_resources - by_behaviour

    def _shifts(self) -> tuple[int | None, int | None, int | None]:
        fits = self.labels_by_resources, self.labels_by_behaviour, self.behaviour_by_resources
        labels, links, behaviour = (None if f is None else f.standing_out() for f in fits)
        return labels, links, behaviour


def alignment_findings(
    alignment: Alignment, rows: LabelledRows | None, links: int
) -> Iterator[Finding]:
    """Yield the shift of the labels and of the behaviour, where the course can tell."""
    counts = {
        name: {f"{shift:+d}": count for shift, count in fit.confirmed.items()}
        for name, fit in vars(alignment).items()
        if fit is not None
    }
    by_behaviour = {"behaviour_by_resources": counts.pop("behaviour_by_resources", {})}
    shift = alignment.label_shift()
    if rows is not None and shift is not None:
        shown = rows.positives[:SHOWN] if shift else ()
        examples = [_moved(rows, pair, shift) for pair in shown]
        yield _shifted("label", "labels", shift, len(rows), counts, examples)
    shift = alignment.behaviour_shift()
    if shift is not None:
        yield _shifted("behaviour", "behaviour links", shift, links, by_behaviour, [])


def _shifted(
    kind: str, what: str, shift: int, total: int, counts: Mapping[str, Any], examples: list[str]
) -> Finding:
    signed = f"{shift:+d}".replace("-", "−")
    rows = "row" if abs(shift) == 1 else "rows"
    return counted(
        f"{kind}_shift",
        f"{what} that are {signed if shift else 'some'} {rows} out",
        "error",
        total if shift else 0,
        total,
        f"The {what} are about the wrong concepts: they fit the other tables best when both ids "
        f"are moved by {signed} {rows}. Add {signed} to both ids."
        if shift
        else f"The {what} fit the other tables best as they stand: nothing to do.",
        examples=examples,
        details={"shift": shift, **counts},
    )


def _moved(rows: LabelledRows, pair: IntArray, shift: int) -> str:
    """Return a pair as it is written, and the pair that was meant."""
    moved = pair + shift
    if not ((moved >= 0) & (moved < len(rows.names))).all():
        return f"{rows.arrow(pair)} (meant: outside the table)"
    return f"{rows.arrow(pair)} (meant: {rows.arrow(moved)})"
