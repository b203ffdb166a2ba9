"""What a fitted model's answer about a pair is made of."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from proprl.arrays import IntArray
from proprl.curriculum import Explanation
from proprl.evaluation.base_rate import Calibration, log_odds
from proprl.fitted import Fitted


def explain_pair(fitted: Fitted, pair: IntArray, threshold: float | None) -> Explanation:
    """Give the explanation of one pair (1, 2); it is believed from `threshold` on."""
    i, j = pair[0].tolist()
    details = {name: float(value[0]) for name, value in fitted.scorer.details(pair).items()}
    forward, reverse = fitted.fit.score(np.vstack([pair, pair[:, ::-1]])).tolist()
    said = float(log_odds(fitted.scorer.score(pair))[0])
    base, evidence = _shares(fitted.fit.calibration_for(pair) or Calibration(), said, details)
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
        evidence=evidence,
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
