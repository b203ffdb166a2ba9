"""What each fault of the public data is worth: the same methods with it and without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

import numpy as np

from proprl.data.public import BENCHMARKS
from proprl.evaluation.metrics import accuracy, auc
from proprl.experiments.running.outcome import Do, Outcome, Table, Wanted
from proprl.experiments.running.plan import PROPRL, title_of
from proprl.experiments.running.run import Run
from proprl.experiments.settings.published import NAMES
from proprl.experiments.show.grouping import Result, grouped
from proprl.experiments.show.pages import said, table_heads
from proprl.experiments.show.tables import csv_text, markdown_table
from proprl.features.encoders import resolve_encoder

FEW_METHODS = ("rf", "dgcpl", PROPRL)
FAULT_METRICS = ("accuracy", "auc")
MOST_REPEATS = 3

Values = Mapping[str, Sequence[float]]
"""By metric, one value of each run."""


@dataclass(frozen=True)
class Effect:
    """One metric of one method on one set, with a fault of the data and without it."""

    fault: str
    course: str
    method: str
    metric: str
    faulty: Sequence[float]
    sound: Sequence[float]

    @property
    def worth(self) -> float:
        """How much the fault adds to the metric, or takes from it."""
        return fmean(self.faulty) - fmean(self.sound)


def faults(wanted: Wanted, do: Do) -> Outcome:
    """Measure a few methods with and without each fault, and what a memoriser would reach.

    Networks run under their `default` preset: seconds a run, not minutes.
    """
    methods = wanted.methods or FEW_METHODS
    repeats = min(wanted.repeats, MOST_REPEATS)
    runs = list(_runs(wanted, methods, repeats))
    results = do(runs)
    found = grouped(results, "course", "method", "protocol", "alignment")
    effects = [
        Effect(fault, course, method, metric, faulty[metric], sound[metric])
        for course in wanted.courses
        for method in methods
        for metric in FAULT_METRICS
        for fault, faulty, sound in _compared(course, method, found)
    ]
    memorisers = [
        _memoriser_row(course, found[course, methods[0], "published", "fixed"][0])
        for course in wanted.courses
    ]
    title = "A memoriser of the training labels, on the published test rows"
    tables = [
        *_effect_tables(effects),
        Table(title, table_heads("faults", "memoriser"), memorisers),
    ]
    page = ["# Faults of the public data", said("faults", repeats=repeats, encoder=runs[0].encoder)]
    for table in tables:
        page += [f"## {table.title}", markdown_table(table.heads, table.rows).rstrip()]
    texts = {"faults.md": "\n\n".join(page) + "\n", "faults.csv": _csv(effects)}
    return Outcome(results, tables, texts)


def _runs(wanted: Wanted, methods: Sequence[str], repeats: int) -> Iterator[Run]:
    encoder = resolve_encoder(wanted.encoder)
    for course in wanted.courses:
        for name in methods:
            for alignment in ("fixed", "shifted") if course in BENCHMARKS else ("fixed",):
                for repeat in range(repeats):
                    run = Run(name, course, alignment=alignment, encoder=encoder)
                    yield replace(run, seed=repeat)
                    yield replace(run, protocol="leak-free", fold=repeat)


def _compared(
    course: str, method: str, found: Mapping[tuple[str, ...], Sequence[Result]]
) -> Iterator[tuple[str, Values, Values]]:
    """Give each fault with the values that were measured with it, and those without."""
    published = found[course, method, "published", "fixed"]
    leak_free = found[course, method, "leak-free", "fixed"]
    yield "Test rows seen in train", _values(published), _on_unseen_rows(published)
    yield "Published split against leak-free", _values(published), _values(leak_free)
    if course in BENCHMARKS:
        shifted = "Labels" if BENCHMARKS[course].labels_are_out else "Behaviour"
        for protocol, sound in (("published", published), ("leak-free", leak_free)):
            faulty = found[course, method, protocol, "shifted"]
            fault = f"{shifted} one row out, {protocol} split"
            yield fault, _values(faulty), _values(sound)


def _values(results: Sequence[Result]) -> Values:
    return {metric: [one["metrics"][metric] for one in results] for metric in FAULT_METRICS}


def _on_unseen_rows(results: Sequence[Result]) -> Values:
    """Judge the same runs by those test rows whose pair train holds in neither order."""
    found: dict[str, list[float]] = {metric: [] for metric in FAULT_METRICS}
    for result in results:
        unseen = np.array([answer is None for answer in result["memorised"]])
        labels = np.array(result["labels"])[unseen]
        scores = np.array(result["scores"]["forward"])[unseen]
        found["accuracy"].append(accuracy(labels, scores, result["threshold"]))
        found["auc"].append(auc(labels, scores))
    return found


def _memoriser_row(course: str, result: Result) -> list[object]:
    """Say how far looking up training labels gets on a set's published test rows.

    A row is seen if train holds its pair, in this order or the other. For the others a coin is
    thrown.
    """
    answered = list(zip(result["memorised"], result["labels"], strict=True))
    seen = [(answer, label) for answer, label in answered if answer is not None]
    right = sum(answer == label for answer, label in seen)
    share = (right + (len(answered) - len(seen)) / 2) / len(answered)
    unseen_positives = sum(label for answer, label in answered if answer is None)
    return [course, len(answered), len(seen), right, f"{share:.3f}", unseen_positives]


def _effect_tables(effects: Sequence[Effect]) -> list[Table]:
    """Give a table for each fault, with its sets and methods."""
    heads = ["set", "method"]
    heads += [f"{NAMES[m]} {what}" for m in FAULT_METRICS for what in ("with", "without", "worth")]
    tables: dict[str, dict[tuple[str, str], list[object]]] = {}
    for effect in effects:
        key = effect.course, title_of(effect.method)
        row = tables.setdefault(effect.fault, {}).setdefault(key, [])
        row += [_spread(effect.faulty), _spread(effect.sound), f"{effect.worth:+.3f}"]
    return [
        Table(fault, heads, [[*key, *row] for key, row in rows.items()])
        for fault, rows in tables.items()
    ]


def _spread(values: Sequence[float]) -> str:
    return f"{fmean(values):.3f} ± {_deviation(values):.3f}"


def _deviation(values: Sequence[float]) -> float:
    return stdev(values) if len(values) > 1 else 0.0


def _csv(effects: Sequence[Effect]) -> str:
    rows = [
        [
            *(e.fault, e.course, e.method, e.metric),
            *(fmean(e.faulty), _deviation(e.faulty), fmean(e.sound), _deviation(e.sound)),
            *(e.worth, len(e.faulty)),
        ]
        for e in effects
    ]
    return csv_text(table_heads("faults", "csv"), rows)
