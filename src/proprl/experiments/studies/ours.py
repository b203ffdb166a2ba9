"""Sequitur beside every other method, on pairs as people choose them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO

import numpy as np
import polars as pl

from proprl.errors import ProprlError
from proprl.experiments.running.plan import SEQUITUR, TABLE_1, Wanted, plan
from proprl.experiments.running.protocols import LEAK_FREE_FOLDS
from proprl.experiments.running.run import BACKGROUND, REFIT, Result, Run, method_of, row_of
from proprl.experiments.settings.load import packaged_text
from proprl.experiments.settings.methods import AS_PUBLISHED, title_of
from proprl.experiments.settings.published import METRICS, SETS
from proprl.experiments.show.comparison import Cell, Comparison, Key, compare, how_compared
from proprl.experiments.show.lines import PAIR_LINE_HEADS, pair_lines
from proprl.experiments.show.pages import Do, Outcome, commit, page, said
from proprl.experiments.show.tables import Table, csv_text, grouped, markdown_table
from proprl.features.encoders import MINILM, resolve_encoder

RECORDED_ENCODER = f"sentence-transformers:{MINILM}"
"""The encoder of the recorded runs."""
REFITTED = ("svm", "trees")
"""Methods that are also refit, so that they learn from as many labels as Sequitur."""
MEASURED: Mapping[str, tuple[Sequence[str], int, int]] = {
    "published": (METRICS, 10, 3),
    "leak-free": ((*METRICS, "ordered_share"), LEAK_FREE_FOLDS, LEAK_FREE_FOLDS),
    "new-concepts": (METRICS, 5, 5),
}
"""By protocol: the metrics, the repeats of Sequitur, and those of the other methods."""
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
    tables: list[Table] = []
    lines: list[list[str]] = []
    results: list[Result] = []
    for protocol in MEASURED:
        here = replace(wanted, protocol=protocol)
        found = do(ours_plan(here))
        results += found
        comparison = _compared(here, found)
        title, stem = f"Sequitur, {protocol}", f"ours-{protocol}{ending}"
        taken = _background_rows(found, here)
        about = said("ours", "taken", table=markdown_table(BACKGROUND_HEADS, taken))
        how = f"{when} {_how(here, comparison)}"
        texts |= {
            f"{stem}.md": page(f"# {title}", how, comparison.markdown(), about),
            f"{stem}.csv": comparison.csv(),
            f"{stem}.tex": comparison.latex(),
        }
        tables += comparison.tables(title)
        tables.append(Table(f"Background of Sequitur, {protocol}", BACKGROUND_HEADS, taken))
        lines += pair_lines(protocol, found, here.courses)
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
    recorded = {} if wanted.methods else {name for name, *_ in recorded_cells(wanted)}
    once = plan(asked, replace(wanted, repeats=theirs), tuned=True)
    own = plan([SEQUITUR], replace(wanted, repeats=mine))
    return [
        *(run for run in once if run.method not in recorded),
        *(replace(run, refit=True) for run in once if run.method in REFITTED),
        *own,
        *(replace(run, background="auto") for run in own),
    ]


def recorded_cells(wanted: Wanted) -> dict[Key, Cell]:
    """Give the cells of the paper's methods, which were measured before and need not be run again.

    `recorded.csv` holds what they came to on each public set under each protocol, with the
    settings that were tuned for them. They have not changed since the commit beside each number.
    With other courses or another encoder there is nothing to show.
    """
    if resolve_encoder(wanted.encoder) != RECORDED_ENCODER or not set(wanted.courses) <= set(SETS):
        return {}
    text = StringIO(packaged_text("recorded.csv"))
    rows = pl.read_csv(text, schema_overrides={"commit": pl.String})
    asked = rows.filter(pl.col("course").is_in(wanted.courses), protocol=wanted.protocol)
    return {
        (row.pop("method"), row.pop("course"), row.pop("metric")): Cell(**row)
        for row in asked.drop("protocol").iter_rows(named=True)
    }


def _compared(wanted: Wanted, results: Sequence[Result]) -> Comparison:
    recorded, run = recorded_cells(wanted), {row_of(result["run"]) for result in results}
    rows = {name for name, *_ in recorded} | run
    methods = [name for name in (*TABLE_1, "trees") if name in rows]
    methods += sorted(name for name in rows if name not in methods and method_of(name) != SEQUITUR)
    methods += [SEQUITUR, f"{SEQUITUR}+{BACKGROUND}"]
    not_run = {key: cell for key, cell in recorded.items() if key[0] not in run}
    metrics = MEASURED[wanted.protocol][0]
    return compare(results, methods, metrics, wanted, ours=SEQUITUR, recorded=not_run)


def _repeats(wanted: Wanted) -> tuple[int, int]:
    """Give the repeats of Sequitur and of the others; 1 for both where one was asked for."""
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
    shown = [title_of(name) for name in found.methods if name in AS_PUBLISHED]
    if wanted.protocol == "published" and shown:
        text.append(said("ours", "papers", titles=" and ".join(shown)))
    return " ".join(text)


def _background_rows(results: Sequence[Result], wanted: Wanted) -> list[list[str]]:
    """Give, for each set, the mean sizes of the background and of its overlap with the test."""
    rows = []
    with_it = grouped((one for one in results if BACKGROUND in one), "course")
    for course in wanted.courses:
        counts = [
            [len(one["labels"]), *(one[BACKGROUND][what] for what in RUNS_COUNTED)]
            for one in with_it[course,]
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
