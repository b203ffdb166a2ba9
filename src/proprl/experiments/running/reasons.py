"""One run that asks whether explanations are faithful: what is named is removed, or other pieces.

Pieces are counted one by one: labels, moves, and resources of the pair. The pool of a pair holds
the labels and moves that touch one of its concepts, the labels on ways of known prerequisites
between them, and their resources. Texts and readings stay.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, TypeAlias

import numpy as np
from scipy.special import expit

from proprl.arrays import IntArray
from proprl.curriculum.all_pairs import strongest_pairs
from proprl.curriculum.explanation import explain_pair
from proprl.curriculum.pieces import AboutPair, Pair, Piece, entries
from proprl.data.splits.parts import PairSplit
from proprl.evaluation.base_rate import Calibration
from proprl.experiments.running.run import Result, Run
from proprl.fitted import Fitted
from proprl.fitting import Prepared, fit_prepared
from proprl.models.sequitur import SequiturScorer
from proprl.pairs.background import open_pairs

PAIRS = 20
"""So many believed pairs a run looks at, and as many that are not believed."""
DRAWS = 20
"""So often other pieces are drawn."""

Parts: TypeAlias = Mapping[str, set[Any]]
"""Single pieces by kind of evidence."""


def reasons_result(
    run: Run, prepared: Prepared, split: PairSplit, background: IntArray | None
) -> Result:
    """Fit once, and give what removing pieces does to the pairs that the run's seed draws."""
    started = time.perf_counter()
    fitted = fit_prepared(prepared, split, background=background, seed=0, device="cpu")
    done = time.perf_counter()
    pairs, p = strongest_pairs(fitted)
    believed_from = fitted.believed or fitted.report.threshold
    is_open = open_pairs(fitted.known, len(fitted.concept_ids))[tuple(pairs.T)]
    rng = np.random.default_rng(run.seed)
    found = []
    for believed in (True, False):
        among = pairs[is_open & ((p >= believed_from) == believed)]
        # The same order for every seed, so that no two runs look at the same pair.
        order = np.random.default_rng(0).permutation(len(among))
        for pair in among[order[PAIRS * run.seed : PAIRS * (run.seed + 1)]]:
            told = faithfulness(fitted, (int(pair[0]), int(pair[1])), believed_from, rng)
            found.append({"believed": believed, **told})
    return {
        "run": asdict(run),
        "encoder": prepared.encoder,
        "pairs": found,
        "train_seconds": done - started,
        "score_seconds": time.perf_counter() - done,
    }


def faithfulness(
    fitted: Fitted, pair: Pair, believed_from: float, rng: np.random.Generator
) -> dict[str, Any]:
    """Say how far the answer moves without what is named, and without as much of the rest.

    Of each kind as many others are drawn as are named, or all where there are fewer.
    """
    scorer, asked = fitted.scorer, np.array([pair])
    assert isinstance(scorer, SequiturScorer)
    started = time.perf_counter()
    why = explain_pair(fitted, asked, believed_from)
    seconds = time.perf_counter() - started
    about = AboutPair(scorer, pair)
    pool, named = pool_of(about), parts_of(reason.piece for reason in why.told)
    others = {kind: sorted(pool[kind] - named[kind]) for kind in pool}
    counts = {kind: len(named[kind]) for kind in pool}
    z = about.log_odds()

    def moved(parts: Parts) -> float:
        return abs(z - about.log_odds(as_pieces(parts)))

    calibration = fitted.fit.calibration_for(asked) or Calibration()
    left = about.log_odds(as_pieces({kind: set(rest) for kind, rest in others.items()}))
    p = expit(calibration.slope * left + calibration.intercept)
    everything = {kind: sorted(parts) for kind, parts in pool.items()}
    return {
        "untold_share": why.untold_share,
        "named": sum(counts.values()),
        "others": sum(map(len, others.values())),
        "moved_by_named": moved(named),
        "moved_by_others": np.mean([moved(_drawn(others, counts, rng)) for _ in range(DRAWS)]),
        "moved_by_any": np.mean([moved(_drawn(everything, counts, rng)) for _ in range(DRAWS)]),
        "kept": bool((p >= believed_from) == (why.probability >= believed_from)),
        "seconds": seconds,
    }


def pool_of(about: AboutPair) -> Parts:
    """Give the labels, moves and resources near a pair."""
    evidence, known = about.table.evidence, about.table.known
    touching = about.seen[np.isin(known.pairs[about.seen], about.ends).any(axis=1)]
    on_ways = {label for way in about.ways() for label in about.labels_on(way)}
    B = evidence.transitions
    moves = set() if B is None else {move for move in entries(B) if set(move) & set(about.pair)}
    return {
        "labels": set(touching.tolist()) | on_ways,
        "moves": moves,
        "resources": set(about.whole("resources").resources),
    }


def parts_of(pieces: Iterable[Piece]) -> Parts:
    """Give the single labels, moves and resources of pieces."""
    found: dict[str, set[Any]] = {"labels": set(), "moves": set(), "resources": set()}
    for piece in pieces:
        found["labels"] |= set(piece.labels)
        found["moves"] |= set(piece.moves)
        found["resources"] |= set(piece.resources)
    return found


def as_pieces(parts: Parts) -> list[Piece]:
    """Give one piece of each kind that has any part."""
    every = (
        Piece("labels", "some", labels=tuple(parts["labels"])),
        Piece("moves", "some", moves=tuple(parts["moves"])),
        Piece("resources", "some", resources=tuple(parts["resources"])),
    )
    return [piece for piece in every if piece.size]


def _drawn(
    pool: Mapping[str, list[Any]], counts: Mapping[str, int], rng: np.random.Generator
) -> Parts:
    """Draw so many of each kind, or all where there are fewer."""
    order: dict[str, IntArray] = {k: rng.permutation(len(parts)) for k, parts in pool.items()}
    return {kind: {parts[i] for i in order[kind][: counts[kind]]} for kind, parts in pool.items()}
