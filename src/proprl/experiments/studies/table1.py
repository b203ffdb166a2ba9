"""Table 1: every method of the paper, by set and metric."""

from __future__ import annotations

from proprl.experiments.running.outcome import Do, Outcome, Wanted
from proprl.experiments.running.plan import ABLATIONS, NOT_OF_A_PAPER, PROPRL
from proprl.experiments.settings.published import METRICS, published
from proprl.experiments.show.method_table import method_table
from proprl.models.registry import METHODS


def table1(wanted: Wanted, do: Do) -> Outcome:
    """Compare every method of the paper, on each set."""
    methods = wanted.methods or table1_methods()
    return method_table("Table 1", methods, METRICS, published().cell, wanted, do)


def table1_methods() -> tuple[str, ...]:
    """Give the paper's methods in the registry's order, its own last."""
    others = [name for name in METHODS if name not in (*NOT_OF_A_PAPER, *ABLATIONS)]
    return (*others, PROPRL)
