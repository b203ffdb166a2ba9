"""One run on a whole map, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
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
from proprl.experiments.running.plan import Wanted
from proprl.experiments.running.protocols import scored_part, split_of
from proprl.experiments.running.run import WHOLE_MAP, Run
from proprl.experiments.running.store import RunStore, run_all
from proprl.experiments.running.whole_map import FIFTH, RECALLS, judge, map_result
from proprl.experiments.studies.whole_map import map_plan
from proprl.fitting import Prepared
from proprl.models.base import FitReport
from proprl.models.registry import method_settings


@pytest.fixture(autouse=True)
def _few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_map_run, "MAP_RESAMPLES", 20)
    monkeypatch.setattr(whole_map_run, "SEARCH", 0.1)


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
    prepared = Prepared(course, "svm", "default", method_settings("svm"), evidence, "wordllama")
    return map_result(run, prepared)


def map_run(**changes: Any) -> Run:
    return replace(Run("svm", "chain", protocol=WHOLE_MAP, part="development"), **changes)


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
    assert found["curve"] == [1] * len(RECALLS)
    assert len(found["resampled"]["f1_lead"]) == 20


def test_scores_without_a_base_rate_only_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    found = result_on(chain(), map_run(), MadeUpFit(calibrated=False), monkeypatch)
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
    course = chain()
    task = whole_map_task(course, part="development")
    n = len(course)
    found = judge(course, task, np.zeros((n, n)), None, task.known.positives)["metrics"]
    assert found["f1_lead"] == 0
    assert found["edges_learned"] == 0
    assert np.isnan(found["edges_right"])


def test_on_development_no_edge_is_judged_by_the_test_half() -> None:
    """Edges of the test half are left out, right or wrong; all others of this graph are right."""
    course = chain()
    task = whole_map_task(course, part="development")
    n = len(course)
    later = np.argwhere(np.triu(np.ones((n, n), dtype=np.bool_), k=1))
    test = whole_map_task(course, part="test").asked.pairs
    wrong = test[test[:, 0] > test[:, 1]]
    edges = np.concatenate([later, wrong])
    found = judge(course, task, np.zeros((n, n)), None, edges)["metrics"]
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
    task = direct_steps_task(course)
    nothing = np.zeros((len(course), len(course)))
    judged = judge(course, task, nothing, None, task.known.positives)
    alone = judged["metrics"]
    assert judged["rules"]["reachability"]["metrics"]["way_found"] == 13
    assert (alone["way_found"], alone["way_length"], alone["way_author"]) == (13, 13, 15)
    assert alone["labels_f1"] == pytest.approx(0.783, abs=0.001)
    whole = judge(course, task, nothing, None, task.annotated.positives)["metrics"]
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
