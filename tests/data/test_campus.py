"""The bundled course `campus`: its counts, its labels and its simulated learners."""

from __future__ import annotations

import csv
import importlib.util
import sys
import tomllib
from collections import Counter
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import networkx as nx
import pytest

ROOT = Path(__file__).resolve().parents[2]
COURSE = ROOT / "src" / "proprl" / "data" / "campus"
TOOLS = ROOT / "tools" / "campus"

CONCEPTS = 158
TOPICS = 10
POSITIVES = 270
NEGATIVES = {"reversed": 110, "same topic": 110, "unrelated": 110}
SPLIT = {
    ("train", 1): 190,
    ("train", 0): 234,
    ("validation", 1): 40,
    ("validation", 0): 48,
    ("test", 1): 40,
    ("test", 0): 48,
}
LEARNERS = 300
INTERACTIONS = 13_809

Pair = tuple[str, str]


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def concepts() -> list[dict[str, str]]:
    return read(COURSE / "concepts.csv")


@pytest.fixture(scope="module")
def pairs() -> list[dict[str, str]]:
    return read(COURSE / "pairs.csv")


@pytest.fixture(scope="module")
def interactions() -> list[dict[str, str]]:
    return read(COURSE / "interactions.csv")


@pytest.fixture(scope="module")
def simulator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("campus_simulate", TOOLS / "simulate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


def labelled(pairs: list[dict[str, str]], label: str) -> list[Pair]:
    return [(row["source"], row["target"]) for row in pairs if row["label"] == label]


def test_the_course_names_itself() -> None:
    course = tomllib.loads((COURSE / "course.toml").read_text(encoding="utf-8"))
    assert course["name"] == "campus"
    assert course["language"] == "en"
    assert course["licence"] == "Apache-2.0"
    assert course["description"]


def test_concepts_are_unique_named_and_defined(concepts: list[dict[str, str]]) -> None:
    ids = [row["id"] for row in concepts]
    assert len(ids) == len(set(ids)) == CONCEPTS
    assert len({row["name"] for row in concepts}) == CONCEPTS
    assert all(15 <= len(row["description"].split()) <= 30 for row in concepts)


def test_the_order_of_the_rows_tells_nothing(concepts: list[dict[str, str]]) -> None:
    ids = [row["id"] for row in concepts]
    assert ids == sorted(ids)


@pytest.mark.parametrize("name", ["Limits", "Derivatives", "Fractions", "Gradient descent"])
def test_the_names_used_in_the_guide_exist(concepts: list[dict[str, str]], name: str) -> None:
    assert name in {row["name"] for row in concepts}


def test_every_concept_has_a_topic_and_a_hidden_level(concepts: list[dict[str, str]]) -> None:
    levels = read(TOOLS / "levels.csv")
    assert sorted(row["concept"] for row in levels) == [row["id"] for row in concepts]
    assert len({row["topic"] for row in levels}) == TOPICS
    assert [row["topic"] for row in concepts] == [
        topic.capitalize() for _, topic in sorted((row["concept"], row["topic"]) for row in levels)
    ]
    assert all(0 <= int(row["level"]) <= 100 for row in levels)


def test_pairs_are_known_distinct_and_cover_every_concept(
    concepts: list[dict[str, str]], pairs: list[dict[str, str]]
) -> None:
    ids = {row["id"] for row in concepts}
    ordered = [(row["source"], row["target"]) for row in pairs]
    assert len(ordered) == len(set(ordered)), "a pair stands there twice or with both labels"
    assert all(source != target for source, target in ordered)
    assert {concept for pair in ordered for concept in pair} == ids


def test_labels_and_split_have_the_declared_counts(pairs: list[dict[str, str]]) -> None:
    assert Counter((row["split"], int(row["label"])) for row in pairs) == SPLIT
    assert len(labelled(pairs, "1")) == POSITIVES


def test_negatives_are_of_three_kinds(pairs: list[dict[str, str]]) -> None:
    topic = {row["concept"]: row["topic"] for row in read(TOOLS / "levels.csv")}
    positives = set(labelled(pairs, "1"))

    def kind(source: str, target: str) -> str:
        if (target, source) in positives:
            return "reversed"
        return "same topic" if topic[source] == topic[target] else "unrelated"

    assert Counter(kind(*pair) for pair in labelled(pairs, "0")) == NEGATIVES


def test_positives_hold_no_cycle_and_imply_no_negative(pairs: list[dict[str, str]]) -> None:
    graph = nx.DiGraph(labelled(pairs, "1"))
    assert nx.is_directed_acyclic_graph(graph)
    implied = set(nx.transitive_closure_dag(graph).edges)
    assert implied.isdisjoint(labelled(pairs, "0"))


def test_only_reversed_negatives_touch_the_closure(pairs: list[dict[str, str]]) -> None:
    positives = labelled(pairs, "1")
    implied = set(nx.transitive_closure_dag(nx.DiGraph(positives)).edges)
    backwards = {(s, t) for s, t in labelled(pairs, "0") if (t, s) in implied}
    assert backwards == {(t, s) for s, t in positives} & set(labelled(pairs, "0"))


def test_both_orders_of_a_pair_stand_in_one_part(pairs: list[dict[str, str]]) -> None:
    part = {(row["source"], row["target"]): row["split"] for row in pairs}
    both = [(s, t) for s, t in part if (t, s) in part]
    assert len(both) == 2 * NEGATIVES["reversed"]
    assert all(part[s, t] == part[t, s] for s, t in both)


def test_interactions_are_known_and_in_order(
    concepts: list[dict[str, str]], interactions: list[dict[str, str]]
) -> None:
    assert len(interactions) == INTERACTIONS
    assert len({row["learner"] for row in interactions}) == LEARNERS
    assert {row["concept"] for row in interactions} == {row["id"] for row in concepts}
    for before, after in pairwise(interactions):
        if before["learner"] == after["learner"]:
            times = [datetime.fromisoformat(row["time"]) for row in (before, after)]
            assert times[0] < times[1]
            assert before["concept"] != after["concept"]


def test_the_simulator_gives_the_committed_bytes(simulator: ModuleType) -> None:
    committed = (COURSE / "interactions.csv").read_bytes()
    assert simulator.simulate(seed=0).encode("utf-8") == committed
    assert len(committed) < 900_000


def test_another_seed_gives_other_learners(simulator: ModuleType) -> None:
    few = simulator.Settings(learners=3)
    assert simulator.simulate(1, few) == simulator.simulate(1, few)
    assert simulator.simulate(1, few) != simulator.simulate(2, few)


def test_the_simulator_reads_the_levels_and_no_label(
    simulator: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    real_open = Path.open

    def watched(path: Path, *args: object, **options: object) -> object:
        opened.append(path.name)
        return real_open(path, *args, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", watched)
    simulator.simulate(0, simulator.Settings(learners=1))
    assert opened == ["levels.csv"]


def test_behaviour_leans_forward_but_is_noisy(
    pairs: list[dict[str, str]], interactions: list[dict[str, str]]
) -> None:
    follows = Counter(
        (before["concept"], after["concept"])
        for before, after in pairwise(interactions)
        if before["learner"] == after["learner"]
    )
    positives = labelled(pairs, "1")
    forward = [follows[s, t] for s, t in positives]
    backward = [follows[t, s] for s, t in positives]
    silent = sum(f + b == 0 for f, b in zip(forward, backward, strict=True))
    assert (sum(forward), sum(backward), silent) == (801, 502, 73)  # as docs/campus.md says


def test_the_folder_stays_small() -> None:
    assert sum(path.stat().st_size for path in COURSE.iterdir() if path.is_file()) < 3_000_000
