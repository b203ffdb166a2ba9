"""Why the model believes a pair, in numbers that a person can check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from proprl.arrays import IntArray
from proprl.evaluation.base_rate import Calibration, log_odds
from proprl.fitted import Fitted

WORDS = {
    "labels": "labels of other pairs",
    "moves": "moves of learners",
    "resources": "resources",
    "texts": "texts",
    "reader": "what a language model makes of the names",
}
"""The kinds of evidence in words."""

KNOWN_PARTS = ("train", "validation")
"""Labels of these parts are law; those of the test part the model does not know."""


@dataclass(frozen=True)
class Explanation:
    """One pair's probability and what it is made of; `str()` gives it in sentences."""

    source: str
    target: str
    source_id: str
    target_id: str
    probability: float
    reverse_probability: float
    threshold: float | None
    """Believed from this probability on; None where nothing says what to believe."""
    base: float | None = None
    """What is said before any evidence, in log-odds; None for a method that does not tell."""
    kinds: Mapping[str, float] = field(default_factory=dict)
    """What each kind of evidence adds to it, in log-odds: with `base`, the probability's own."""
    branches: Mapping[str, float] = field(default_factory=dict)
    """Each branch's own probability, by name."""
    branch_weights: Mapping[str, float] = field(default_factory=dict)
    """What each branch counts in what the method says."""
    gate: float | None = None
    """The gate's mean share of the resource view, between 0 and 1; None without two views."""
    transitions: tuple[float, float] | None = None
    """How often learners went directly from source to target, and back; None without logs."""
    shared_resources: int | None = None
    """How many resources hold both concepts; None without resources."""
    label: tuple[int, str] | None = None
    """What an expert said of the pair, and in which part of the split, if anything."""
    reverse_label: tuple[int, str] | None = None
    """The same of the reverse order."""

    def __str__(self) -> str:
        return "\n".join([self._verdict(), *(f"  {line}" for line in self._lines())])

    def _verdict(self) -> str:
        said = f"probability {self.probability:.2f}, the reverse {self.reverse_probability:.2f}"
        if self.threshold is None:
            believed = "nothing says what to believe"
        else:
            believed = f"believed from {self.threshold:.2f} on"
        if self.label is not None and self.label[1] in KNOWN_PARTS:
            is_one = "is a" if self.label[0] else "is no"
            return (
                f"{self.source} {is_one} prerequisite of {self.target}: an expert says so. "
                f"The model itself: {said}; {believed}."
            )
        if self.threshold is None:
            return f"{self.source} before {self.target}: {said}; {believed}."
        verdict = "is" if self.probability >= self.threshold else "is not"
        return (
            f"{self.source} {verdict} believed to be a prerequisite of {self.target}: "
            f"{said}; {believed}."
        )

    def _lines(self) -> list[str]:
        lines = []
        for kind, worth in sorted(self.kinds.items(), key=lambda item: -abs(item[1])):
            side = "for" if worth >= 0 else "against"
            lines.append(f"{WORDS.get(kind, kind)} speak {side} it: {worth:+.2f} in log-odds")
        for branch, p in self.branches.items():
            lines.append(f"{branch} branch: {p:.2f}, counts {self.branch_weights[branch]:.0%}")
        if self.gate is not None:
            lines.append(
                f"the gate takes {self.gate:.0%} from resources, {1 - self.gate:.0%} from behaviour"
            )
        if self.transitions is not None:
            there, back = self.transitions
            lines.append(f"learners went on directly {there:g} times, and back {back:g} times")
        if self.shared_resources is not None:
            lines.append(f"{self.shared_resources} resources hold both concepts")
        for what, label in (("it", self.label), ("the reverse", self.reverse_label)):
            if label is not None:
                said = "a prerequisite" if label[0] else "not a prerequisite"
                lines.append(f"an expert labelled {what} {said} ({label[1]} part)")
        return lines


def explain_pair(fitted: Fitted, pair: IntArray, threshold: float | None) -> Explanation:
    """Give the explanation of one pair (1, 2); it is believed from `threshold` on."""
    i, j = pair[0].tolist()
    details = {name: float(value[0]) for name, value in fitted.scorer.details(pair).items()}
    forward, reverse = fitted.fit.score(np.vstack([pair, pair[:, ::-1]])).tolist()
    said = float(log_odds(fitted.scorer.score(pair))[0])
    base, kinds = _shares(fitted.fit.calibration_for(pair) or Calibration(), said, details)
    B, M = fitted.transitions, fitted.incidence
    return Explanation(
        source=fitted.concept_names[i],
        target=fitted.concept_names[j],
        source_id=fitted.concept_ids[i],
        target_id=fitted.concept_ids[j],
        probability=forward,
        reverse_probability=reverse,
        threshold=threshold,
        base=base,
        kinds=kinds,
        branches={branch: details[branch] for branch in fitted.report.branch_weights},
        branch_weights=fitted.report.branch_weights,
        gate=details.get("gate"),
        transitions=None if B is None else (float(B[i, j]), float(B[j, i])),
        shared_resources=None if M is None else int((M[[i]] @ M[[j]].T).sum()),
        label=_label_of(fitted, (i, j)),
        reverse_label=_label_of(fitted, (j, i)),
    )


def _shares(
    calibration: Calibration, said: float, details: Mapping[str, float]
) -> tuple[float | None, dict[str, float]]:
    """Give the base and each kind's share in log-odds; they add up to those of the answer.

    `said` is what the method says, in log-odds, before it is calibrated.
    """
    if "base" not in details:
        return None, {}
    shares = {kind: worth for kind, worth in details.items() if kind != "base"}
    # What a confirmed reverse adds does not pass through the trees: it is a label.
    rest = said - details["base"] - sum(shares.values())
    shares["labels"] = shares.get("labels", 0.0) + rest
    base = calibration.slope * details["base"] + calibration.intercept
    return base, {kind: calibration.slope * worth for kind, worth in shares.items()}


def _label_of(fitted: Fitted, pair: tuple[int, int]) -> tuple[int, str] | None:
    for part, labelled in fitted.parts.items():
        found = np.flatnonzero((labelled.pairs == pair).all(axis=1))
        if len(found):
            return int(labelled.labels[found[0]]), part
    return None
