"""Tables 1 and 2: methods by set and metric, and ProPRL with one part removed."""

from __future__ import annotations

from collections.abc import Sequence

from proprl.evaluation.significance import RESAMPLES
from proprl.experiments.running.outcome import Do, Outcome, Table, Wanted
from proprl.experiments.running.plan import ABLATIONS, experiment_settings, plan, table1_methods
from proprl.experiments.settings.published import METRICS, NAMES, published
from proprl.experiments.show.comparison import Comparison, Lookup, compare

OURS = "proprl"
HOW_TESTED = (
    f"p-values (one-sided, Holm-corrected) come from {RESAMPLES:,} resamples of the test pairs, "
    "the same for both methods: they speak of other pairs, not of other fits."
)


def table1(wanted: Wanted, do: Do) -> Outcome:
    """Compare every method of the paper, on each set."""
    methods = wanted.methods or table1_methods()
    return _compared("table1", methods, METRICS, wanted, do, published().cell)


def table2(wanted: Wanted, do: Do) -> Outcome:
    """Compare ProPRL with its ablations, by F1 and AUC; the paper has F1 only."""
    methods = wanted.methods or ABLATIONS
    return _compared("table2", methods, ("f1", "auc"), wanted, do, published().ablation)


def _compared(
    name: str,
    methods: Sequence[str],
    metrics: Sequence[str],
    wanted: Wanted,
    do: Do,
    paper: Lookup,
) -> Outcome:
    runs = plan(methods, wanted)
    results = do(runs)
    found = compare(
        results,
        methods=methods,
        courses=wanted.courses,
        metrics=metrics,
        ours=OURS if OURS in methods else None,
        paper=paper if wanted.protocol == "published" else None,
        titles=experiment_settings().titles,
    )
    stem = f"{name}-{wanted.protocol}"
    texts = {
        f"{stem}.md": f"# {_heading(name, wanted)}\n\n{how_run(wanted, runs[0].encoder)}\n\n"
        + found.markdown(),
        f"{stem}.tex": found.latex(),
        f"{stem}.csv": found.csv(),
    }
    tables = [printed_table(found, c, f"{_heading(name, wanted)}: {c}") for c in wanted.courses]
    return Outcome(results, tables, texts)


def _heading(name: str, wanted: Wanted) -> str:
    return f"{name.capitalize().replace('e1', 'e 1').replace('e2', 'e 2')}, {wanted.protocol}"


def how_run(wanted: Wanted, encoder: str) -> str:
    """Say in words what a table's numbers are."""
    repeats = {
        "published": f"{wanted.repeats} seeds on the published rows",
        "leak-free": f"{wanted.repeats} folds without repeats, both orders of a pair in one fold",
        "new-concepts": f"{wanted.repeats} draws of concepts that no training pair holds",
    }[wanted.protocol]
    return (
        f"Mean ± standard deviation over {repeats}, with 95 % bootstrap interval; bold: the best "
        f"mean. Data faults repaired; texts encoded by `{encoder}`; each run on one thread. "
        f"{HOW_TESTED}"
    )


def printed_table(found: Comparison, course: str, title: str) -> Table:
    """Give one set's table; all of them side by side are too wide for a terminal."""
    heads = ["method", *(NAMES[m] for m in found.metrics)]
    papers = [m for m in found.metrics if found.has_paper(course, m)]
    heads += [f"paper {NAMES[m]}" for m in papers]
    rows = []
    for method in found.methods:
        cells = [found.cells[method, course, m] for m in found.metrics]
        beside = [found.cells[method, course, m].paper for m in papers]
        rows.append([found.title(method), *(cell.mean for cell in cells), *beside])
    return Table(title, heads, rows)
