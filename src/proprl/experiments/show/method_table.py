"""A table of methods by set and metric, ProPRL held against the best other one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from proprl.evaluation.significance import RESAMPLES
from proprl.experiments.running.outcome import Do, Outcome, Table, Wanted
from proprl.experiments.running.plan import PROPRL, experiment_settings, plan
from proprl.experiments.settings.published import NAMES
from proprl.experiments.show.comparison import Comparison, Lookup, compare
from proprl.experiments.show.grouping import Result
from proprl.experiments.show.pages import said


def method_table(
    title: str,
    methods: Sequence[str],
    metrics: Sequence[str],
    paper: Lookup,
    wanted: Wanted,
    do: Do,
) -> Outcome:
    """Run the methods, and give their table beside the paper's numbers."""
    runs = plan(methods, wanted)
    results = do(runs)
    found = compared(results, methods, metrics, paper, wanted)
    heading = f"{title}, {wanted.protocol}"
    stem = f"{title.replace(' ', '').lower()}-{wanted.protocol}"
    page = [f"# {heading}", how_compared(wanted, runs[0].encoder), found.markdown()]
    texts = {
        f"{stem}.md": "\n\n".join(page),
        f"{stem}.tex": found.latex(),
        f"{stem}.csv": found.csv(),
    }
    return Outcome(results, printed_tables(found, heading), texts)


def compared(
    results: Iterable[Result],
    methods: Sequence[str],
    metrics: Sequence[str],
    paper: Lookup,
    wanted: Wanted,
) -> Comparison:
    """Compare methods; the paper's numbers stand beside them under its own protocol."""
    return compare(
        results,
        methods=methods,
        courses=wanted.courses,
        metrics=metrics,
        ours=PROPRL if PROPRL in methods else None,
        paper=paper if wanted.protocol == "published" else None,
        titles=experiment_settings().titles,
    )


def how_compared(wanted: Wanted, encoder: str) -> str:
    """Say in words what a table's numbers are."""
    repeats = said("comparison", wanted.protocol, repeats=wanted.repeats)
    return said("comparison", repeats=repeats, encoder=encoder, tested=how_tested())


def how_tested() -> str:
    """Say in words what p-values are of."""
    return said("comparison", "tested", resamples=RESAMPLES)


def printed_tables(found: Comparison, title: str) -> list[Table]:
    """Give a table for each set; all of them side by side are too wide for a terminal."""
    tables = []
    for course in found.courses:
        papers = [m for m in found.metrics if found.has_paper(course, m)]
        heads = ["method", *(NAMES[m] for m in found.metrics)]
        heads += [f"paper {NAMES[m]}" for m in papers]
        rows = []
        for name in found.methods:
            means = [found.cells[name, course, m].mean for m in found.metrics]
            beside = [found.cells[name, course, m].paper for m in papers]
            rows.append([found.title(name), *means, *beside])
        tables.append(Table(f"{title}: {course}", heads, rows))
    return tables
