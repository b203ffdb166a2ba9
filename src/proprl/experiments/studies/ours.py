"""The race: Sequitur beside every other method, about pairs as people choose them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from proprl.errors import ProprlError
from proprl.experiments.running.outcome import Do, Outcome, Table, Wanted
from proprl.experiments.running.plan import experiment_settings, plan, table1_methods
from proprl.experiments.running.protocols import LEAK_FREE_FOLDS
from proprl.experiments.running.run import BACKGROUND, REFIT, Run, method_of, row_of
from proprl.experiments.running.store import of_course
from proprl.experiments.settings.published import METRICS
from proprl.experiments.show.comparison import Comparison, compare
from proprl.experiments.show.markdown import csv_text, markdown_table
from proprl.experiments.show.ours_lines import HEADS, OURS, own_lines
from proprl.experiments.show.recorded import ENCODER, recorded_cells
from proprl.experiments.show.whole_map_findings import commit
from proprl.experiments.studies.table1 import how_run, printed_table
from proprl.features.encoders import resolve_encoder

REFITTED = ("svm", "trees")
"""Who is also shown as it learns from as many labels as Sequitur does."""
SEEDS, OTHERS_SEEDS = 10, 3
"""Under published: of ours, and of the others."""
DRAWS = 5
"""Under new-concepts."""
COLUMNS = {
    "published": METRICS,
    "leak-free": (*METRICS, "ordered_share"),
    "new-concepts": METRICS,
}
LABELS = (
    "Sequitur learns from training and validation pairs, and chooses its threshold by scores of "
    "pairs that it had not learned from; the others learn from training pairs and choose on "
    "validation pairs. The paper's methods have the settings that were tuned for them on published "
    "validation rows, plain trees their defaults: see docs/reproducing.md."
)
REFIT_SAYS = (
    " *Refit on both*: fitted once to choose the threshold on validation pairs, then again on "
    "training and validation pairs."
)
BACKGROUND_SAYS = (
    " *With background*: it also learns from pairs without a label, as it usually does."
)
TAKEN = (
    "Test pairs may be among the background, as a user's fit would have them: then they were "
    "learned from as pairs that are no prerequisites. Means over the runs."
)
COUNTED = ("pairs", "scored", "scored_positives")
BACKGROUND_HEADS = ("set", "test pairs", "background", "test pairs in it", "of them prerequisites")
PAPERS = " `table1` shows {} with the settings of the papers instead."
MEANT = " The lines are meant for texts encoded by `{}`."


def ours(wanted: Wanted, do: Do) -> Outcome:
    """Show Sequitur beside the other methods under each protocol; say which lines it reaches."""
    if wanted.protocol != Wanted().protocol or wanted.repeats not in (1, Wanted().repeats):
        raise ProprlError(
            "ours runs every protocol, and each as often as it needs: leave out --protocol and "
            "--seeds, or take --quick"
        )
    ending = _ending(resolve_encoder(wanted.encoder))
    texts: dict[str, str] = {}
    tables, lines, results = [], [], []
    for protocol in COLUMNS:
        here = replace(wanted, protocol=protocol)
        found = do(race(here))
        results += found
        comparison = _compared(here, found)
        title, stem = f"Sequitur, {protocol}", f"ours-{protocol}{ending}"
        taken = _background_rows(found, here)
        about = f"## Background\n\n{TAKEN}\n\n{markdown_table(BACKGROUND_HEADS, taken)}"
        page = [f"# {title}", _how(here, comparison), comparison.markdown(), about]
        texts |= {
            f"{stem}.md": "\n\n".join(page),
            f"{stem}.csv": comparison.csv(),
            f"{stem}.tex": comparison.latex(),
        }
        tables += [printed_table(comparison, c, f"{title}: {c}") for c in here.courses]
        tables.append(Table(f"Background of Sequitur, {protocol}", BACKGROUND_HEADS, taken))
        lines += [goal.row() for goal in own_lines(protocol, found, here.courses)]
    if lines:
        title, when = (
            "# What Sequitur reaches on labelled pairs",
            f"{_when()}{MEANT.format(ENCODER)}",
        )
        page = [title, when, markdown_table(HEADS, lines)]
        texts[f"ours-lines{ending}.md"] = "\n\n".join(page)
        texts[f"ours-lines{ending}.csv"] = csv_text(HEADS, lines)
        tables.append(Table("Lines", HEADS, lines))
    return Outcome(results, tables, texts)


def race(wanted: Wanted) -> list[Run]:
    """Give the runs of one protocol: Sequitur's, and those of methods that are not recorded.

    A method that was asked for by name is run, whatever is recorded.
    """
    mine, theirs = _repeats(wanted)
    asked = [name for name in wanted.methods or REFITTED if name != OURS]
    recorded = {} if wanted.methods else {name for name, *_ in _recorded(wanted)}
    once = plan(asked, replace(wanted, repeats=theirs), tuned=True)
    own = plan([OURS], replace(wanted, repeats=mine))
    return [
        *(run for run in once if run.method not in recorded),
        *(replace(run, refit=True) for run in once if run.method in REFITTED),
        *own,
        *(replace(run, background="auto") for run in own),
    ]


def _compared(wanted: Wanted, results: Sequence[Mapping[str, Any]]) -> Comparison:
    recorded, run = _recorded(wanted), {row_of(result["run"]) for result in results}
    rows = {name for name, *_ in recorded} | run
    methods = [name for name in (*table1_methods(), "trees") if name in rows]
    methods += sorted(name for name in rows if name not in methods and method_of(name) != OURS)
    methods += [OURS, f"{OURS}+{BACKGROUND}"]
    settings = experiment_settings()
    words = {REFIT: "refit on both", BACKGROUND: "with background"}
    titles = {
        row: ", ".join([settings.title(name), *(words[word] for word in differs)])
        for row in methods
        for name, *differs in [row.split("+")]
    }
    return compare(
        results,
        methods=methods,
        courses=wanted.courses,
        metrics=COLUMNS[wanted.protocol],
        ours=OURS,
        titles=titles,
        recorded={key: cell for key, cell in recorded.items() if key[0] not in run},
    )


def _recorded(wanted: Wanted) -> Mapping[tuple[str, str, str], Any]:
    metrics, encoder = COLUMNS[wanted.protocol], resolve_encoder(wanted.encoder)
    return recorded_cells(wanted.protocol, wanted.courses, metrics, encoder)


def _repeats(wanted: Wanted) -> tuple[int, int]:
    """How often ours and the others are run; once each where one run was asked for."""
    if wanted.repeats == 1:
        return 1, 1
    return {
        "published": (SEEDS, OTHERS_SEEDS),
        "leak-free": (LEAK_FREE_FOLDS, LEAK_FREE_FOLDS),
        "new-concepts": (DRAWS, DRAWS),
    }[wanted.protocol]


def _how(wanted: Wanted, found: Comparison) -> str:
    mine, theirs = _repeats(wanted)
    text = f"{_when()} {how_run(replace(wanted, repeats=mine), resolve_encoder(wanted.encoder))} "
    text += LABELS + (REFIT_SAYS if any(REFIT in row for row in found.methods) else "")
    text += BACKGROUND_SAYS + ("" if mine == theirs else f" The other methods have {theirs} seeds.")
    settings = experiment_settings()
    shown = [settings.title(name) for name in found.methods if name in settings.as_published]
    if wanted.protocol == "published" and shown:
        text += PAPERS.format(" and ".join(shown))
    return text


def _background_rows(results: Sequence[Mapping[str, Any]], wanted: Wanted) -> list[list[str]]:
    """Count what was taken for background, and how many test pairs are among it: means."""
    rows = []
    for course in wanted.courses:
        with_it = [one for one in of_course(results, course) if BACKGROUND in one]
        counts = [
            [len(one["labels"]), *(one[BACKGROUND][what] for what in COUNTED)] for one in with_it
        ]
        rows.append([course, *(f"{mean:.1f}" for mean in np.mean(counts, axis=0))])
    return rows


def _when() -> str:
    return f"Written at commit {commit()} on {datetime.now(UTC).date().isoformat()}."


def _ending(encoder: str) -> str:
    """Give what files are called beside what the recorded encoder wrote.

    >>> _ending(ENCODER), _ending("wordllama")
    ('', '-wordllama')
    """
    return (
        "" if encoder == ENCODER else "-" + re.sub(r"[^a-z0-9]+", "-", encoder.lower()).strip("-")
    )
