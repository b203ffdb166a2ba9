"""One run of the protocol `whole-map`: fit on what is known, score every pair, draw the graph."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict

import numpy as np
from scipy.special import logit

from proprl.arrays import FloatArray, IntArray
from proprl.calibrating import Fit
from proprl.curriculum.graph import LEARNED_FROM, prerequisite_graph
from proprl.data.course import Course
from proprl.data.splits.labelled import pair_codes
from proprl.data.splits.whole_map import (
    MAP_PARTS,
    Known,
    WholeMapTask,
    direct_steps_task,
    whole_map_task,
)
from proprl.errors import ProprlError
from proprl.evaluation.base_rate import PRIOR_DEVIATION
from proprl.evaluation.metrics import auc, reliability
from proprl.evaluation.rules import degree_rule
from proprl.evaluation.whole_map import (
    JudgedMap,
    edge_metrics,
    map_metrics,
    needed_on_the_way,
    precision_at_recall,
    resampled_metrics,
)
from proprl.experiments.running.run import Result, Run
from proprl.fitting import Prepared, auto_background, fit_prepared
from proprl.graphs.closure import BoolArray, what_follows

FIFTH = 0.4
"""The `label_share` of a run that knows a fifth of the map: two fifths of the known half."""
QUARTER = 0.25
"""The `label_share` of a run whose labels come from a quarter of the concepts only."""
SHARES: Mapping[float, Known] = {1.0: "half", FIFTH: "fifth", QUARTER: "quarter"}
OTHER_PRIORS = {"prior at 1 %": 0.01, "prior at 10 %": 0.1}
"""Base rates that Sequitur might expect instead, before it sees a course."""
DIRECT_STEPS = ("campus",)
"""Courses whose labels are direct steps, so that only the graph is judged."""
WAYS: Mapping[str, tuple[str, str]] = {"campus": ("Fractions", "Gradient descent")}
"""From which concept to which the author of a map wrote down a way through it."""

SEARCH = 10.0
"""So many seconds the best choice of steps is looked for; on maps of courses it takes none."""
MAP_RESAMPLES = 1000
RESAMPLED_METRICS = (
    "average_precision",
    "average_precision_open",
    "log_loss_gain",
    "believed_right",
    "believed_found",
    "promised_ratio",
    "follows_f1",
    "labels_f1",
    "f1_lead",
)
RECALLS = np.arange(1, 51) / 50
"""The shares of prerequisites found at which precision is told."""
BOUNDS = np.array([0, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1])
"""Bounds of the bins of the reliability plot: narrow where most pairs are."""


def task_of(run: Run, course: Course) -> WholeMapTask:
    """Give the labels of a course that a run learns from, and the pairs that it is asked."""
    if run.part not in MAP_PARTS:
        raise ProprlError(f"a map has no {run.part} part; known: {', '.join(MAP_PARTS)}")
    if run.course in DIRECT_STEPS:
        return direct_steps_task(course, draw=run.fold)
    share = SHARES[run.label_share]
    return whole_map_task(course, part=run.part, draw=run.fold, share=share)


def map_result(run: Run, prepared: Prepared) -> Result:
    """Fit, score all pairs once, and give what the map is worth and what it cost."""
    course = prepared.course
    task = task_of(run, course)
    started = time.perf_counter()
    fit = fit_on_map(run, prepared, task)
    fitted = time.perf_counter()
    pairs = np.argwhere(~np.eye(task.concepts, dtype=np.bool_)).astype(np.int64)
    scores = fit.score(pairs)
    scored = time.perf_counter()
    believed = None if fit.calibration is None else fit.calibration.believed
    # Where nothing says what to believe, the threshold of the labelled pairs decides.
    threshold = fit.report.threshold if believed is None else LEARNED_FROM
    graph = prerequisite_graph(
        course.ids, course.names, task.known, pairs, scores, threshold=threshold, seconds=SEARCH
    )
    matrix = np.zeros((task.concepts, task.concepts))
    matrix[tuple(pairs.T)] = scores
    judged = judge(course, task, matrix, believed, graph.pairs)
    judged["metrics"] |= _with_other_priors(fit, task)
    return {
        "run": asdict(run),
        "encoder": prepared.encoder,
        **judged,
        "train_seconds": fitted - started,
        "score_seconds": scored - fitted,
    }


def fit_on_map(run: Run, prepared: Prepared, task: WholeMapTask) -> Fit:
    """Fit a method on the labels, and on background if it takes any."""
    background = auto_background(run.method, task.known, task.concepts, seed=run.seed)
    model = fit_prepared(prepared, task.split(), background=background, seed=run.seed, device="cpu")
    return model.fit


def judge(
    course: Course,
    task: WholeMapTask,
    scores: FloatArray,  # (n, n)
    believed: float | None,
    edges: IntArray,
) -> Result:
    """Give the metrics of a map, those of the rules, and what figures are drawn from.

    `believed` is the probability from which on a pair is believed; None where `scores` only rank.
    """
    at = tuple(task.asked.pairs.T)
    labels, said = task.asked.labels, scores[at]
    follows = what_follows(task.concepts, edges)
    seen = edges[task.in_view[tuple(edges.T)]]  # not the test half, unless it is asked
    # Where all positives of a pair of concepts are known already, a learned edge can only be wrong
    # or implied. Among the asked pairs it is as right as the model.
    asked = seen[np.isin(pair_codes(seen), pair_codes(task.asked.pairs))]
    of_asked = edge_metrics(task.concepts, asked, task.known, task.annotated)
    judged = JudgedMap(
        labels,
        said,
        task.open(),
        are_probabilities=believed is not None,
        believed=None if believed is None else said >= believed,
        follows=follows[at],
        labels_follow=task.follows()[at],
    )
    found = _told(judged, task)
    found["metrics"] |= {
        **edge_metrics(task.concepts, seen, task.known, task.annotated),
        "asked_edges_learned": of_asked["edges_learned"],
        "asked_edges_right": of_asked["edges_right"],
        **_new_concepts(task, said, promises=believed is not None),
        **_way(course, task, follows),
    }
    found["rules"] = _judged_rules(course, task)
    if believed is not None:
        found["reliability"] = [asdict(one) for one in reliability(labels, said, BOUNDS)]
    return found


def _told(judged: JudgedMap, task: WholeMapTask) -> Result:
    """Give the metrics of a map, the same on pairs drawn anew, and precision by share found."""
    resampled = resampled_metrics(judged, task.asked.pairs, resamples=MAP_RESAMPLES)
    return {
        "metrics": map_metrics(judged),
        "resampled": {
            name: resampled[name].round(5).tolist()
            for name in RESAMPLED_METRICS
            if name in resampled
        },
        "curve": precision_at_recall(judged.labels, judged.scores, RECALLS).tolist(),
    }


def _judged_rules(course: Course, task: WholeMapTask) -> Result:
    """Judge two rules without a model by the same pairs.

    `degrees`: how often the source is a known source times how often the target is a known
    target. `reachability`: whether the pair follows from known positives, which is also the map
    of the labels alone.
    """
    implied = task.follows()
    follows = implied[tuple(task.asked.pairs.T)]

    def rule(scores: FloatArray, **maps: BoolArray) -> Result:
        labels = task.asked.labels
        return _told(JudgedMap(labels, scores, task.open(), are_probabilities=False, **maps), task)

    reachability = rule(follows.astype(np.float64), follows=follows, labels_follow=follows)
    reachability["metrics"] |= _way(course, task, implied)
    degrees = rule(degree_rule(task.known, task.asked.pairs))
    return {"degrees": degrees, "reachability": reachability}


def _new_concepts(task: WholeMapTask, said: FloatArray, *, promises: bool) -> dict[str, float]:
    """Judge the asked pairs in which a concept has no label at all."""
    labelled = np.zeros(task.concepts, dtype=np.bool_)
    labelled[task.known.pairs] = True
    new = ~labelled[task.asked.pairs].all(axis=1)
    labels = task.asked.labels[new]
    found = {
        "new_pairs": float(new.sum()),
        "new_auc": auc(labels, said[new]) if len(labels) else float("nan"),
        "new_true": float(labels.sum()),
    }
    return found | ({"new_promised": float(said[new].sum())} if promises else {})


def _with_other_priors(fit: Fit, task: WholeMapTask) -> dict[str, float]:
    """Judge the probabilities that other expected base rates would have led to."""
    if fit.calibration is None or fit.calibration.base_rate is None:
        return {}
    asked = task.asked
    found: dict[str, float] = {}
    for name, rate in OTHER_PRIORS.items():
        prior = float(logit(rate)), PRIOR_DEVIATION
        said = fit.with_prior(prior, task.known, task.concepts).score(asked.pairs)
        metrics = map_metrics(JudgedMap(asked.labels, said, task.open()))
        for metric in ("promised_ratio", "log_loss_gain"):  # what depends on the base rate
            found[f"{metric}, {name}"] = metrics[metric]
    return found


def _way(course: Course, task: WholeMapTask, follows: BoolArray) -> dict[str, float]:
    """Count the concepts on the author's way, on the map's way, and on both."""
    if course.name not in WAYS:
        return {}
    start, goal = (course.row(concept) for concept in WAYS[course.name])
    author = needed_on_the_way(what_follows(task.concepts, task.annotated.positives), start, goal)
    mine = needed_on_the_way(follows, start, goal)
    return {
        "way_found": float(len(mine & author)),
        "way_length": float(len(mine)),
        "way_author": float(len(author)),
    }
