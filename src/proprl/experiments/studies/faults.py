"""What each fault of the public data is worth: the same methods with it and without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

import numpy as np

from proprl.data.public import BENCHMARKS
from proprl.evaluation.metrics import accuracy, auc
from proprl.experiments.running.outcome import Do, Outcome, Table, Wanted
from proprl.experiments.running.plan import experiment_settings
from proprl.experiments.running.run import Run
from proprl.experiments.settings.published import NAMES
from proprl.experiments.show.markdown import csv_text, markdown_table
from proprl.features.encoders import resolve_encoder

METHODS = ("rf", "dgcpl", "proprl")
METRICS = ("accuracy", "auc")
REPEATS = 3

Results = Mapping[tuple[str, str, str, str], Sequence[Mapping[str, Any]]]
"""By course, method, protocol and alignment."""


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


@dataclass(frozen=True)
class Memoriser:
    """How far looking up training labels gets on a set's published test rows."""

    course: str
    rows: int
    seen: int
    """Rows whose pair train holds, in this order or the other."""
    right: int
    """Seen rows that a memoriser answers rightly."""
    unseen_positives: int

    @property
    def accuracy(self) -> float:
        """Its accuracy on all rows, with a coin thrown for those it has not seen."""
        return (self.right + (self.rows - self.seen) / 2) / self.rows


def faults(wanted: Wanted, do: Do) -> Outcome:
    """Measure a few methods with and without each fault, and what a memoriser would reach.

    Networks run under their `default` preset: seconds a run, not minutes.
    """
    methods = wanted.methods or METHODS
    repeats = min(wanted.repeats, REPEATS)
    runs = list(_runs(wanted, methods, repeats))
    results = do(runs)
    found: dict[tuple[str, str, str, str], list[Mapping[str, Any]]] = {}
    for run, result in zip(runs, results, strict=True):
        key = run.course, run.method, run.protocol, run.alignment
        found.setdefault(key, []).append(result)
    effects = [e for c in wanted.courses for m in methods for e in _effects(c, m, found)]
    memorisers = [
        _memoriser(course, found[course, methods[0], "published", "fixed"][0])
        for course in wanted.courses
    ]
    shown = [*_effect_tables(effects), _memorisers_table(memorisers)]
    return Outcome(
        results,
        shown,
        {"faults.md": _markdown(shown, repeats, runs[0].encoder), "faults.csv": _csv(effects)},
    )


def _runs(wanted: Wanted, methods: Sequence[str], repeats: int) -> Iterator[Run]:
    encoder = resolve_encoder(wanted.encoder)
    for course in wanted.courses:
        for name in methods:
            for alignment in ("fixed", "shifted") if course in BENCHMARKS else ("fixed",):
                for repeat in range(repeats):
                    yield Run(name, course, seed=repeat, alignment=alignment, encoder=encoder)
                    yield Run(
                        name,
                        course,
                        protocol="leak-free",
                        fold=repeat,
                        alignment=alignment,
                        encoder=encoder,
                    )


def _effects(course: str, name: str, found: Results) -> Iterator[Effect]:
    published = found[course, name, "published", "fixed"]
    leak_free = found[course, name, "leak-free", "fixed"]
    unseen = [_on_unseen_rows(result) for result in published]
    for metric in METRICS:
        whole = _values(published, metric)
        yield Effect(
            "Test rows seen in train", course, name, metric, whole, [one[metric] for one in unseen]
        )
        yield Effect(
            "Published split against leak-free",
            course,
            name,
            metric,
            whole,
            _values(leak_free, metric),
        )
        if course in BENCHMARKS:
            for protocol, sound in (("published", published), ("leak-free", leak_free)):
                shifted = found[course, name, protocol, "shifted"]
                fault = f"{_shifted(course)} one row out, {protocol} split"
                values = _values(shifted, metric), _values(sound, metric)
                yield Effect(fault, course, name, metric, *values)


def _shifted(course: str) -> str:
    """Name what the released index of a public set puts one row out."""
    return "Labels" if BENCHMARKS[course].labels_are_out else "Behaviour"


def _values(results: Sequence[Mapping[str, Any]], metric: str) -> list[float]:
    return [result["metrics"][metric] for result in results]


def _on_unseen_rows(result: Mapping[str, Any]) -> dict[str, float]:
    """Evaluate the same fitted run on those test rows of which train holds neither order."""
    unseen = np.array([answer is None for answer in result["memorised"]])
    labels = np.array(result["labels"])[unseen]
    scores = np.array(result["scores"]["forward"])[unseen]
    return {"accuracy": accuracy(labels, scores, result["threshold"]), "auc": auc(labels, scores)}


def _memoriser(course: str, result: Mapping[str, Any]) -> Memoriser:
    answered = list(zip(result["memorised"], result["labels"], strict=True))
    seen = [(answer, label) for answer, label in answered if answer is not None]
    return Memoriser(
        course,
        rows=len(answered),
        seen=len(seen),
        right=sum(answer == label for answer, label in seen),
        unseen_positives=sum(label for answer, label in answered if answer is None),
    )


def _effect_tables(effects: Sequence[Effect]) -> list[Table]:
    """Give a table for each fault, with its sets and methods."""
    heads = ["set", "method"]
    heads += [f"{NAMES[m]} {what}" for m in METRICS for what in ("with", "without", "worth")]
    tables: dict[str, dict[tuple[str, str], list[object]]] = {}
    for effect in effects:
        title = experiment_settings().title(effect.method)
        row = tables.setdefault(effect.fault, {}).setdefault((effect.course, title), [])
        row += [_spread(effect.faulty), _spread(effect.sound), f"{effect.worth:+.3f}"]
    return [
        Table(fault, heads, [[*key, *row] for key, row in rows.items()])
        for fault, rows in tables.items()
    ]


def _memorisers_table(memorisers: Sequence[Memoriser]) -> Table:
    heads = [
        "set",
        "test rows",
        "seen in train",
        "looked up rightly",
        "ACC, a coin for the rest",
        "unseen positives",
    ]
    rows = [
        [m.course, m.rows, m.seen, m.right, f"{m.accuracy:.3f}", m.unseen_positives]
        for m in memorisers
    ]
    return Table("A memoriser of the training labels, on the published test rows", heads, rows)


def _spread(values: Sequence[float]) -> str:
    return f"{fmean(values):.3f} ± {_deviation(values):.3f}"


def _deviation(values: Sequence[float]) -> float:
    return stdev(values) if len(values) > 1 else 0.0


def _markdown(tables: Sequence[Table], repeats: int, encoder: str) -> str:
    how = (
        "What methods reach with a fault of the data, what without it, and what the fault is "
        f"worth, which is the difference. Mean ± standard deviation; repeats: {repeats} (seeds on "
        "the published rows, folds under leak-free). Networks run under their `default` preset, "
        f"so these are not the numbers of Table 1. Texts encoded by `{encoder}`; each run on one "
        "thread."
    )
    parts = ["# Faults of the public data", how]
    for table in tables:
        rows = [[str(cell) for cell in row] for row in table.rows]
        parts += [f"## {table.title}", markdown_table(table.heads, rows).rstrip()]
    return "\n\n".join(parts) + "\n"


def _csv(effects: Sequence[Effect]) -> str:
    heads = ["fault", "course", "method", "metric", "with", "with deviation", "without"]
    heads += ["without deviation", "worth", "runs"]
    rows = [
        [
            *(e.fault, e.course, e.method, e.metric),
            *(fmean(e.faulty), _deviation(e.faulty), fmean(e.sound), _deviation(e.sound)),
            *(e.worth, len(e.faulty)),
        ]
        for e in effects
    ]
    return csv_text(heads, rows)
