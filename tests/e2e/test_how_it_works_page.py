"""docs/how-it-works.md: every function named there exists, and its numbers come out."""

from __future__ import annotations

import re
from functools import reduce
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from proprl import PrerequisiteModel
from proprl.curriculum.all_pairs import strongest_pairs
from proprl.curriculum.graph import LEARNED_FROM
from proprl.data import Course
from proprl.evaluation.base_rate import log_odds
from proprl.pairs.table import fold_of

PAGE = (Path(__file__).parents[2] / "docs" / "how-it-works.md").read_text(encoding="utf-8")
TEXT = " ".join(PAGE.split()).replace("−", "-")
FIRST, THEN = "Derivatives", "Chain rule"
# The last digits vary between machines.
NEARLY = {"abs": 0.03, "rel": 0.03}


def said(words: str) -> list[float]:
    """Give the numbers that stand at the places marked N in these words of the page."""
    pattern = re.escape(words).replace("N", r"([-+]?[\d,]+(?:\.\d+)?)").replace(r"\ ", " ")
    found = re.search(pattern, TEXT)
    assert found is not None, f"the page does not say: {words}"
    return [float(number.replace(",", "")) for number in found.groups()]


def exists(name: str) -> bool:
    """Whether proprl has this module.function, or module.Class.method."""
    words = name.split(".")
    for end in range(len(words) - 1, 0, -1):
        module = "proprl." + ".".join(words[:end])
        try:
            there = find_spec(module) is not None
        except ModuleNotFoundError:
            there = False
        if there:
            home = import_module(module)
            try:
                return callable(reduce(getattr, words[end:], home))
            except AttributeError:
                return False
    return False


def test_every_function_named_exists() -> None:
    named = re.findall(r"`([a-z_]+(?:\.[A-Za-z_]+)+)`", PAGE)
    named = [name for name in named if not name.endswith((".csv", ".toml", ".md"))]
    assert len(named) > 15
    assert [name for name in named if not exists(name)] == []


def test_it_can_be_read_in_one_go() -> None:
    assert len(PAGE.splitlines()) <= 60


@pytest.fixture(scope="module")
def model(campus: Course, all_folds: int) -> PrerequisiteModel:
    return PrerequisiteModel(seed=42, encoder="wordllama").fit(campus)


@pytest.fixture(scope="module")
def pair(campus: Course) -> np.ndarray:
    return np.array([[campus.names.index(FIRST), campus.names.index(THEN)]])


def test_what_goes_in(model: PrerequisiteModel, pair: np.ndarray) -> None:
    fitted, (i, j) = model.fitted_, pair[0]
    known, test = fitted.known, fitted.split.test
    assert said("the labels: N to learn from, N kept apart. N of the N say yes") == [
        len(known),
        len(test),
        len(known.positives),
        len(known),
    ]
    assert test.labels[(test.pairs == pair).all(axis=1)].tolist() == [1]
    assert said("draws N pairs without a label") == [fitted.background]
    features = fitted.scorer.table.evidence.features
    assert said("the N concepts into N numbers") == list(features.shape)
    moves = fitted.transitions
    assert said("N went straight from Derivatives to Chain rule, N went back") == [
        moves[i, j],
        moves[j, i],
    ]
    assert said("mention both: N.") == [(fitted.incidence[[i]] @ fitted.incidence[[j]].T).sum()]


def test_the_row(model: PrerequisiteModel, pair: np.ndarray, all_folds: int) -> None:
    table = model.fitted_.scorer.table
    row = {one.name: n for one, n in zip(table.columns, table.rows(pair)[0], strict=True)}
    assert said("the pair by N numbers") == [len(row)]
    fold = fold_of(pair, all_folds)
    outside = fold_of(table.known.pairs, all_folds) != fold
    assert said("fold N of N. Only the N labels") == [fold[0], all_folds, outside.sum()]
    texts, there, back = (
        row["likeness of texts"],
        row["share of the first's resources"],
        row["share of the first's resources, turned round"],
    )
    assert said("The texts are N alike.") == pytest.approx([texts], **NEARLY)
    assert said("N hold Chain rule; the other way round it is N.") == pytest.approx(
        [there, back], **NEARLY
    )
    rate = "rate of like pairs by texts"
    assert said("It is N in this order, and N turned round") == pytest.approx(
        [row[rate], row[f"{rate}, turned round"]], **NEARLY
    )


def test_from_score_to_probability(model: PrerequisiteModel, pair: np.ndarray) -> None:
    fit = model.fitted_.fit
    z, calibration = log_odds(fit.scorer.score(pair))[0], fit.calibration
    assert calibration is not None
    a, b = calibration.slope, calibration.intercept
    p, reverse = model.predict_proba([(FIRST, THEN), (THEN, FIRST)])
    assert said("they say N in log-odds") == pytest.approx([z], **NEARLY)
    assert said("a slope of N and an intercept of N") == pytest.approx([a, b], **NEARLY)
    assert said("N · N - N = N in log-odds, a probability of **N**") == pytest.approx(
        [a, z, -b, log_odds(np.array([p]))[0], p], **NEARLY
    )
    assert said("The reverse has N.") == pytest.approx([reverse], abs=0.02)
    assert model.expected_ is not None
    assert said("About N open pair in N") == pytest.approx([1, model.expected_.one_in], rel=0.1)


def test_the_edge(model: PrerequisiteModel) -> None:
    graph, n = model.graph(), len(model.fitted_.concept_ids)
    strong, _ = strongest_pairs(model.fitted_, threshold=LEARNED_FROM)
    assert said("all N ordered pairs. N have N or more") == pytest.approx(
        [n * (n - 1), len(strong), LEARNED_FROM], rel=0.05
    )
    assert not len(graph.conflicts)
    learned = {(edge.source, edge.target) for edge in graph if not edge.confirmed}
    assert said("The map has N steps. N are learned") == pytest.approx(
        [len(graph), len(learned)], rel=0.1
    )
    assert (FIRST, THEN) in learned


def test_the_reasons(model: PrerequisiteModel) -> None:
    why = model.explain(FIRST, THEN)
    assert why.base is not None
    kinds = [why.kinds[kind] for kind in ("resources", "labels", "moves", "texts")]
    total = why.base + sum(kinds)
    assert said("| N | N | N | N | N | N |") == pytest.approx([why.base, *kinds, total], **NEARLY)
    assert total == pytest.approx(log_odds(np.array([why.probability]))[0])
