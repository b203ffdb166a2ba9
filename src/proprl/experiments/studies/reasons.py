"""Whether reasons are faithful: what they name decides more than as many other pieces near by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from proprl.errors import ProprlError
from proprl.experiments.running.plan import SEQUITUR, Wanted
from proprl.experiments.running.reasons import DRAWS
from proprl.experiments.running.run import REASONS, Run
from proprl.experiments.settings.published import SETS
from proprl.experiments.show.pages import Do, Outcome, page, said, table_heads
from proprl.experiments.show.tables import Table, csv_text, markdown_table
from proprl.features.encoders import resolve_encoder

FIELDS = (
    "untold_share",
    "named",
    "others",
    "moved_by_named",
    "moved_by_others",
    "moved_by_any",
    "kept",
    "seconds",
)


def reasons(wanted: Wanted, do: Do) -> Outcome:
    """Remove what explanations name, or other pieces, and see how far answers move.

    Each seed looks at 20 believed and 20 other pairs more.
    """
    if wanted.methods not in (None, [SEQUITUR]):
        raise ProprlError(f"only {SEQUITUR} names pieces of evidence: leave out --method")
    encoder = resolve_encoder(wanted.encoder)
    courses = wanted.asked_courses or (*SETS, "campus")
    runs = [
        Run(SEQUITUR, course, REASONS, seed=seed, encoder=encoder, background="auto")
        for course in courses
        for seed in range(wanted.repeats)
    ]
    results = do(runs)
    every = [(result["run"]["course"], pair) for result in results for pair in result["pairs"]]
    rows = [
        _row(
            course,
            believed,
            [p for name, p in every if (name, p["believed"]) == (course, believed)],
        )
        for course in courses
        for believed in (True, False)
    ]
    table = Table("Are reasons faithful?", table_heads("reasons"), [row for row in rows if row])
    lines = [[name, pair["believed"], *(pair[field] for field in FIELDS)] for name, pair in every]
    texts = {
        "reasons.md": page(
            "# Are reasons faithful?",
            markdown_table(table.heads, table.rows),
            said("reasons", draws=DRAWS, encoder=encoder),
        ),
        "reasons.csv": csv_text(["course", "believed", *FIELDS], lines),
    }
    return Outcome(results, [table], texts)


def _row(course: str, believed: bool, pairs: Sequence[dict[str, Any]]) -> list[object]:
    """Give medians over pairs, and the share of pairs that keep their verdict."""
    if not pairs:
        return []
    found = {field: np.array([pair[field] for pair in pairs], dtype=np.float64) for field in FIELDS}
    return [
        course,
        "believed" if believed else "not believed",
        len(pairs),
        f"{times_as_far(found['moved_by_named'], found['moved_by_others']):.1f}",
        f"{times_as_far(found['moved_by_named'], found['moved_by_any']):.1f}",
        *(f"{np.median(found[name]):.2f}" for name in ("moved_by_named", "moved_by_others")),
        *(f"{np.median(found[name]):.0f}" for name in ("named", "others")),
        f"{found['kept'].mean():.0%}",
        f"{np.median(found['untold_share']):.0%}",
        f"{np.median(found['seconds']):.1f}",
    ]


def times_as_far(named: Any, others: Any) -> float:
    """Give the median over pairs of how many times as far the one moves as the other.

    A pair where neither moves anything says nothing.

    >>> times_as_far(np.array([2.0, 3.0, 0.0]), np.array([1.0, 1.0, 0.0]))
    2.5
    """
    tells = (named > 0) | (others > 0)
    with np.errstate(divide="ignore"):
        return float(np.median(named[tells] / others[tells])) if tells.any() else float("nan")
