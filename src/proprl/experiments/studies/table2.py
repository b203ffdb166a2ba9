"""Table 2: ProPRL with one part removed."""

from __future__ import annotations

from proprl.experiments.running.outcome import Do, Outcome, Wanted
from proprl.experiments.running.plan import ABLATIONS
from proprl.experiments.settings.published import published
from proprl.experiments.show.method_table import method_table


def table2(wanted: Wanted, do: Do) -> Outcome:
    """Compare ProPRL with its ablations, by F1 and AUC; the paper has F1 only."""
    methods = wanted.methods or ABLATIONS
    return method_table("Table 2", methods, ("f1", "auc"), published().ablation, wanted, do)
