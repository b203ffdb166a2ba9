"""What a method costs: measured in a real process, tabulated beside the paper."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from proprl.experiments.running.execute import execute
from proprl.experiments.running.plan import Wanted, plan
from proprl.experiments.running.run import Run
from proprl.experiments.studies.table3 import table3

WANTED = Wanted(["mooc"], repeats=2, encoder="wordllama")
# Parameters, training seconds, scoring seconds, MB; the second seed takes twice as long.
MADE_UP = {"dgcpl": (1_100_000, 10.0, 0.01, 30.0), "proprl": (1_900_000, 20.0, 0.02, 45.0)}


def made_up(runs: Sequence[Run]) -> list[dict[str, Any]]:
    results = []
    for run in runs:
        parameters, train, score, mb = MADE_UP[run.method]
        results.append(
            {
                "run": asdict(run),
                "parameters": parameters,
                "train_seconds": train * (1 + run.seed),
                "score_seconds": score,
                "peak_memory_mb": mb,
            }
        )
    return results


def test_means_and_ratios_stand_beside_the_papers() -> None:
    outcome = table3(WANTED, made_up)
    dgcpl, proprl, ratio = outcome.tables[0].rows
    assert " ".join(dgcpl) == "DGCPL 1.10 1.89 15.0 122.4 0.0100 0.0707 30.0 28.5"
    assert " ".join(proprl) == "ProPRL 1.90 2.68 30.0 211.6 0.0200 0.0316 45.0 37.4"
    # 1.9 / 1.1, 2.68 / 1.89, 30 / 15, 211.59 / 122.44, ...
    assert " ".join(ratio[1:]) == "1.73 1.42 2.00 1.73 2.00 0.45 1.50 1.31"


def test_every_file_tells_the_same_and_the_page_whose_figures_are_whose() -> None:
    texts = table3(WANTED, made_up).texts
    assert set(texts) == {"table3.md", "table3.csv", "table3.tex"}
    assert "| ProPRL / DGCPL | 1.73 | 1.42 |" in texts["table3.md"]
    for said in ("one thread of a CPU", "on its GPU", "differ from machine to machine", "2 seeds"):
        assert said in texts["table3.md"].replace("\n", " ")
    rows = list(csv.DictReader(io.StringIO(texts["table3.csv"])))
    assert rows[1] == {
        "method": "dgcpl",
        "course": "mooc",
        "cost": "train_seconds",
        "ours": "15.000000",
        "paper": "122.440000",
    }
    assert r"DGCPL & 1.10 & 1.89 & 15.0 & 122.4" in texts["table3.tex"]


def test_what_was_not_measured_or_published_is_a_dash() -> None:
    def without_memory(runs: Sequence[Run]) -> list[dict[str, Any]]:
        return [{**result, "peak_memory_mb": None} for result in made_up(runs)]

    rows = table3(replace(WANTED, asked_courses=["campus"]), without_memory).tables[0].rows
    assert " ".join(rows[0]) == "DGCPL 1.10 - 15.0 - 0.0100 - - -"
    assert " ".join(rows[-1][1:]) == "1.73 - 2.00 - 2.00 - - -"


def test_one_method_has_no_ratio() -> None:
    rows = table3(replace(WANTED, methods=["dgcpl"]), made_up).tables[0].rows
    assert [row[0] for row in rows] == ["DGCPL"]


def test_the_runs_are_those_of_table_1() -> None:
    asked: list[Run] = []

    def remember(runs: Sequence[Run]) -> list[dict[str, Any]]:
        asked.extend(runs)
        return made_up(runs)

    table3(WANTED, remember)
    assert asked == plan(["dgcpl", "proprl"], WANTED)


def test_a_real_run_tells_its_costs() -> None:
    def tiny(runs: Sequence[Run]) -> list[dict[str, Any]]:
        changes = {"size": 16, "epochs": 1}
        return [execute(replace(run, changes=changes)) for run in runs]

    wanted = Wanted(["campus"], ["proprl"], repeats=1, encoder="wordllama")
    outcome = table3(wanted, tiny)
    (result,) = outcome.results
    assert result["train_seconds"] > result["score_seconds"] > 0
    assert len(result["labels"]) == len(result["scores"]["forward"]) == 88
    assert result["bundle_mb"] > 4e-6 * result["parameters"] > 0
