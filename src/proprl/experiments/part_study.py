"""What each part of Sequitur is worth, and whether the smaller ones earn their place.

The smaller parts are for courses that nobody has read about: there validation pairs tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np

from proprl.arrays import FloatArray
from proprl.errors import ProprlError
from proprl.experiments.experiment import Do, Outcome, Table, Wanted
from proprl.experiments.ours import DRAWS
from proprl.experiments.parts import Variant, parts, variant_runs
from proprl.experiments.runs import FOLDS, Run
from proprl.experiments.texts import csv_text, four_digits, markdown_table
from proprl.features.readings import NOBODY

PARTS = (
    Variant("likeness of role", {"roles": False}),
    Variant("passages that mention a concept", {"passages": False}),
    Variant("the order of resources", {"resource_order": False}),
    Variant("learners of their own for newcomers", {"newcomers": False}, "new-concepts"),
)
"""Each with what switches it off; all are meant for courses that nobody has read about."""
REPEATS = {"leak-free": FOLDS, "new-concepts": DRAWS}
GAINS = {"auc": "AUC", "ordered_share": "ordered share"}
ABOUT = ("protocol", "part", "set", "AUC without it")
HEADS = (*ABOUT, *(f"gain in {name}" for name in GAINS.values()))
IN_NUMBERS = (*ABOUT, *(f"{what}_{m}" for m in GAINS for what in ("gain", "standard_error")))
ALL = "all sets"
HOW = (
    "What a part of Sequitur adds where no language model reads, on validation pairs: of all ten "
    "folds without leaks, or of five draws of new concepts. Gains are paired by fold; standard "
    "errors are over folds or draws. A set that has nothing for a part to work on (MOOC has no "
    f"texts, so no passages) gains exactly nothing there and does not count in `{ALL}`. A part "
    "earns its place by a gain above its standard error and no such loss."
)


def part_study(wanted: Wanted, do: Do) -> Outcome:
    """Run Sequitur whole and without each part: as it is, and where nobody reads."""
    if wanted.narrowed:
        raise ProprlError(
            "parts runs sequitur without leaks and on new concepts, as often as each needs: leave "
            "out --method, --protocol and --seeds, or take --quick"
        )
    results, table, texts = parts(wanted, do)
    small = small_parts(wanted, do)
    return Outcome([*results, *small.results], [table, *small.tables], {**texts, **small.texts})


def small_parts(wanted: Wanted, do: Do) -> Outcome:
    """Run Sequitur without readings, whole and without each part, on the same validation pairs."""
    whole = {protocol: _runs(wanted, protocol, {}) for protocol in REPEATS}
    without = [_runs(wanted, part.protocol, part.changes) for part in PARTS]
    runs = [run for some in (*whole.values(), *without) for run in some]
    results = do(runs)
    found = {id(run): result["metrics"] for run, result in zip(runs, results, strict=True)}
    rows: list[list[object]] = []
    for part, lacking in zip(PARTS, without, strict=True):
        pairs = list(zip(whole[part.protocol], lacking, strict=True))
        gains = {
            course: np.array(
                [
                    [_gain(found[id(a)], found[id(b)], metric) for metric in GAINS]
                    for a, b in pairs
                    if a.course == course
                ]
            )
            for course in wanted.courses
        }
        for course, gain in gains.items():
            auc = np.mean([found[id(b)]["auc"] for _, b in pairs if b.course == course])
            rows.append([part.protocol, part.what, course, float(auc), *_summary(gain)])
        at_work = [gain for gain in gains.values() if np.nan_to_num(gain).any()]
        if len(at_work) > 1:
            rows.append([part.protocol, part.what, ALL, None, *_summary(np.vstack(at_work))])
    shown = [[*row[: len(ABOUT)], *_with_errors(row[len(ABOUT) :])] for row in rows]
    texts = {
        "small-parts.md": f"# Parts of Sequitur where nobody reads\n\n{HOW}\n\n"
        + markdown_table(HEADS, map(four_digits, shown)),
        "small-parts.csv": csv_text(IN_NUMBERS, rows),
    }
    return Outcome(results, [Table("What parts add where nobody reads", HEADS, shown)], texts)


def _runs(wanted: Wanted, protocol: str, changes: Mapping[str, Any]) -> list[Run]:
    repeats = 1 if wanted.repeats == 1 else REPEATS[protocol]
    runs = variant_runs(wanted, protocol, {"reader": NOBODY, **changes}, repeats=repeats)
    return [replace(run, part="validation") for run in runs]


def _gain(whole: Mapping[str, Any], lacking: Mapping[str, Any], metric: str) -> float:
    """Give what the whole is better by; NaN where the metric has no value."""
    if whole[metric] is None or lacking[metric] is None:
        return np.nan
    return float(whole[metric] - lacking[metric])


def _summary(gains: FloatArray) -> Sequence[float]:
    """Give the mean and its standard error for each metric: (folds, metrics) -> a flat list."""
    numbers = []
    for gain in gains.T:
        known = gain[~np.isnan(gain)]
        error = float(known.std(ddof=1)) / sqrt(len(known)) if len(known) > 1 else np.nan
        numbers += [float(known.mean()) if len(known) else np.nan, error]
    return numbers


def _with_errors(numbers: Sequence[Any]) -> list[str]:
    """Give each gain with its standard error, as people read it; without, if there is none."""
    return [
        f"{gain:+.4f}" + ("" if np.isnan(error) else f" ± {error:.4f}")
        for gain, error in zip(numbers[::2], numbers[1::2], strict=True)
    ]
