"""Table 1: every method of the paper, by set and metric."""

from __future__ import annotations

from proprl.experiments.running.outcome import Do, Outcome, Wanted
from proprl.experiments.running.plan import table1_methods
from proprl.experiments.settings.published import METRICS, published
from proprl.experiments.show.method_table import method_table


def table1(wanted: Wanted, do: Do) -> Outcome:
    """Compare every method of the paper, on each set."""
    methods = wanted.methods or table1_methods()
    return method_table("Table 1", methods, METRICS, published().cell, wanted, do)
