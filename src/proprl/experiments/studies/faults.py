"""What each fault of the public data is worth: the same methods with it and without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from proprl.data.public import BENCHMARKS
from proprl.evaluation.metrics import accuracy, auc
from proprl.experiments.running.plan import PROPRL, Wanted
from proprl.experiments.running.run import Result, Run
from proprl.experiments.settings.methods import title_of
from proprl.experiments.settings.published import NAMES
from proprl.experiments.show.pages import Do, Outcome, page, said, table_heads
from proprl.experiments.show.tables import Table, csv_text, grouped
from proprl.features.encoders import resolve_encoder

FEW_METHODS = ("rf", "dgcpl", PROPRL)
FAULT_METRICS = ("accuracy", "auc")
MOST_REPEATS = 3

Values = Mapping[str, Sequence[float]]
"""The values of each metric, one for each run."""


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
        [fault, course, method, metric, *_effect(faulty[metric], sound[metric])]
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
    memoriser = Table(title, table_heads("faults", "memoriser"), memorisers)
    tables = [*_effect_tables(effects), memoriser]
    how = said("faults", repeats=repeats, encoder=runs[0].encoder)
    sections = [table.section() for table in tables]
    texts = {
        "faults.md": page("# Faults of the public data", how, *sections),
        "faults.csv": csv_text(table_heads("faults", "csv"), effects),
    }
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
    """Judge the same runs by the test rows whose pair train holds in neither order."""
    found: dict[str, list[float]] = {metric: [] for metric in FAULT_METRICS}
    for result in results:
        unseen = np.array([answer is None for answer in result["memorised"]])
        labels = np.array(result["labels"])[unseen]
        scores = np.array(result["scores"]["forward"])[unseen]
        found["accuracy"].append(accuracy(labels, scores, result["threshold"]))
        found["auc"].append(auc(labels, scores))
    return found


def _effect(faulty: Sequence[float], sound: Sequence[float]) -> list[float]:
    """Give mean and deviation with a fault and without it, what the fault adds, how many runs."""
    with_it, without = (
        [float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0]
        for values in (faulty, sound)
    )
    return [*with_it, *without, with_it[0] - without[0], len(faulty)]


def _memoriser_row(course: str, result: Result) -> list[object]:
    """Count what someone gets right who only looks up training labels, on published test rows.

    A row is seen if train holds its pair, in this order or the other. The other rows are guessed
    by a coin.
    """
    answered = list(zip(result["memorised"], result["labels"], strict=True))
    seen = [(answer, label) for answer, label in answered if answer is not None]
    right = sum(answer == label for answer, label in seen)
    share = (right + (len(answered) - len(seen)) / 2) / len(answered)
    unseen_positives = sum(label for answer, label in answered if answer is None)
    return [course, len(answered), len(seen), right, f"{share:.3f}", unseen_positives]


def _effect_tables(effects: Sequence[Sequence[object]]) -> list[Table]:
    """Give a table for each fault, with its sets and methods."""
    heads = ["set", "method"]
    heads += [f"{NAMES[m]} {what}" for m in FAULT_METRICS for what in ("with", "without", "worth")]
    frame = pl.DataFrame(effects, table_heads("faults", "csv"), orient="row")
    tables = []
    for (fault,), of_fault in frame.group_by("fault", maintain_order=True):
        rows = []
        for (course, method), lines in of_fault.group_by("course", "method", maintain_order=True):
            cells: list[str] = []
            for *_, mean, spread, sound, sound_spread, worth, _ in lines.iter_rows():
                both = f"{mean:.3f} ± {spread:.3f}", f"{sound:.3f} ± {sound_spread:.3f}"
                cells += [*both, f"{worth:+.3f}"]
            rows.append([course, title_of(str(method)), *cells])
        tables.append(Table(str(fault), heads, rows))
    return tables
