"""Why the model believes a pair, in numbers that a person can check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Explanation:
    """One pair's probability and what it is made of; `str()` gives it in sentences."""

    source: str
    target: str
    probability: float
    reverse_probability: float
    threshold: float
    branches: Mapping[str, float]
    """Each branch's own probability, by name."""
    branch_weights: Mapping[str, float]
    """What each branch counts in `probability`."""
    gate: float | None
    """The gate's mean share of the resource view, between 0 and 1; None without two views."""
    order: float | None
    """The chance that the source comes first, by what a language model has read about both and the
    known order of others; None without a reader."""
    transitions: tuple[float, float] | None
    """How often learners went directly from source to target, and back; None without logs."""
    shared_resources: int | None
    """How many resources hold both concepts; None without resources."""
    label: tuple[int, str] | None
    """What an expert said of the pair, and in which part of the split, if anything."""
    reverse_label: tuple[int, str] | None
    """The same of the reverse order."""

    def __str__(self) -> str:
        verdict = "is" if self.probability >= self.threshold else "is not"
        lines = [
            f"{self.source} {verdict} believed to be a prerequisite of {self.target}: "
            f"probability {self.probability:.2f} (threshold {self.threshold:.2f}), "
            f"the reverse {self.reverse_probability:.2f}."
        ]
        for branch, p in self.branches.items():
            lines.append(f"  {branch} branch: {p:.2f}, counts {self.branch_weights[branch]:.0%}")
        if self.gate is not None:
            lines.append(
                f"  the gate takes {self.gate:.0%} from resources, {1 - self.gate:.0%} "
                "from behaviour"
            )
        if self.order is not None:
            lines.append(f"  by what a language model has read, it comes first: {self.order:.2f}")
        if self.transitions is not None:
            there, back = self.transitions
            lines.append(f"  learners went on directly {there:g} times, and back {back:g} times")
        if self.shared_resources is not None:
            lines.append(f"  {self.shared_resources} resources hold both concepts")
        for what, label in (("it", self.label), ("the reverse", self.reverse_label)):
            if label is not None:
                said = "a prerequisite" if label[0] else "not a prerequisite"
                lines.append(f"  an expert labelled {what} {said} ({label[1]} part)")
        return "\n".join(lines)
