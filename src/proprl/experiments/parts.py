"""What each part of Sequitur is worth: the whole, and the whole with one part removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from proprl.evaluation.significance import bootstrap_interval
from proprl.experiments.experiment import Do, Table, Wanted
from proprl.experiments.plans import plan
from proprl.experiments.runs import FOLDS, Run
from proprl.experiments.texts import csv_text, markdown_table

OURS = "sequitur"
SEEDS = 5
"""Under published, where a variant is compared there."""


@dataclass(frozen=True)
class Removal:
    """A part, how to remove it, and the protocol under which it can matter."""

    part: str
    changes: Mapping[str, Any]
    protocol: str = "leak-free"


REMOVALS = (
    Removal("the labels of other pairs", {"sources": "course"}),
    Removal("the course: texts, moves, resources", {"sources": "labels"}),
    Removal("the trees", {"members": ("line",)}),
    Removal("the line", {"members": ("trees",)}),
    Removal("lessons about newcomers", {"newcomers": False}),
    # Under leak-free a reverse is never known.
    Removal("known labels of reverses", {"reverse_labels": False}, "published"),
)
HEADS = ("protocol", "without", "set", "AUC", "change", "95 % interval of the change")


def parts(wanted: Wanted, do: Do) -> tuple[list[dict[str, Any]], Table, dict[str, str]]:
    """Run the whole and every variant; give the results, a table and its files."""
    whole = {p: _runs(wanted, p, {}) for p in ("leak-free", "published")}
    variants = [_runs(wanted, removal.protocol, removal.changes) for removal in REMOVALS]
    runs = [*whole["leak-free"], *whole["published"], *(run for runs in variants for run in runs)]
    results = do(runs)
    auc = {
        id(run): float(result["metrics"]["auc"]) for run, result in zip(runs, results, strict=True)
    }
    rows: list[list[object]] = []
    for protocol, together in whole.items():
        for course in wanted.courses:
            mine = _of(course, together, auc)
            rows.append([protocol, "nothing", course, float(np.mean(mine)), None, ""])
            for removal, without in zip(REMOVALS, variants, strict=True):
                if removal.protocol == protocol:
                    theirs = _of(course, without, auc)
                    rows.append([protocol, removal.part, course, *_change(mine, theirs)])
    shown = [
        [f"{cell:.4f}" if isinstance(cell, float) else str(cell or "") for cell in row]
        for row in rows
    ]
    how = (
        "AUC of Sequitur with one part removed, mean over 10 folds under `leak-free` and "
        f"{SEEDS} seeds under `published`; the change is against the whole on the same folds or "
        "seeds. A part whose removal lowers AUC earns its place."
    )
    texts = {
        "ours-parts.md": f"# What each part of Sequitur is worth\n\n{how}\n\n"
        + markdown_table(HEADS, shown),
        "ours-parts.csv": csv_text(HEADS, rows),
    }
    return results, Table("What each part is worth", HEADS, rows), texts


def _runs(wanted: Wanted, protocol: str, changes: Mapping[str, Any]) -> list[Run]:
    repeats = 1 if wanted.repeats == 1 else {"leak-free": FOLDS, "published": SEEDS}[protocol]
    here = replace(wanted, protocol=protocol, repeats=repeats)
    return [replace(run, changes={**run.changes, **changes}) for run in plan([OURS], here)]


def _of(course: str, runs: Sequence[Run], auc: Mapping[int, float]) -> list[float]:
    return [auc[id(run)] for run in runs if run.course == course]


def _change(mine: Sequence[float], theirs: Sequence[float]) -> list[object]:
    change = np.subtract(theirs, mine)
    low, high = bootstrap_interval(change)
    return [float(np.mean(theirs)), float(change.mean()), f"[{low:+.4f}, {high:+.4f}]"]
