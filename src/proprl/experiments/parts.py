"""What each part of Sequitur is worth: the whole, and the whole with one thing changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from proprl.experiments.experiment import Do, Table, Wanted
from proprl.experiments.plans import plan
from proprl.experiments.runs import Run
from proprl.experiments.texts import csv_text, four_digits, markdown_table
from proprl.features.readings import NOBODY
from proprl.models.registry import method_settings

OURS = "sequitur"
REPEATS = 3
"""Folds or draws that a variant is run on for the table of parts."""
SHOWN = ("leak-free", "new-concepts")


@dataclass(frozen=True)
class Variant:
    """Sequitur with something changed, and the protocol under which that can matter."""

    what: str
    changes: Mapping[str, Any]
    protocol: str = "leak-free"


VARIANTS = (
    Variant("without the labels of other pairs", {"sources": "course"}),
    Variant("without the course: texts, moves, resources", {"sources": "labels"}),
    Variant("without likeness of role", {"roles": False}),
    Variant("without passages that mention a concept", {"passages": False}),
    Variant("without a language model's readings", {"reader": "none"}),
    Variant("without the order of resources", {"resource_order": False}),
    Variant("each pair described once, not twice", {"dealt": 1}),
    Variant("without the trees", {"learners": "line"}),
    Variant("without the line", {"learners": "trees"}),
    Variant("without learners of their own for newcomers", {"newcomers": False}),
    Variant("without learners of their own for newcomers", {"newcomers": False}, "new-concepts"),
    Variant("without a language model's readings", {"reader": "none"}, "new-concepts"),
)
HEADS = ("protocol", "variant", "set", "AUC", "change", "least and greatest change")


def parts(wanted: Wanted, do: Do) -> tuple[list[dict[str, Any]], Table, dict[str, str]]:
    """Run the whole and every variant; give the results, a table and its files."""
    few = min(wanted.repeats, REPEATS)
    # Where nobody reads, there are no readings to do without.
    read = method_settings(OURS, "default").read_by != NOBODY
    asked = [variant for variant in VARIANTS if read or "reader" not in variant.changes]
    whole = {p: variant_runs(wanted, p, {}, repeats=few) for p in SHOWN}
    variants = [
        variant_runs(wanted, variant.protocol, variant.changes, repeats=few) for variant in asked
    ]
    runs = [run for runs in (*whole.values(), *variants) for run in runs]
    results = do(runs)
    auc = {
        id(run): float(result["metrics"]["auc"]) for run, result in zip(runs, results, strict=True)
    }
    rows: list[list[object]] = []
    for protocol, together in whole.items():
        for course in wanted.courses:
            mine = _of(course, together, auc)
            rows.append([protocol, "the whole", course, float(np.mean(mine)), None, ""])
            for variant, changed in zip(asked, variants, strict=True):
                if variant.protocol == protocol:
                    theirs = _of(course, changed, auc)
                    rows.append([protocol, variant.what, course, *_change(mine, theirs)])
    often = ", ".join(
        f"{len(runs) // len(wanted.courses)} under `{p}`" for p, runs in whole.items()
    )
    how = (
        f"AUC of Sequitur with one thing changed, mean over folds or draws ({often}); the "
        "change is against the whole on the same ones. A part earns its place if its removal "
        "lowers AUC by more than chance does."
    )
    texts = {
        "parts.md": f"# What each part of Sequitur is worth\n\n{how}\n\n"
        + markdown_table(HEADS, map(four_digits, rows)),
        "parts.csv": csv_text(HEADS, rows),
    }
    return results, Table("What each part is worth", HEADS, rows), texts


def variant_runs(
    wanted: Wanted, protocol: str, changes: Mapping[str, Any], *, repeats: int
) -> list[Run]:
    """Give the runs of Sequitur with something changed, on each set."""
    here = replace(wanted, protocol=protocol, repeats=repeats)
    return [replace(run, changes={**run.changes, **changes}) for run in plan([OURS], here)]


def _of(course: str, runs: Sequence[Run], auc: Mapping[int, float]) -> list[float]:
    return [auc[id(run)] for run in runs if run.course == course]


def _change(mine: Sequence[float], theirs: Sequence[float]) -> list[object]:
    change = np.subtract(theirs, mine)
    spread = f"{change.min():+.4f} to {change.max():+.4f}"
    return [float(np.mean(theirs)), float(change.mean()), spread]
