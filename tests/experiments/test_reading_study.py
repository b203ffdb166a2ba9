"""What readings are worth: the same folds with and without, from results made up for it."""

from __future__ import annotations

from typing import Any

import pytest

from proprl.errors import ProprlError
from proprl.experiments.experiment import Wanted
from proprl.experiments.reading_study import WITH, WITHOUT, readings
from proprl.experiments.runs import Run
from proprl.models.registry import method_settings

LABELS = [0, 1] * 20
READER = "language-model:some folder"


def made_up(runs: list[Run]) -> list[dict[str, Any]]:
    return [_result(run) for run in runs]


def _result(run: Run) -> dict[str, Any]:
    read = method_settings(run.method, run.preset, **run.changes).read_by == READER
    forward = [0.1 + 0.8 * label for label in LABELS]
    # Without a reader every fourth positive is the wrong way round.
    reverse = [0.95 if label and not read and k % 8 == 1 else 0.2 for k, label in enumerate(LABELS)]
    metrics = {"accuracy": 0.9, "f1": 0.9, "auc": 0.95, "ordered_share": 1.0 if read else 0.75}
    metrics["one_way_ordered"] = metrics["ordered_share"]
    return {
        "run": {"method": run.method, "course": run.course, "fold": run.fold, "seed": run.seed},
        "metrics": metrics,
        "labels": LABELS,
        "threshold": 0.5,
        "scores": {"forward": forward, "reverse": reverse},
        "train_seconds": 1.0,
    }


@pytest.fixture(autouse=True)
def _reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROPRL_READER", READER)


def test_both_protocols_have_a_table_of_both_and_the_lead_is_tested() -> None:
    wanted = Wanted(["mooc", "lecturebank"], encoder="wordllama")
    asked: list[Run] = []

    def do(runs: Any) -> list[dict[str, Any]]:
        asked.extend(runs)
        return made_up(runs)

    outcome = readings(wanted, do)
    repeats = {"leak-free": 10, "new-concepts": 5}
    assert len(asked) == 2 * 2 * sum(repeats.values())
    page = outcome.texts["readings.md"]
    for protocol in repeats:
        assert f"## {protocol}" in page
        rows = outcome.texts[f"readings-{protocol}.csv"]
        assert f"{WITHOUT},mooc,ordered_share,0.75" in rows
        assert f"{WITH},mooc,ordered_share,1.0" in rows
    assert f"- ordered share: +0.250 against {WITHOUT}, significant" in page
    assert f"- AUC: +0.000 against {WITHOUT}, no lead" in page
    assert READER in page
    # The lines are those of Sequitur with readings.
    assert "| leak-free | mooc | AUC | ≥ 0.960 | 0.9500 | not reached |" in page
    assert "| leak-free | mooc | ordered share | ≥ 0.930 | 1.0000 | reached |" in page


def test_once_each_is_enough_for_a_quick_look() -> None:
    outcome = readings(Wanted(["mooc"], repeats=1, encoder="wordllama"), made_up)
    assert len(outcome.results) == 2 * 2


def test_where_nobody_can_read_it_says_how_to_get_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROPRL_READER", "none")
    with pytest.raises(ProprlError, match="make install-reader"):
        readings(Wanted(["mooc"]), made_up)


@pytest.mark.parametrize("asked", [{"methods": ["svm"]}, {"protocol": "leak-free"}, {"repeats": 3}])
def test_what_it_cannot_heed_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(ProprlError, match="leave out"):
        readings(Wanted(["mooc"], **asked), made_up)
