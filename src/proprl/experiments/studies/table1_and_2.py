"""Table 1: every method of the paper. Table 2: ProPRL with one part removed."""

from __future__ import annotations

from collections.abc import Sequence

from proprl.experiments.running.plan import ABLATIONS, TABLE_1, Wanted, plan
from proprl.experiments.settings.published import METRICS
from proprl.experiments.show.comparison import compare, how_compared
from proprl.experiments.show.pages import Do, Outcome, page


def table1(wanted: Wanted, do: Do) -> Outcome:
    """Compare every method of the paper, on each set."""
    return _method_table("Table 1", wanted.methods or TABLE_1, METRICS, wanted, do)


def table2(wanted: Wanted, do: Do) -> Outcome:
    """Compare ProPRL with its ablations, by F1 and AUC; the paper has F1 only."""
    return _method_table("Table 2", wanted.methods or ABLATIONS, ("f1", "auc"), wanted, do)


def _method_table(
    title: str, methods: Sequence[str], metrics: Sequence[str], wanted: Wanted, do: Do
) -> Outcome:
    """Run the methods, and give their table beside the paper's numbers."""
    runs = plan(methods, wanted)
    results = do(runs)
    name = title.replace(" ", "").lower()
    found = compare(results, methods, metrics, wanted, paper=name)
    heading, stem = f"{title}, {wanted.protocol}", f"{name}-{wanted.protocol}"
    how = how_compared(wanted, runs[0].encoder)
    texts = {
        f"{stem}.md": page(f"# {heading}", how, found.markdown()),
        f"{stem}.tex": found.latex(),
        f"{stem}.csv": found.csv(),
    }
    return Outcome(results, found.tables(heading), texts)
