"""How good the choice of steps in a map is: its distance from the best, beside simpler choices.

    python benchmarks/graph.py [size] [distance] [f1] [stability]

- size: 5,000 concepts, 50,000 pairs of a random order, 15 % of them turned round (seed 0).
- distance: how far the maps of real courses are from the best choice, and how long that takes.
- f1: what follows from the map, from the greedy choice (strongest first), and from the labels.
  Maps on the test halves, three draws of labels; nothing is chosen by them.
- stability: how much of a map stays when one label in fifty is left out. Five draws.

Needs the public data (PROPRL_DATA); ten minutes of one core in all.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import numpy as np
import torch

from proprl import PrerequisiteModel, load_course
from proprl.arrays import FloatArray, IntArray
from proprl.curriculum.acyclic import Problem, best_choice
from proprl.curriculum.all_pairs import strongest_pairs
from proprl.curriculum.graph import LEARNED_FROM, PrerequisiteGraph, map_of, prerequisite_graph
from proprl.data.splits.labelled import pair_codes
from proprl.data.splits.parts import PairSplit, split_course
from proprl.evaluation.whole_map import JudgedMap, map_metrics
from proprl.experiments.running.execute import course_of, evidence_of
from proprl.experiments.running.run import WHOLE_MAP, Run
from proprl.experiments.running.whole_map import FIFTH, fit_on_map, task_of
from proprl.fitting import Choices, Prepared, auto_background, fit_prepared, prepare
from proprl.graphs.closure import closure_and_steps, connect, what_follows
from proprl.models.registry import method_settings

COURSES = ("campus", "mooc", "ucd", "lecturebank-208")
MAPS = (("lecturebank-208", 1.0), ("lecturebank-208", FIFTH), ("lecturebank-322", 1.0),
        ("lecturebank-322", FIFTH), ("campus", 1.0))  # fmt: skip
CONCEPTS, PAIRS, AGAINST = 5_000, 50_000, 0.15
DRAWS, LEFT_OUT, TIMES = 3, 50, 5


def random_pairs() -> tuple[IntArray, FloatArray]:
    """Give pairs of a random order, some turned round, with weights |N(0, 1)|."""
    rng = np.random.default_rng(0)
    codes = rng.choice(CONCEPTS * CONCEPTS, 3 * PAIRS, replace=False)
    low, high = np.divmod(codes, CONCEPTS)
    pairs = np.column_stack([low, high])[low < high][:PAIRS]  # distinct, each in one order
    turned = rng.random(PAIRS) < AGAINST
    pairs = np.where(turned[:, None], pairs[:, ::-1], pairs)
    return rng.permutation(CONCEPTS)[pairs], np.abs(rng.standard_normal(PAIRS))


def size() -> None:
    pairs, weights = random_pairs()
    nothing = np.empty((0, 2), dtype=np.int64)
    problem = Problem(CONCEPTS, nothing, nothing, pairs, weights)
    started = time.perf_counter()
    choice = best_choice(problem)
    chosen = time.perf_counter()
    closure_and_steps(CONCEPTS, pairs[choice.kept])
    reduced = time.perf_counter()
    print(
        f"size: {CONCEPTS:,} concepts, {PAIRS:,} pairs: chosen in {chosen - started:.1f} s, "
        f"reduced in {reduced - chosen:.1f} s; kept {1 - choice.lost / weights.sum():.1%} of the "
        f"weight, at most {choice.gap(problem):.1%} from the best"
    )


def distance() -> None:
    for name in COURSES:
        fitted = PrerequisiteModel(seed=42).fit(load_course(name)).fitted_
        for threshold in (LEARNED_FROM, 0.1):
            pairs, p = strongest_pairs(fitted, threshold=threshold)
            started = time.perf_counter()
            graph = prerequisite_graph(
                fitted.concept_ids, fitted.concept_names, fitted.known, pairs, p,
                threshold=threshold,
            )  # fmt: skip
            seconds = time.perf_counter() - started
            best = "the best" if graph.gap == 0 else f"at most {graph.gap:.2%} from the best"
            print(
                f"distance: {name}, from {threshold}: {len(graph)} steps, "
                f"{graph.left_out.cycle + graph.left_out.rejected} left out, {best}, "
                f"{seconds:.2f} s"
            )


def f1() -> None:
    for name, share in MAPS:
        rows = [_f1_of(name, share, draw) for draw in range(DRAWS)]
        best, greedy, labels = np.mean(rows, axis=0)
        print(
            f"f1: {name}, {'a fifth' if share < 1 else 'half'} known: map {best:.4f}, "
            f"greedy {greedy:.4f}, labels alone {labels:.4f}"
        )


def _f1_of(name: str, share: float, draw: int) -> tuple[float, float, float]:
    """Give the F1 of what follows from the map, the greedy choice and the labels alone."""
    run = Run("sequitur", name, protocol=WHOLE_MAP, part="test", fold=draw, label_share=share)
    course = course_of(name, "fixed", None)
    evidence, encoder = evidence_of(name, "fixed", None, "auto")
    settings = method_settings("sequitur", "default")
    task = task_of(run, course)
    prepared = Prepared(course, "sequitur", "default", settings, evidence, encoder)
    fit = fit_on_map(run, prepared, task)
    pairs = np.argwhere(~np.eye(task.concepts, dtype=np.bool_))
    p = fit.score(pairs)
    graph = prerequisite_graph(
        course.ids, course.names, task.known, pairs, p, threshold=LEARNED_FROM
    )
    at, labels_follow = tuple(task.asked.pairs.T), task.follows()

    def f1_of(edges: IntArray) -> dict[str, float]:
        follows = what_follows(task.concepts, edges)[at]
        said = np.zeros(len(task.asked))
        return map_metrics(
            JudgedMap(task.asked.labels, said, task.open(), are_probabilities=False,
                      follows=follows, labels_follow=labels_follow[at])
        )  # fmt: skip

    best = f1_of(graph.pairs)
    return best["follows_f1"], f1_of(greedy(graph, pairs, p))["follows_f1"], best["labels_f1"]


def greedy(graph: PrerequisiteGraph, pairs: IntArray, p: FloatArray) -> IntArray:
    """Give the edges of the labels, and of pairs added by falling probability while they fit."""
    n, labels = len(graph.ids), graph.labels
    reach = what_follows(n, labels.kept)
    no = labels.rejected[~reach[tuple(labels.rejected.T)]]
    np.fill_diagonal(reach, True)
    added = []
    likely = np.flatnonzero(p >= LEARNED_FROM)
    for i, j in pairs[likely[np.lexsort((pair_codes(pairs[likely]), -p[likely]))]].tolist():
        if not (reach[i, j] or reach[j, i] or (reach[no[:, 0], i] & reach[j, no[:, 1]]).any()):
            connect(reach, i, j)
            added.append((i, j))
    return np.vstack([labels.kept, np.array(added, dtype=np.int64).reshape(-1, 2)])


def stability() -> None:
    for name in ("campus", "mooc"):
        prepared = prepare(load_course(name), Choices(seed=42))
        split = split_course(prepared.course, "auto")
        before = _map(prepared, split)
        rng = np.random.default_rng(0)
        stays = []
        for _ in range(TIMES):
            few = len(split.train) // LEFT_OUT
            left = np.setdiff1d(
                np.arange(len(split.train)), rng.choice(len(split.train), few, replace=False)
            )
            after = _map(prepared, replace(split, train=split.train.take(left)))
            stays.append([_share(one, other) for one, other in zip(before, after, strict=True)])
        steps, learned, follows = np.mean(stays, axis=0)
        print(
            f"stability: {name}: of the steps {steps:.0%} stay, of the learned ones "
            f"{learned:.0%}, of what follows {follows:.0%}"
        )


def _map(prepared: Prepared, split: PairSplit) -> list[set[tuple[int, ...]]]:
    """Give the steps of a map from these labels, the learned ones, and what follows."""
    known, n = split.train.joined(split.validation), len(prepared.course)
    background = auto_background("sequitur", known, n, seed=42)
    graph = map_of(fit_prepared(prepared, split, background=background, seed=42))
    follows = np.argwhere(what_follows(n, graph.pairs))
    found = (graph.pairs, graph.pairs[~graph.confirmed], follows)
    return [set(map(tuple, rows.tolist())) for rows in found]


def _share(before: set[tuple[int, ...]], after: set[tuple[int, ...]]) -> float:
    """Give the share of what is in one map or the other that is in both."""
    return len(before & after) / len(before | after)


def main(asked: list[str]) -> None:
    torch.set_num_threads(1)
    parts = {"size": size, "distance": distance, "f1": f1, "stability": stability}
    for name in asked or parts:
        parts[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
