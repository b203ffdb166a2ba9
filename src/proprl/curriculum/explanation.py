"""Why the model believes a pair: what each kind of evidence, and each piece of it, is worth.

Everything is in log-odds and adds up exactly: base and kinds to the answer, pieces and what is not
named to their kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from proprl.arrays import IntArray
from proprl.curriculum.pieces import AboutPair, Pair, Piece
from proprl.curriculum.reason_words import Teller, sentences
from proprl.evaluation.base_rate import Calibration, log_odds
from proprl.fitted import Fitted
from proprl.models.sequitur import SequiturScorer
from proprl.pairs.columns import Kind

TOLD = 7
"""So many reasons are told at most."""
ENOUGH_TOLD = 0.75
"""No more are told once they are worth so much of all that there is."""
WORTH_TELLING = 0.02
"""Nor is a reason that is worth less than this share of all."""
SCALED_BY = (0.5, 2.0)
"""Steps are scaled to the kind's worth by no less and no more than this."""
KNOWN_PARTS = ("train", "validation")
"""Labels of these parts are law; those of the test part the model does not know."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the model says of a pair, and what labels say of it."""

    source: str
    target: str
    source_id: str
    target_id: str
    probability: float
    reverse_probability: float
    threshold: float | None
    """Believed from this probability on; None where nothing says what to believe."""
    label: tuple[int, str] | None = None
    """What an expert said of the pair, and in which part of the split, if anything."""
    reverse_label: tuple[int, str] | None = None
    """The same of the reverse order."""


@dataclass(frozen=True)
class Reason:
    """A piece of evidence, what it is worth, and how it is told."""

    kind: Kind
    sentence: str
    worth: float
    """What it adds to the answer, in log-odds; below 0 it speaks against the pair."""
    evidence: Mapping[str, Any]
    """The labels, moves or resources that it is made of, by id."""
    piece: Piece


@dataclass(frozen=True, kw_only=True)
class Explanation(Answer):
    """One pair's answer and what it is made of; `str()` gives it in sentences."""

    method: str
    base_rate: float | None = None
    """The share of prerequisites among pairs of which no label tells; None if not known."""
    base: float | None = None
    """What is said before any evidence, in log-odds; None for a method that does not tell."""
    kinds: Mapping[str, float] = field(default_factory=dict)
    """What each kind of evidence adds to it, in log-odds: with `base`, the probability's own."""
    reasons: tuple[Reason, ...] = ()
    """Every piece of evidence that was looked at, the one worth most first."""
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
    facts: tuple[str, ...] = ()
    """What the course shows of the pair, in sentences, where no worth can be told."""

    @property
    def told(self) -> tuple[Reason, ...]:
        """The reasons that are told: as few as say most of it, and at most seven."""
        left = {kind: worth - self._named(kind) for kind, worth in self.kinds.items()}
        worths = [abs(reason.worth) for reason in self.reasons]
        whole, so_far, count = sum(worths) + sum(map(abs, left.values())), 0.0, 0
        for worth in worths[:TOLD]:
            if so_far >= ENOUGH_TOLD * whole or worth <= WORTH_TELLING * whole:
                break
            so_far, count = so_far + worth, count + 1
        return self.reasons[:count]

    @property
    def untold(self) -> dict[str, float]:
        """What else each kind of evidence adds, in log-odds: with what is told, its worth."""
        told: dict[str, float] = dict.fromkeys(self.kinds, 0.0)
        for reason in self.told:
            told[reason.kind] += reason.worth
        return {kind: worth - told[kind] for kind, worth in self.kinds.items()}

    @property
    def untold_share(self) -> float:
        """How much of the summed worth is not told."""
        untold = sum(map(abs, self.untold.values()))
        whole = untold + sum(abs(reason.worth) for reason in self.told)
        return untold / whole if whole else 0.0

    def _named(self, kind: str) -> float:
        return sum(reason.worth for reason in self.reasons if reason.kind == kind)

    def __str__(self) -> str:
        return "\n".join(sentences(self))


def answer_of(fitted: Fitted, pair: IntArray, threshold: float | None) -> Answer:
    """Give the answer about one pair (1, 2); it is believed from `threshold` on."""
    return Answer(**_answer(fitted, pair, threshold))


def _answer(fitted: Fitted, pair: IntArray, threshold: float | None) -> dict[str, Any]:
    i, j = pair[0].tolist()
    forward, reverse = fitted.fit.score(np.vstack([pair, pair[:, ::-1]])).tolist()
    return {
        "source": fitted.concept_names[i],
        "target": fitted.concept_names[j],
        "source_id": fitted.concept_ids[i],
        "target_id": fitted.concept_ids[j],
        "probability": forward,
        "reverse_probability": reverse,
        "threshold": threshold,
        "label": _label_of(fitted, (i, j)),
        "reverse_label": _label_of(fitted, (j, i)),
    }


def explain_pair(fitted: Fitted, pair: IntArray, threshold: float | None) -> Explanation:
    """Give the explanation of one pair (1, 2); it is believed from `threshold` on."""
    i, j = pair[0].tolist()
    details = {name: float(value[0]) for name, value in fitted.scorer.details(pair).items()}
    said = float(log_odds(fitted.scorer.score(pair))[0])
    calibration = fitted.fit.calibration_for(pair) or Calibration()
    base, kinds = _shares(calibration, said, details)
    B, M, teller = fitted.transitions, fitted.incidence, Teller(fitted)
    reasons: tuple[Reason, ...] = ()
    if isinstance(fitted.scorer, SequiturScorer):
        about = AboutPair(fitted.scorer, (i, j))
        reasons = tuple(
            Reason(
                piece.kind,
                teller.sentence(piece, about),
                worth,
                teller.evidence(piece, about.table.known),
                piece,
            )
            for piece, worth in _worths(about, kinds, calibration.slope)
        )
    return Explanation(
        **_answer(fitted, pair, threshold),
        method=fitted.method,
        base_rate=calibration.base_rate,
        base=base,
        kinds=kinds,
        reasons=reasons,
        branches={branch: details[branch] for branch in fitted.report.branch_weights},
        branch_weights=fitted.report.branch_weights,
        gate=details.get("gate"),
        transitions=None if B is None else (float(B[i, j]), float(B[j, i])),
        shared_resources=None if M is None else int((M[[i]] @ M[[j]].T).sum()),
        facts=() if reasons else tuple(teller.facts((i, j))),
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


def _worths(
    about: AboutPair, kinds: Mapping[str, float], slope: float
) -> list[tuple[Piece, float]]:
    """Give every piece with its worth in calibrated log-odds, the one worth most first."""
    found = []
    if about.ruled_out:
        reverse = slope * about.scorer.reverse_weight
        found.append((Piece("labels", "reverse", about.pair), reverse))
        kinds = {**kinds, "labels": kinds["labels"] - reverse}
    for kind, worth in kinds.items():
        found += [(piece, slope * step) for piece, step in steps(about, kind, worth / slope)]
    return sorted(found, key=lambda item: -abs(item[1]))


def steps(about: AboutPair, kind: str, worth: float) -> list[tuple[Piece, float]]:
    """Give the pieces of a kind, each with its part of what the kind is worth.

    They are taken away one after the other, strongest first, so that the second of two that say
    the same is not worth nothing. Taking away all evidence of the kind moves the answer about as
    far as the kind is worth. The steps are scaled by what is between the two, within bounds: where
    the one is near 0 or of the other sign, the rest is not named.
    """
    pieces, z = about.pieces(cast(Kind, kind)), about.log_odds()
    alone = [abs(z - about.log_odds([piece])) for piece in pieces]
    whole = pieces if pieces[0].what == "nothing" else [about.whole(cast(Kind, kind))]
    moved = z - about.log_odds(whole)
    scale = float(np.clip(worth / moved, *SCALED_BY)) if moved else 1.0
    gone: list[Piece] = []
    found = []
    for place in np.argsort(-np.array(alone), kind="stable"):
        gone.append(pieces[place])
        left = about.log_odds(gone)
        found.append((pieces[place], scale * (z - left)))
        z = left
    return found


def _label_of(fitted: Fitted, pair: Pair) -> tuple[int, str] | None:
    for part, labelled in fitted.parts.items():
        found = np.flatnonzero((labelled.pairs == pair).all(axis=1))
        if len(found):
            return int(labelled.labels[found[0]]), part
    return None
