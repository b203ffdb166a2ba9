"""What labels are worth."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest

from proprl.errors import ProprlError
from proprl.experiments.experiment import Wanted
from proprl.experiments.label_curve import METHODS, SHARES, label_curve, labels_needed
from proprl.experiments.runs import Run, execute

WANTED = Wanted(["mooc", "ucd"], repeats=2, encoder="wordllama")


def made_up(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """What is missing halves as labels double, and is less in the second fold."""
    results = []
    for run in runs:
        missing = 0.01 / run.label_share * (1 if run.fold else 3)
        metrics = {"auc": 1 - missing / 2, "ordered_share": 1 - missing}
        known = round(1600 * run.label_share)
        results.append({"run": asdict(run), "metrics": metrics, "known_labels": known})
    return results


def test_every_method_learns_from_each_share_of_the_labels_of_each_fold() -> None:
    runs = [result["run"] for result in label_curve(WANTED, made_up).results]
    assert len(runs) == 2 * 2 * len(METHODS) * len(SHARES)
    assert {run["protocol"] for run in runs} == {"leak-free"}
    assert {run["fold"] for run in runs} == {0, 1}
    for method in METHODS:
        assert {run["label_share"] for run in runs if run["method"] == method} == set(SHARES)


def test_the_files_hold_the_means_over_folds() -> None:
    texts = label_curve(WANTED, made_up).texts
    rows = list(csv.DictReader(io.StringIO(texts["labels.csv"])))
    assert len(rows) == 2 * len(METHODS) * len(SHARES)
    assert rows[-1] == {
        "course": "ucd",
        "labels": "1600",
        "method": "Sequitur",
        "auc": "0.990000",
        "ordered_share": "0.980000",
    }
    page = texts["labels.md"]
    assert "| labels | SVM | ProPRL | Sequitur |" in page
    assert "| 200 | 0.920 / 0.840 | 0.920 / 0.840 | 0.920 / 0.840 |" in page
    assert "2 folds" in page


def test_the_page_says_how_many_labels_the_aim_would_take() -> None:
    # 0.02 is missing with 1,600 labels, so the 0.07 that may be missing are left with 457.
    assert (
        "| mooc | Sequitur | 0.93 | about 457 |" in label_curve(WANTED, made_up).texts["labels.md"]
    )
    # Whoever asks about a course of their own has no such aim.
    own = label_curve(replace(WANTED, asked_courses=["campus"]), made_up)
    assert "If it went on" not in own.texts["labels.md"]


def test_no_number_is_named_where_the_curve_does_not_lead_there() -> None:
    assert labels_needed(0.95, [100, 200, 400], [0.8, 0.8, 0.8]) is None  # flat
    assert labels_needed(0.95, [100, 200, 400], [0.8, 0.7, 0.6]) is None  # falling
    assert labels_needed(0.99, [100, 200, 400], [0.6, 0.61, 0.62]) is None  # far away
    assert labels_needed(0.95, [100, 200], [0.6, 0.8]) is None  # two points make any line
    assert labels_needed(0.95, [100, 200, 400], [0.9, 1.0, 1.0]) is not None  # nothing is missing


def test_the_picture_has_a_panel_for_each_course_and_metric() -> None:
    figure = label_curve(WANTED, made_up).figures["labels"]()
    assert [axis.get_title() for axis in figure.axes] == ["mooc", "ucd", "mooc", "ucd"]
    assert [axis.get_ylabel() for axis in figure.axes] == ["AUC", "", "ordered share", ""]
    svm, proprl, _ = figure.axes[2].lines
    assert svm.get_xydata()[-1] == pytest.approx([1600, 0.98])
    assert svm.get_marker() != proprl.get_marker()  # told apart in black and white
    assert svm.get_linestyle() != proprl.get_linestyle()
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    assert [t.get_text() for t in figure.legends[0].texts] == ["SVM", "ProPRL", "Sequitur"]


def test_another_protocol_is_refused_before_any_run() -> None:
    with pytest.raises(ProprlError, match="leave out --protocol"):
        label_curve(replace(WANTED, protocol="new-concepts"), pytest.fail)


def test_fewer_labels_reach_a_real_run() -> None:
    whole = execute(Run("svm", "campus", protocol="leak-free"))
    half = execute(Run("svm", "campus", protocol="leak-free", label_share=0.5))
    assert half["known_labels"] == pytest.approx(whole["known_labels"] / 2, abs=4)
    assert half["labels"] == whole["labels"]  # the test pairs stay the same
    assert half["scores"] != whole["scores"]
