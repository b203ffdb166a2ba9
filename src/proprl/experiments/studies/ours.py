"""Sequitur beside every other method, on pairs as people choose them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from proprl.errors import ProprlError
from proprl.experiments.running.outcome import Do, Outcome, Table, Wanted
from proprl.experiments.running.plan import SEQUITUR, experiment_settings, plan, title_of
from proprl.experiments.running.protocols import LEAK_FREE_FOLDS
from proprl.experiments.running.run import BACKGROUND, REFIT, Run, method_of, row_of
from proprl.experiments.settings.published import METRICS
from proprl.experiments.show.commit import commit
from proprl.experiments.show.comparison import Cell, Comparison, Key, compare
from proprl.experiments.show.grouping import Result, of_course
from proprl.experiments.show.lines import PAIR_LINE_HEADS, pair_lines
from proprl.experiments.show.method_table import how_compared, printed_tables
from proprl.experiments.show.pages import said
from proprl.experiments.show.recorded import RECORDED_ENCODER, recorded_cells
from proprl.experiments.show.tables import csv_text, markdown_table
from proprl.experiments.studies.table1 import table1_methods
from proprl.features.encoders import resolve_encoder

REFITTED = ("svm", "trees")
"""Methods that are also shown refit: they then learn from as many labels as Sequitur."""
MEASURED: Mapping[str, tuple[Sequence[str], int, int]] = {
    "published": (METRICS, 10, 3),
    "leak-free": ((*METRICS, "ordered_share"), LEAK_FREE_FOLDS, LEAK_FREE_FOLDS),
    "new-concepts": (METRICS, 5, 5),
}
"""By protocol: the metrics, and how often Sequitur and how often the others are run."""
RUNS_COUNTED = ("pairs", "scored", "scored_positives")
BACKGROUND_HEADS = ("set", "test pairs", "background", "test pairs in it", "of them prerequisites")


def ours(wanted: Wanted, do: Do) -> Outcome:
    """Show Sequitur beside the other methods under each protocol; say which lines it reaches."""
    if wanted.protocol != Wanted().protocol or wanted.repeats not in (1, Wanted().repeats):
        raise ProprlError(
            "ours runs every protocol, and each as often as it needs: leave out --protocol and "
            "--seeds, or take --quick"
        )
    ending = _ending(resolve_encoder(wanted.encoder))
    when = f"Written at commit {commit()} on {datetime.now(UTC).date().isoformat()}."
    texts: dict[str, str] = {}
    tables, lines, results = [], [], []
    for protocol in MEASURED:
        here = replace(wanted, protocol=protocol)
        found = do(ours_plan(here))
        results += found
        comparison = _compared(here, found)
        title, stem = f"Sequitur, {protocol}", f"ours-{protocol}{ending}"
        taken = _background_rows(found, here)
        about = said("ours", "taken", table=markdown_table(BACKGROUND_HEADS, taken))
        page = [f"# {title}", f"{when} {_how(here, comparison)}", comparison.markdown(), about]
        texts |= {
            f"{stem}.md": "\n\n".join(page),
            f"{stem}.csv": comparison.csv(),
            f"{stem}.tex": comparison.latex(),
        }
        tables += printed_tables(comparison, title)
        tables.append(Table(f"Background of Sequitur, {protocol}", BACKGROUND_HEADS, taken))
        lines += [line.row() for line in pair_lines(protocol, found, here.courses)]
    if lines:
        table = markdown_table(PAIR_LINE_HEADS, lines)
        texts[f"ours-lines{ending}.md"] = said(
            "ours", "lines", when=when, encoder=RECORDED_ENCODER, table=table
        )
        texts[f"ours-lines{ending}.csv"] = csv_text(PAIR_LINE_HEADS, lines)
        tables.append(Table("Lines", PAIR_LINE_HEADS, lines))
    return Outcome(results, tables, texts)


def ours_plan(wanted: Wanted) -> list[Run]:
    """Give the runs of one protocol: Sequitur's, and those of methods that are not recorded.

    A method that was asked for by name is run, whatever is recorded.
    """
    mine, theirs = _repeats(wanted)
    asked = [name for name in wanted.methods or REFITTED if name != SEQUITUR]
    recorded = {} if wanted.methods else {name for name, *_ in _recorded(wanted)}
    once = plan(asked, replace(wanted, repeats=theirs), tuned=True)
    own = plan([SEQUITUR], replace(wanted, repeats=mine))
    return [
        *(run for run in once if run.method not in recorded),
        *(replace(run, refit=True) for run in once if run.method in REFITTED),
        *own,
        *(replace(run, background="auto") for run in own),
    ]


def _compared(wanted: Wanted, results: Sequence[Result]) -> Comparison:
    recorded, run = _recorded(wanted), {row_of(result["run"]) for result in results}
    rows = {name for name, *_ in recorded} | run
    methods = [name for name in (*table1_methods(), "trees") if name in rows]
    methods += sorted(name for name in rows if name not in methods and method_of(name) != SEQUITUR)
    methods += [SEQUITUR, f"{SEQUITUR}+{BACKGROUND}"]
    words = {REFIT: "refit on both", BACKGROUND: "with background"}
    titles = {
        row: ", ".join([title_of(name), *(words[word] for word in differs)])
        for row in methods
        for name, *differs in [row.split("+")]
    }
    return compare(
        results,
        methods=methods,
        courses=wanted.courses,
        metrics=MEASURED[wanted.protocol][0],
        ours=SEQUITUR,
        titles=titles,
        recorded={key: cell for key, cell in recorded.items() if key[0] not in run},
    )


def _recorded(wanted: Wanted) -> Mapping[Key, Cell]:
    metrics, encoder = MEASURED[wanted.protocol][0], resolve_encoder(wanted.encoder)
    return recorded_cells(wanted.protocol, wanted.courses, metrics, encoder)


def _repeats(wanted: Wanted) -> tuple[int, int]:
    """Say how often Sequitur and the others are run; once each where one run was asked for."""
    _, mine, theirs = MEASURED[wanted.protocol]
    return (1, 1) if wanted.repeats == 1 else (mine, theirs)


def _how(wanted: Wanted, found: Comparison) -> str:
    mine, theirs = _repeats(wanted)
    encoder = resolve_encoder(wanted.encoder)
    text = [how_compared(replace(wanted, repeats=mine), encoder), said("ours", "learned")]
    if any(REFIT in row for row in found.methods):
        text.append(said("ours", "refit"))
    text.append(said("ours", "background"))
    if mine != theirs:
        text.append(said("ours", "seeds", seeds=theirs))
    as_published = experiment_settings().as_published
    shown = [title_of(name) for name in found.methods if name in as_published]
    if wanted.protocol == "published" and shown:
        text.append(said("ours", "papers", titles=" and ".join(shown)))
    return " ".join(text)


def _background_rows(results: Sequence[Result], wanted: Wanted) -> list[list[str]]:
    """Count what was taken for background, and how many test pairs are among it: means."""
    rows = []
    for course in wanted.courses:
        counts = [
            [len(one["labels"]), *(one[BACKGROUND][what] for what in RUNS_COUNTED)]
            for one in of_course(results, course)
            if BACKGROUND in one
        ]
        rows.append([course, *(f"{mean:.1f}" for mean in np.mean(counts, axis=0))])
    return rows


def _ending(encoder: str) -> str:
    """Give the ending of file names: none for the recorded encoder, else the encoder's name.

    >>> _ending(RECORDED_ENCODER), _ending("wordllama")
    ('', '-wordllama')
    """
    if encoder == RECORDED_ENCODER:
        return ""
    return "-" + re.sub(r"[^a-z0-9]+", "-", encoder.lower()).strip("-")
