"""What a person should know before trusting a fitted model, in sentences."""

from __future__ import annotations

from proprl.calibrating import FEW_LABELS, FEW_UNLABELLED, Fit
from proprl.data.splits.labelled import LabelledPairs
from proprl.evaluation.metrics import ENOUGH_TO_CHOOSE

AS_PICKED = "its probabilities hold for pairs as people pick them, not for the whole map"


def cautions(
    method: str, fit: Fit, known: LabelledPairs, background: int | None, *, given: bool = False
) -> list[str]:
    """Say what limits a fit; `background` counts the pairs without a label, None: not wanted.

    `given` background was chosen by the user.
    """
    found = []
    positives = len(known.positives)
    one_sided = len(known) > 0 and positives == len(known)
    if one_sided:
        found.append(
            f"All {positives} labels say yes: pairs can be ranked, but how many prerequisites "
            "there are cannot be told, and nothing is believed. Add pairs that are none (label 0)."
        )
    if 0 < len(known) < ENOUGH_TO_CHOOSE:
        found.append(
            f"Only {len(known)} labels to learn from: every answer is little but a guess, and of "
            f"the whole map nothing is believed before there are {ENOUGH_TO_CHOOSE}."
        )
    if not fit.scorer.takes_background:
        found.append(
            f"{method} learns nothing from pairs without a label: {AS_PICKED}. In Python, "
            "model.graph(threshold=0.9) draws a map from a threshold of your own."
        )
    elif background is None:
        found.append(f"No pairs without a label were learned from: {AS_PICKED}.")
    elif not background:
        found.append(
            "Among concepts with labels no pair is left without one: how rare prerequisites are "
            f"elsewhere cannot be told, and {AS_PICKED}."
        )
    elif fit.held_out is None or len(fit.held_out.background) < FEW_UNLABELLED:
        found.append(
            f"Only {background} pairs without a label to learn from: how many prerequisites there "
            f"are cannot be told, and {AS_PICKED}. Label pairs of more concepts."
        )
    elif not one_sided and len(known) >= ENOUGH_TO_CHOOSE and fit.base_rate is None:
        found.append(
            f"Fewer than {FEW_LABELS} labels of a kind tell how rare prerequisites are: how many "
            "there are cannot be told. A label counts if a person chose its pair and it does not "
            "follow from others; a no to a prerequisite turned round does not count. Label more "
            "pairs of both kinds."
        )
    elif given:
        found.append(
            "You chose the pairs without a label: the expected number of prerequisites holds if "
            "they were drawn by lot from all pairs that no label settles."
        )
    return found
