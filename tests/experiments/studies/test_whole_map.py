"""`reproduce whole-map`: what is run, what is found, and which lines are reached."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import expit, logit

from proprl.data import load_course
from proprl.data.course import Course
from proprl.data.splits.whole_map import direct_steps_task, whole_map_task
from proprl.errors import ProprlError
from proprl.evaluation.base_rate import PRIOR_MEAN
from proprl.experiments.running import whole_map as whole_map_run
from proprl.experiments.running.outcome import Wanted
from proprl.experiments.running.plan import SEQUITUR
from proprl.experiments.running.protocols import scored_part, split_of
from proprl.experiments.running.run import WHOLE_MAP, Run
from proprl.experiments.running.store import RunStore, run_all
from proprl.experiments.running.whole_map import FIFTH, RECALLS, judge, map_result
from proprl.experiments.settings.targets import targets
from proprl.experiments.show.lines import map_lines
from proprl.experiments.show.whole_map_findings import TEST_FILE, Findings, gather, stored_test
from proprl.experiments.studies import whole_map as experiment
from proprl.experiments.studies.whole_map import FOUR, map_plan, whole_map
from proprl.models.base import FitReport
from proprl.models.registry import METHODS, method_settings

QUICK = Wanted(repeats=1, encoder="wordllama")
SETS = ("lecturebank-208", "lecturebank-322", "campus")


@pytest.fixture(autouse=True)
def _no_stored_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as the test half has not been run; tests that want a run store their own."""
    monkeypatch.setattr(experiment, "stored_test", lambda: None)


@pytest.fixture(autouse=True)
def _few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_map_run, "RESAMPLES", 20)


def chain(n: int = 16) -> Course:
    """Concepts in one line, each a prerequisite of all later ones; every pair is annotated."""
    ids = [f"c{row}" for row in range(n)]
    pairs = list(permutations(range(n), 2))
    return Course.from_tables(
        concepts=pl.DataFrame({"id": ids, "name": [f"Concept {row}" for row in range(n)]}),
        pairs=pl.DataFrame(
            {
                "source": [ids[a] for a, _ in pairs],
                "target": [ids[b] for _, b in pairs],
                "label": [int(a < b) for a, b in pairs],
            }
        ),
    )


class MadeUpFit:
    """Says that earlier rows come before later ones, so sure."""

    def __init__(self, sure: float = 0.9, calibrated: bool = True) -> None:
        self.sure = sure
        self.scorer = self
        self.report = FitReport(threshold=0.5)
        self.calibration = (
            SimpleNamespace(base_rate=0.5, interval=(0.4, 0.6), believed=0.5, expected_open=60.0)
            if calibrated
            else None
        )

    def score(self, pairs: np.ndarray) -> np.ndarray:
        return np.where(pairs[:, 0] < pairs[:, 1], self.sure, 1 - self.sure)

    def with_prior(self, prior: tuple[float, float], *_: object) -> SimpleNamespace:
        """Move the odds by as much as the prior is away from the usual one."""
        moved = prior[0] - PRIOR_MEAN
        return SimpleNamespace(score=lambda pairs: expit(logit(self.score(pairs)) + moved))


def result_on(
    course: Course, run: Run, fit: MadeUpFit, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    monkeypatch.setattr(whole_map_run, "fit_on_map", lambda *_: fit)
    evidence: Any = None
    return map_result(run, course, evidence, "wordllama", method_settings("svm"))


def map_run(**changes: Any) -> Run:
    return replace(Run("svm", "chain", protocol=WHOLE_MAP, part="development"), **changes)


# One run


def test_a_fit_that_knows_everything_has_a_perfect_map(monkeypatch: pytest.MonkeyPatch) -> None:
    found = result_on(chain(), map_run(), MadeUpFit(), monkeypatch)
    metrics = found["metrics"]
    for perfect in ("average_precision", "believed_right", "believed_found", "follows_f1"):
        assert metrics[perfect] == 1, perfect
    assert metrics["edges_right"] == 1
    assert metrics["f1_lead"] == pytest.approx(1 - metrics["labels_f1"])
    # Half of all pairs are prerequisites: the base rate loses log 2 a pair, this fit -log 0.9.
    assert metrics["log_loss_gain"] == pytest.approx(1 + np.log(0.9) / np.log(2))
    assert metrics["promised_ratio"] == pytest.approx(1)
    assert found["calibration"]["base_rate_low"] == 0.4
    assert found["curve"] == [1] * len(RECALLS)
    assert len(found["resampled"]["f1_lead"]) == 20


def test_scores_without_a_base_rate_only_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    found = result_on(chain(), map_run(), MadeUpFit(calibrated=False), monkeypatch)
    assert found["calibration"] is None
    assert found["metrics"]["average_precision"] == 1
    assert not {"believed", "log_loss_gain", "promised", "new_promised"} & set(found["metrics"])
    assert "reliability" not in found
    assert found["metrics"]["follows_f1"] == 1  # the graph is drawn at the method's own threshold


def test_who_expects_more_prerequisites_promises_more(monkeypatch: pytest.MonkeyPatch) -> None:
    course, run, fit = chain(20), map_run(), MadeUpFit(0.7)
    metrics = result_on(course, run, fit, monkeypatch)["metrics"]
    few, many = (metrics[f"promised_ratio, prior at {rate} %"] for rate in (1, 10))
    assert 0 < few < many
    assert {"log_loss_gain, prior at 1 %", "log_loss_gain, prior at 10 %"} <= set(metrics)


def test_a_graph_of_labels_alone_leads_by_nothing() -> None:
    course, run = chain(), map_run()
    task = whole_map_task(course, part="development")
    n = len(course)
    found = judge(run, course, task, np.zeros((n, n)), None, task.known.positives)["metrics"]
    assert found["f1_lead"] == 0
    assert found["edges_learned"] == 0
    assert np.isnan(found["edges_right"])


def test_on_development_no_edge_is_judged_by_the_test_half() -> None:
    """Edges of the test half are left out, right or wrong; all others of this graph are right."""
    course, run = chain(), map_run()
    task = whole_map_task(course, part="development")
    n = len(course)
    later = np.argwhere(np.triu(np.ones((n, n), dtype=np.bool_), k=1))
    test = whole_map_task(course, part="test").asked.pairs
    wrong = test[test[:, 0] > test[:, 1]]
    edges = np.concatenate([later, wrong])
    found = judge(run, course, task, np.zeros((n, n)), None, edges)["metrics"]
    assert found["edges_right"] == 1
    in_view = int(task.in_view[tuple(later.T)].sum())
    assert found["edges_learned"] == in_view - len(task.known.positives)


def test_rules_are_judged_beside_every_method(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = result_on(chain(), map_run(), MadeUpFit(), monkeypatch)["rules"]
    assert set(rules) == {"degrees", "reachability"}
    # In a chain whatever follows is right; what does not follow ties at 0.
    assert 0.5 < rules["reachability"]["metrics"]["average_precision"] <= 1
    assert rules["reachability"]["metrics"]["follows_right"] == 1
    assert rules["reachability"]["metrics"]["f1_lead"] == 0


def test_concepts_without_a_label_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    course, run = chain(12), map_run(part="test", label_share=FIFTH)
    task = whole_map_task(course, part="test", share="fifth")
    labelled = set(task.known.pairs.ravel().tolist())
    new = [pair for pair in task.asked.pairs.tolist() if not set(pair) <= labelled]
    metrics = result_on(course, run, MadeUpFit(), monkeypatch)["metrics"]
    assert metrics["new_pairs"] == len(new)
    assert metrics["new_true"] == sum(a < b for a, b in new)


def test_campus_counts_the_concepts_of_its_authors_way() -> None:
    """Labels alone lead along 13 of the 15; all 270 positives along all of them."""
    course = load_course("campus")
    task, run = direct_steps_task(course), map_run(course="campus")
    nothing = np.zeros((len(course), len(course)))
    judged = judge(run, course, task, nothing, None, task.known.positives)
    alone = judged["metrics"]
    assert judged["rules"]["reachability"]["metrics"]["way_found"] == 13
    assert (alone["way_found"], alone["way_length"], alone["way_author"]) == (13, 13, 15)
    assert alone["labels_f1"] == pytest.approx(0.783, abs=0.001)
    whole = judge(run, course, task, nothing, None, task.annotated.positives)["metrics"]
    assert (whole["way_found"], whole["way_length"]) == (15, 15)
    assert whole["follows_f1"] == 1
    assert whole["edges_right"] == 1


def test_the_asked_pairs_are_what_a_run_is_judged_by() -> None:
    course, run = chain(), map_run()
    split = split_of(run, course)
    assert scored_part(run, split) == whole_map_task(course, part="development").asked
    assert str(run) == "svm on chain, development, draw 0"
    with pytest.raises(ProprlError, match="no validation part"):
        split_of(replace(run, part="validation"), course)


# What is run


def test_quick_is_one_draw_of_four_methods_on_development() -> None:
    runs = map_plan(QUICK)
    assert {run.method for run in runs} == set(FOUR)
    assert {run.part for run in runs} == {"development"}
    assert {run.fold for run in runs} == {0}
    # Two sets with a half and a fifth known, and campus once.
    # Sequitur also learns from labels of a quarter of the concepts.
    assert len(runs) == len(FOUR) * (2 * 2 + 1) + 2


def test_the_full_run_has_three_draws_of_all_methods_that_the_sets_allow() -> None:
    runs = map_plan(Wanted(encoder="wordllama"))
    assert {run.course for run in runs} == set(SETS)
    assert {run.fold for run in runs} == {0, 1, 2}
    assert all(run.seed == run.fold for run in runs)
    of_set = {c: {run.method for run in runs if run.course == c} for c in SETS}
    assert of_set["campus"] - of_set["lecturebank-208"] == {"dgcpl"}  # it needs learner behaviour
    assert set(METHODS) - of_set["campus"] == {
        "proprl-without-gate",
        "proprl-without-propagation",
        "proprl-without-irreversibility",
    }


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (Wanted(asked_courses=["mooc"]), "mooc is no set in which people looked at every pair"),
        (Wanted(protocol="leak-free"), "leave out --protocol"),
        (Wanted(repeats=4), "3 draws"),
        (Wanted(part="validation"), "no part 'validation'"),
        (Wanted(part="test", repeats=1), "the test half is run once"),
        (Wanted(part="test", methods=["svm"]), "the test half is run once"),
    ],
)
def test_what_makes_no_sense_is_refused_before_any_run(wanted: Wanted, message: str) -> None:
    def do(runs: Sequence[Run]) -> list[dict[str, Any]]:
        pytest.fail("nothing may be run")

    with pytest.raises(ProprlError, match=message):
        whole_map(wanted, do)


# What is found


def made_up(quality: Callable[[Run], float]) -> Callable[[Sequence[Run]], list[dict[str, Any]]]:
    """Give each run metrics around its quality; draws differ by a hundredth."""

    def result(run: Run) -> dict[str, Any]:
        value = quality(run) + (run.fold - 1) / 100
        names = ("average_precision", "log_loss_gain", "believed_right", "believed_found")
        metrics = dict.fromkeys([*names, "follows_f1", "edges_right", "asked_edges_right"], value)
        metrics |= {"promised_ratio": 1.5, "f1_lead": value - 0.4, "labels_f1": 0.4}
        if run.course == "campus":
            metrics |= {"way_found": 14.0, "way_length": 21.0}
        rule = {"average_precision": 0.3}
        return {
            "run": asdict(run),
            "encoder": run.encoder,
            "metrics": metrics,
            "resampled": {name: [metrics[name]] * 4 for name in ("average_precision", "f1_lead")},
            "rules": {
                name: {"metrics": rule, "resampled": {"average_precision": [0.2, 0.3, 0.3, 0.4]}}
                for name in ("degrees", "reachability")
            },
            "curve": [value] * len(RECALLS),
            "reliability": [
                {
                    "low": 0.0,
                    "high": 0.5,
                    "pairs": 30,
                    "said": 0.01 * (1 + run.fold),
                    "came_true": 0.0,
                },
                {"low": 0.5, "high": 1.0, "pairs": 10, "said": 0.8, "came_true": value},
            ],
        }

    return lambda runs: [result(run) for run in runs]


def better(run: Run) -> float:
    return 0.72 if run.method == SEQUITUR else 0.5


FULL = Wanted(methods=list(FOUR), encoder="wordllama")


def findings(quality: Callable[[Run], float] = better) -> Findings:
    return gather(made_up(quality)(map_plan(FULL)), SEQUITUR)


def test_means_are_over_draws() -> None:
    cell = findings().cell("lecturebank-208", "half", SEQUITUR)
    assert cell is not None
    assert cell.value("average_precision") == pytest.approx(0.72)
    assert cell.intervals["average_precision"] == pytest.approx((0.72, 0.72))
    # The draws' bins together: 90 pairs that were given 0.01, 0.02 and 0.03.
    assert cell.reliability[0]["pairs"] == 90
    assert cell.reliability[0]["said"] == pytest.approx(0.02)


def test_rules_stand_beside_the_methods() -> None:
    methods = {cell.method for cell in findings().of("lecturebank-322", "fifth")}
    assert methods == {*FOUR, "degrees", "reachability"}


def test_leads_are_over_the_same_resamples() -> None:
    leads = {
        lead.over: lead
        for lead in findings().leads
        if (lead.course, lead.known) == ("lecturebank-208", "half")
    }
    assert set(leads) == {"trees", "svm", "proprl", "degrees", "reachability"}
    assert leads["svm"].lead == pytest.approx(0.22)
    assert leads["degrees"].lead == pytest.approx(0.42)
    # 0.72 above resamples of 0.2, 0.3, 0.3, 0.4.
    assert leads["degrees"].interval == pytest.approx((0.3275, 0.5125))


def reached(found: Findings) -> dict[tuple[str, str, str], bool]:
    return {(*line.where, line.what): line.reached for line in map_lines(found, SEQUITUR)}


def test_every_line_is_told_as_reached_or_not() -> None:
    lines = reached(findings())
    half = {what: yes for (course, known, what), yes in lines.items()
            if (course, known) == ("lecturebank-208", "half")}  # fmt: skip
    assert half == {
        "average precision": True,
        "log loss below the base rate's, as a share of it": True,
        "believed pairs that are right": True,
        "prerequisites that are believed": True,
        "F1 of what follows, above the known labels alone": True,  # 0.32
        "all learned edges right or implied": True,
        "learned edges among the asked pairs right or implied": True,
        "promised against true number": True,  # 1.5 of at most 1.6
        "average precision above every method and rule (next: trees)": True,
    }
    # 14 of the author's concepts are on the way, but it has 21 in all.
    assert lines["campus", "half", "concepts of the author's way that are on the map's"]
    assert not lines["campus", "half", "concepts on the map's way in all"]


def test_a_line_that_has_no_value_is_not_reached() -> None:
    found = findings()
    broken = [
        cell.model_copy(update={"metrics": {**cell.metrics, "believed_right": None}})
        for cell in found.cells
    ]
    lines = reached(found.model_copy(update={"cells": broken}))
    assert not lines["lecturebank-208", "half", "believed pairs that are right"]


def test_who_is_not_ahead_does_not_reach_the_lead() -> None:
    lines = reached(findings(lambda _: 0.5))
    assert not [yes for (_, _, what), yes in lines.items() if "above every method" in what and yes]


def test_targets_are_those_of_the_sets() -> None:
    assert set(targets().maps) == set(SETS)
    assert targets().maps["lecturebank-322"].fifth == {"average_precision": 0.16, "f1_lead": 0.09}


def test_the_files_hold_every_metric_with_its_interval() -> None:
    outcome = whole_map(FULL, made_up(better))
    rows = list(csv.DictReader(io.StringIO(outcome.texts["whole-map.csv"])))
    row = next(
        row
        for row in rows
        if (row["set"], row["known"], row["method"], row["metric"])
        == ("lecturebank-208", "half", SEQUITUR, "average_precision")
    )
    assert (row["mean"], row["low"], row["high"]) == ("0.720000",) * 3
    page = outcome.texts["whole-map.md"]
    assert "## lecturebank-208, a fifth known: the map" in page
    assert "| lecturebank-208 | 206 | 41,513 | 913 | 2.20% | 406 | 4 |" in page
    assert "The lines are meant for the test half" in page
    assert set(outcome.figures) == {"whole-map-reliability", "whole-map-curves"}
    for draw in outcome.figures.values():
        assert len(draw().axes) == 2  # campus is not judged pair by pair


def test_the_test_half_is_run_once_and_printed_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = Wanted(part="test", encoder="wordllama")
    first = whole_map(wanted, made_up(better))
    stored = Findings.model_validate_json(first.texts[TEST_FILE])
    assert stored.part == "test"
    assert stored.commit
    monkeypatch.setattr(experiment, "stored_test", lambda: stored)

    def do(runs: Sequence[Run]) -> list[dict[str, Any]]:
        pytest.fail("the test half has been run")

    again = whole_map(wanted, do)
    assert again.texts == {name: text for name, text in first.texts.items() if name != TEST_FILE}
    assert f"Run at commit {stored.commit} on {stored.date}." in again.texts["whole-map-test.md"]
    # Development, too, ends with the lines of the stored run.
    last = whole_map(FULL, made_up(better)).tables[-1]
    assert last.title == f"Lines, test half (run at {stored.commit} on {stored.date})"


def test_what_is_stored_in_the_package_is_a_run_on_the_test_half() -> None:
    found = stored_test()
    assert found is None or (found.part == "test" and found.draws == 3)


def test_runs_on_a_map_are_kept_as_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_map_run, "fit_on_map", lambda *_: MadeUpFit())
    store = RunStore(tmp_path)
    runs = map_plan(Wanted(["campus"], ["svm"], repeats=1, encoder="wordllama"))
    first = run_all(runs, store)
    monkeypatch.setattr(whole_map_run, "fit_on_map", lambda *_: pytest.fail("it was kept"))
    again = run_all(runs, store)
    assert again[0]["metrics"] == first[0]["metrics"]
