"""What the parts of Sequitur are worth, from results made up for it."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import pytest

from proprl.errors import ProprlError
from proprl.experiments.catalogue import find_experiments
from proprl.experiments.experiment import Wanted
from proprl.experiments.part_study import ALL, PARTS, part_study, small_parts
from proprl.experiments.runs import Run


def made_up(runs: Sequence[Run]) -> list[dict[str, Any]]:
    return [{"run": {"course": run.course}, "metrics": _metrics(run)} for run in runs]


def _metrics(run: Run) -> dict[str, float]:
    """Roles add 0.01 on even folds and 0.03 on odd ones; passages have nothing to do on MOOC."""
    auc = 0.9
    if run.changes.get("roles") is False:
        auc -= 0.03 if run.fold % 2 else 0.01
    if run.changes.get("passages") is False and run.course != "mooc":
        auc -= 0.02
    return {"auc": auc, "ordered_share": auc - 0.1}


def rows(courses: Sequence[str]) -> dict[tuple[str, str], list[str]]:
    """Give what was found, in numbers, by part and set."""
    outcome = small_parts(Wanted(courses, encoder="wordllama"), made_up)
    _, *found = csv.reader(io.StringIO(outcome.texts["small-parts.csv"]))
    return {(row[1], row[2]): row[3:] for row in found}


def test_a_gain_is_paired_by_fold_and_has_its_standard_error() -> None:
    # Five gains of 0.01 and five of 0.03: 0.01 · √(10/9) / √10.
    assert rows(["mooc"])["likeness of role", "mooc"] == [
        *("0.880000", "0.020000", "0.003333", "0.020000", "0.003333")
    ]


def test_sets_on_which_a_part_has_nothing_to_do_are_not_pooled() -> None:
    found = rows(["ucd", "lecturebank", "mooc"])
    name = "passages that mention a concept"
    assert found[name, "mooc"][1] == "0.000000"
    assert found[name, ALL][1] == "0.020000"


def test_everything_is_judged_on_validation_pairs_and_nobody_reads() -> None:
    asked: list[Run] = []

    def do(runs: Sequence[Run]) -> list[dict[str, Any]]:
        asked.extend(runs)
        return made_up(runs)

    small_parts(Wanted(["mooc"], encoder="wordllama"), do)
    assert {run.part for run in asked} == {"validation"}
    assert {run.changes["reader"] for run in asked} == {"none"}
    folds = {(run.protocol, run.fold) for run in asked}
    assert folds == {("leak-free", k) for k in range(10)} | {("new-concepts", k) for k in range(5)}


def test_one_run_has_no_standard_error() -> None:
    outcome = small_parts(Wanted(["mooc"], repeats=1, encoder="wordllama"), made_up)
    row = "| leak-free | likeness of role | mooc | 0.8900 | +0.0100 | +0.0100 |"
    assert row in outcome.texts["small-parts.md"]
    assert len(outcome.tables[0].rows) == len(PARTS)


def test_people_read_a_gain_beside_its_standard_error() -> None:
    outcome = small_parts(Wanted(["mooc"], encoder="wordllama"), made_up)
    gains = "+0.0200 ± 0.0033 | +0.0200 ± 0.0033 |"
    assert (
        f"| leak-free | likeness of role | mooc | 0.8800 | {gains}"
        in outcome.texts["small-parts.md"]
    )


def test_it_is_asked_for_by_name_and_takes_no_protocol() -> None:
    assert find_experiments("parts") == {"parts": part_study}
    assert "parts" not in find_experiments("all")
    with pytest.raises(ProprlError, match="leave out --method, --protocol and --seeds"):
        part_study(Wanted(["mooc"], protocol="leak-free"), made_up)


# The whole, as it is: on test folds


def test_the_worth_of_a_part_is_what_its_removal_changes() -> None:
    def do(runs: Sequence[Run]) -> list[dict[str, Any]]:
        auc = [0.97 if run.changes.get("sources") == "course" else 0.99 for run in runs]
        return [{"run": {}, "metrics": {"auc": a, "ordered_share": a}} for a in auc]

    table, _ = part_study(Wanted(["mooc"], encoder="wordllama"), do).tables
    rows = {(row[0], row[1], row[2]): row[3:] for row in table.rows}
    assert rows["leak-free", "the whole", "mooc"][0] == pytest.approx(0.99)
    mean, change, spread = rows["leak-free", "without the labels of other pairs", "mooc"]
    assert mean == pytest.approx(0.97)
    assert change == pytest.approx(-0.02)
    assert spread == "-0.0200 to -0.0200"
    assert rows["leak-free", "without the trees", "mooc"][1] == pytest.approx(0)
    assert ("new-concepts", "without learners of their own for newcomers", "mooc") in rows


@pytest.mark.parametrize("reader", ["none", "language-model:some folder"])
def test_readings_are_a_part_only_where_somebody_reads(
    monkeypatch: pytest.MonkeyPatch, reader: str
) -> None:
    monkeypatch.setenv("PROPRL_READER", reader)
    shown = part_study(Wanted(["mooc"], encoder="wordllama"), made_up).texts["parts.md"]
    assert ("without a language model's readings" in shown) == (reader != "none")
