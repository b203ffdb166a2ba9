"""What Sequitur's choices are worth: the model without a group of columns, or with other trees.

Maps: average precision on the development halves, half of each known, three draws of labels.
Pairs as people choose them: AUC on the validation pairs of five leak-free folds, and of five draws
of new concepts; without background. No test pair has a part in it. Differences are in points
(100 times), with their standard error: over asked pairs drawn anew, or over folds. The last
column: seconds of the processor that all of it took.

    python benchmarks/choices.py [--choice "without moves" --choice ...]

Needs the public data (PROPRL_DATA); half an hour of one core. XGBoost is left out where
it is not installed (`pip install xgboost-cpu`).
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from scipy.special import logit
from sklearn.ensemble import ExtraTreesClassifier

from proprl.arrays import FloatArray, IntArray
from proprl.calibrating import fit_scorer
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit
from proprl.evaluation.metrics import auc
from proprl.evaluation.whole_map import mean_of
from proprl.experiments.running.execute import course_of, evidence_of
from proprl.experiments.running.protocols import split_of
from proprl.experiments.running.run import WHOLE_MAP, Run
from proprl.experiments.running.whole_map import map_result
from proprl.fitting import Prepared
from proprl.models.registry import method, method_settings
from proprl.pairs.columns import Column
from proprl.pairs.table import PairTable

MAPS = ("lecturebank-208", "lecturebank-322")
SETS = ("mooc", "ucd", "lecturebank")
DRAWS, FOLDS = 3, 5
SCORER = "proprl.models.sequitur"

# Columns


def table_without(left_out: Callable[[Column], bool]) -> type[PairTable]:
    class Narrowed(PairTable):
        """A table in which some columns say nothing: no tree asks what is the same everywhere."""

        def _described(self, pairs: IntArray, by: IntArray) -> FloatArray:
            rows = super()._described(pairs, by)
            rows[:, [left_out(column) for column in self.columns]] = 0
            return rows

    return Narrowed


def without(left_out: Callable[[Column], bool]) -> AbstractContextManager[object]:
    return patch(f"{SCORER}.PairTable", table_without(left_out))


def named(*words: str) -> AbstractContextManager[object]:
    return without(lambda column: any(word in column.name for word in words))


def of_kind(kind: str) -> AbstractContextManager[object]:
    return without(lambda column: column.kind == kind)


# Learners


class OtherLesson:
    """Stands for `Lesson`: rows to learn from, and what grows from them."""

    def __init__(self, x: FloatArray, y: IntArray, weights: FloatArray) -> None:
        self.rows = x, y, weights

    def grown(self, trees: int, *, among: Any = None, times: int = 1, seed: int) -> Any:
        """Learn once, or several times and take the mean; see `Lesson`."""
        rows = tuple(part if among is None else part[among] for part in self.rows)
        return Mean([self.learned(*rows, trees, times * seed + time) for time in range(times)])

    def learned(
        self, x: FloatArray, y: IntArray, w: FloatArray, trees: int, seed: int
    ) -> Callable[[FloatArray], FloatArray]:
        """Give a function from rows to log-odds."""
        raise NotImplementedError


class Mean:
    def __init__(self, functions: list[Callable[[FloatArray], FloatArray]]) -> None:
        self.functions = functions

    def sums(self, x: FloatArray) -> FloatArray:
        return np.mean([function(x) for function in self.functions], axis=0)


class ExtraTrees(OtherLesson):
    def learned(self, x, y, w, trees, seed):
        grown = ExtraTreesClassifier(2 * trees, min_samples_leaf=8, random_state=seed)
        grown.fit(x, y, w)
        return lambda rows: logit(grown.predict_proba(rows)[:, 1].clip(1e-6, 1 - 1e-6))


class XGBoost(OtherLesson):
    def learned(self, x, y, w, trees, seed):
        import xgboost

        settings = {
            "objective": "binary:logistic",
            "tree_method": "hist",
            "max_bin": 63,
            "max_depth": 4,
            "eta": 0.045,
            "colsample_bynode": 0.1,
            "min_child_weight": 10,
            "reg_lambda": 10,
            "nthread": 1,
            "seed": seed,
        }
        grown = xgboost.train(settings, xgboost.DMatrix(x, y, weight=w), trees)
        return lambda rows: grown.predict(xgboost.DMatrix(rows), output_margin=True)


def learner(lesson: type[OtherLesson]) -> AbstractContextManager[object]:
    return patch(f"{SCORER}.Lesson", lesson)


CHOICES: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "without likeness of texts": lambda: named("likeness of texts"),
    "without names in texts": lambda: named("text names the"),
    "without moves": lambda: of_kind("moves"),
    "without resources": lambda: of_kind("resources"),
    "without the graph of labels": lambda: named("known", "alike", "common", "prerequisite of"),
    "without like pairs and concepts by texts": lambda: named("by texts"),
    "without like pairs and concepts by moves": lambda: named("by moves"),
    "without like pairs and concepts by role": lambda: named("by role"),
    "without places of like concepts": lambda: named("like concepts rather first"),
    "ExtraTrees, leaves of 8": lambda: learner(ExtraTrees),
    "XGBoost": lambda: learner(XGBoost),
}


# What each is worth


def figures(choice: AbstractContextManager[object]) -> Iterator[tuple[str, float, FloatArray]]:
    """Give the set, its figure, and what the error of a difference is worked out from."""
    with choice:
        for name in MAPS:
            found = [on_map(name, draw) for draw in range(DRAWS)]
            figure = np.mean([one["metrics"]["average_precision"] for one in found])
            resampled = [{k: np.array(v) for k, v in one["resampled"].items()} for one in found]
            yield name, float(figure), mean_of(resampled, "average_precision")
        for protocol, words in (("leak-free", ""), ("new-concepts", "new: ")):
            for name in SETS:
                folds = np.array([on_pairs(name, protocol, fold) for fold in range(FOLDS)])
                yield words + name, float(folds.mean()), folds


def on_map(name: str, draw: int) -> dict[str, Any]:
    run = Run("sequitur", name, protocol=WHOLE_MAP, fold=draw, seed=draw, part="development")
    evidence, encoder = evidence_of(name, "fixed", None, "auto")
    course = course_of(name, "fixed", None)
    settings = method_settings("sequitur")
    return map_result(run, Prepared(course, "sequitur", "default", settings, evidence, encoder))


def on_pairs(name: str, protocol: str, fold: int) -> float:
    course = course_of(name, "fixed", None)
    parts = split_of(Run("sequitur", name, protocol=protocol, fold=fold), course)
    held_out, none = parts.validation, LabelledPairs.empty()
    split = PairSplit(parts.train, none, none, protocol, promises_reversed=True)
    scorer = method("sequitur")(method_settings("sequitur"), device="cpu")
    fit = fit_scorer(scorer, evidence_of(name, "fixed", None, "auto")[0], split, seed=fold)
    return auc(held_out.labels, fit.score(held_out.pairs))


def error_of(set_name: str, difference: FloatArray) -> float:
    spread = np.std(difference, ddof=1)
    return float(spread if set_name in MAPS else spread / np.sqrt(len(difference)))


def row(what: str, cells: list[str], seconds: float) -> None:
    print(f"| {what} | {' | '.join(cells)} | {seconds:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--choice", action="append", choices=tuple(CHOICES), help="only this one")
    asked = parser.parse_args().choice or list(CHOICES)
    torch.set_num_threads(1)
    list(figures(ExitStack()))  # texts are encoded, and libraries loaded
    started = time.process_time()
    whole = {name: (figure, spread) for name, figure, spread in figures(ExitStack())}
    print(f"| | {' | '.join(whole)} | seconds |\n{'|---' * (len(whole) + 2)}|")
    row("as it is", [f"{f:.3f}" for f, _ in whole.values()], time.process_time() - started)
    for choice in asked:
        if choice == "XGBoost" and importlib.util.find_spec("xgboost") is None:
            continue
        started, cells = time.process_time(), []
        for name, figure, spread in figures(CHOICES[choice]()):
            lost = 100 * (figure - whole[name][0])
            cells.append(f"{lost:+.1f} ± {100 * error_of(name, spread - whole[name][1]):.1f}")
        row(choice, cells, time.process_time() - started)


if __name__ == "__main__":
    main()
