"""How similar pairs are before and during training."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from proprl.errors import ProprlError
from proprl.experiments.running.execute import execute
from proprl.experiments.running.plan import Wanted
from proprl.experiments.running.run import Run
from proprl.experiments.running.similarity import KINDS
from proprl.experiments.studies.figure1 import densities, figure1

WANTED = Wanted(repeats=5, encoder="wordllama")
# Of four pairs, three end more similar than in the texts and one more than after epoch 1.
KIND = {
    "before": [0.1, 0.2, 0.3, 0.8],
    "first": [0.6, 0.5, 0.5, 0.5],
    "last": [0.7, 0.4, 0.4, 0.4],
    "quartiles": [[0.5, 0.5, 0.525], [0.45, 0.45, 0.6], [0.4, 0.4, 0.475]],
}
SEEN = dict.fromkeys(KINDS, KIND)


def made_up(runs: Sequence[Run]) -> list[dict[str, Any]]:
    return [{"run": asdict(run), "similarity": SEEN} for run in runs]


def test_the_run_is_one_of_dgcpl_on_mooc_and_watched() -> None:
    asked: list[Run] = []

    def remember(runs: Sequence[Run]) -> list[dict[str, Any]]:
        asked.extend(runs)
        return made_up(runs)

    figure1(WANTED, remember)
    (run,) = asked
    assert (run.method, run.course, run.seed, run.preset) == ("dgcpl", "mooc", 0, "paper")
    assert run.watched


def test_medians_and_both_shares_are_told() -> None:
    outcome = figure1(WANTED, made_up)
    row = outcome.tables[0].rows[0]
    kind, count, *medians, since_before, since_epoch_1 = row[1:]
    assert (kind, count) == ("prerequisite pairs", 4)
    assert medians == ["0.250", "0.500", "0.400"]
    assert (since_before, since_epoch_1) == ("75.0 %", "25.0 %")
    page = outcome.texts["figure1.md"]
    assert "| 75.0 % | 25.0 % |" in page
    assert "62.7 %" in page
    assert "(figure1.png)" in page


def test_the_numbers_behind_both_panels_are_written() -> None:
    texts = figure1(WANTED, made_up).texts
    drift = list(csv.DictReader(io.StringIO(texts["figure1-drift.csv"])))
    assert len(drift) == len(KINDS) * 3
    assert (drift[1]["epoch"], drift[1]["median"]) == ("2", "0.450000")
    before = list(csv.DictReader(io.StringIO(texts["figure1-before.csv"])))
    width = float(before[0]["to"]) - float(before[0]["from"])
    of_kind = [float(row["density"]) for row in before if row["pairs"] == KINDS[0]]
    assert sum(of_kind) * width == pytest.approx(1, abs=1e-4)
    assert (before[0]["from"], before[len(of_kind) - 1]["to"]) == ("0.100000", "0.800000")


def test_kinds_share_their_bins() -> None:
    other = {**SEEN, KINDS[2]: {**KIND, "before": [-0.4, 0.0]}}
    edges, density = densities(other)
    assert (edges[0], edges[-1]) == (-0.4, 0.8)
    for kind in KINDS:
        assert (density[kind] * np.diff(edges)).sum() == pytest.approx(1)


def test_a_picture_has_two_panels_for_each_course() -> None:
    one = figure1(WANTED, made_up).figures["figure1"]()
    assert [axis.get_title(loc="left") for axis in one.axes] == [
        "(a) before training",
        "(b) during training",
    ]
    two = figure1(replace(WANTED, asked_courses=["ucd", "mooc"]), made_up).figures["figure1"]()
    assert len(two.axes) == 4


def test_several_methods_or_one_without_a_network_are_refused_before_any_run() -> None:
    with pytest.raises(ProprlError, match="give one --method"):
        figure1(replace(WANTED, methods=["dgcpl", "proprl"]), pytest.fail)
    with pytest.raises(ProprlError, match="nb has no network"):
        figure1(replace(WANTED, methods=["nb"]), pytest.fail)


def test_it_runs_on_a_real_course() -> None:
    def tiny(runs: Sequence[Run]) -> list[dict[str, Any]]:
        return [execute(replace(run, changes={"size": 16, "epochs": 2})) for run in runs]

    outcome = figure1(replace(WANTED, asked_courses=["campus"]), tiny)
    seen = outcome.results[0]["similarity"]
    assert set(seen) == set(KINDS)
    for kind in KINDS:
        assert len(seen[kind]["quartiles"]) == 2
        median = np.median(seen[kind]["last"])
        assert seen[kind]["quartiles"][1][1] == pytest.approx(median, abs=1e-6)
        assert len(seen[kind]["before"]) == len(seen[kind]["first"]) == len(seen[kind]["last"])
    outcome.figures["figure1"]()
