"""What a person should know before trusting a fitted model, in sentences."""

from __future__ import annotations

from proprl.data.splits import LabelledPairs
from proprl.evaluation.metrics import ENOUGH_TO_CHOOSE
from proprl.fitting import Fit

AS_PICKED = "its probabilities hold for pairs as people pick them, not for the whole map"


def cautions(method: str, fit: Fit, known: LabelledPairs, background: int | None) -> list[str]:
    """Say what limits a fit; `background` counts the pairs without a label, None: not wanted."""
    found = []
    positives = len(known.positives)
    if len(known) and positives == len(known):
        found.append(
            f"All {positives} labels say yes: pairs can be ranked, but how many prerequisites "
            "there are cannot be told, and nothing is believed. Add pairs that are none (label 0)."
        )
    if 0 < len(known) < ENOUGH_TO_CHOOSE:
        found.append(f"Only {len(known)} labels to learn from: every answer is little but a guess.")
    if not fit.scorer.takes_background:
        found.append(f"{method} learns nothing from pairs without a label: {AS_PICKED}.")
    elif background is None:
        found.append(f"No pairs without a label were learned from: {AS_PICKED}.")
    elif not background:
        found.append(
            "No pair without a label is left to learn from, of which both concepts have labels: "
            f"how many prerequisites there are cannot be told; {AS_PICKED}."
        )
    return found
