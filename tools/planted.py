"""Courses with a planted answer, for tests and benchmarks."""

from __future__ import annotations

import numpy as np
import polars as pl

from proprl.arrays import FloatArray, IntArray
from proprl.data.course import Course


def planted_course(
    *,
    concepts: int = 60,
    pairs: int = 400,
    transitions: int = 800,
    features: int = 32,
    noise: float = 0.5,
    topics: int | None = None,
    seed: int = 0,
) -> Course:
    """Give a course whose prerequisites are known because they were planted.

    Concepts have a hidden topic and a hidden level. A concept is a prerequisite of another
    when both are of one topic and the other's level is higher. All evidence is made from
    topic and level with noise, none from the labels: features hold both, learners mostly move
    up within a topic, a resource holds neighbouring levels of a topic. Half of the labelled
    pairs are prerequisites; the others are reversed, or cross topics.

    A topic has about 15 concepts unless `topics` says otherwise. Small topics offer few moves up,
    so a course may have fewer than `transitions`.
    """
    rng = np.random.default_rng(seed)
    topic = np.arange(concepts) % (topics or max(2, concepts // 15))
    level = rng.permutation(concepts) / concepts
    ids = [f"c{i}" for i in range(concepts)]
    named = np.array(ids)
    moves = _moves(topic, level, transitions, rng)
    labelled, labels = _labelled(topic, level, pairs, rng)
    resources, links = _resources(topic, level, named)
    return Course.from_tables(
        name="planted",
        description="A synthetic course with planted prerequisites.",
        concepts=pl.DataFrame({"id": ids, "name": [f"Concept {i}" for i in range(concepts)]}),
        resources=resources,
        concept_resources=links,
        transitions=pl.DataFrame(
            {
                "source": named[moves[:, 0]],
                "target": named[moves[:, 1]],
                "weight": rng.geometric(0.2, len(moves)).astype(float),
            }
        ),
        pairs=pl.DataFrame(
            {"source": named[labelled[:, 0]], "target": named[labelled[:, 1]], "label": labels}
        ),
        features=_features(topic, level, features, noise, rng),
    )


def _features(
    topic: IntArray, level: FloatArray, size: int, noise: float, rng: np.random.Generator
) -> FloatArray:
    topic_vectors = rng.normal(size=(int(topic.max()) + 1, size))
    level_direction = rng.normal(size=size)
    X = topic_vectors[topic] + np.outer(2 * level - 1, level_direction)
    return X + noise * rng.normal(size=X.shape)


def _moves(topic: IntArray, level: FloatArray, count: int, rng: np.random.Generator) -> IntArray:
    """Distinct moves of learners: four in five go up within a topic, the rest anywhere."""
    n = len(topic)
    # Often enough that hardly any move up is missed where that many are wanted.
    drawn = rng.integers(0, n, size=(max(20 * count, 2 * n * n), 2))
    i, j = drawn[:, 0], drawn[:, 1]
    up = (topic[i] == topic[j]) & (level[i] < level[j]) & (level[j] - level[i] < 0.4)
    drawn = drawn[(i != j) & (up | (rng.random(len(drawn)) < 0.2 * up.mean()))]
    return np.unique(drawn, axis=0)[rng.permutation(len(np.unique(drawn, axis=0)))[:count]]


def _labelled(
    topic: IntArray, level: FloatArray, count: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    i, j = (a.ravel() for a in np.meshgrid(np.arange(len(topic)), np.arange(len(topic))))
    positive = (topic[i] == topic[j]) & (level[i] < level[j])
    every = np.column_stack([i, j])
    positives = rng.permutation(every[positive])[: count // 2]
    backward = rng.permutation(every[(topic[i] == topic[j]) & (level[i] > level[j])])
    across = rng.permutation(every[topic[i] != topic[j]])
    negatives = np.concatenate([backward[: count // 4], across[: count // 4]])
    labels = np.repeat([1, 0], [len(positives), len(negatives)])
    order = rng.permutation(len(labels))
    return np.concatenate([positives, negatives])[order], labels[order]


def _resources(
    topic: IntArray, level: FloatArray, named: np.ndarray[tuple[int], np.dtype[np.str_]]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Give one resource for every three neighbouring levels of a topic."""
    groups: list[list[str]] = []
    for t in range(int(topic.max()) + 1):
        members = np.flatnonzero(topic == t)
        members = members[np.argsort(level[members])]
        groups += [named[members[k : k + 4]].tolist() for k in range(0, len(members), 3)]
    ids = [f"r{k}" for k in range(len(groups))]
    links = [(concept, r) for r, group in zip(ids, groups, strict=True) for concept in group]
    return (
        pl.DataFrame({"id": ids, "title": [f"Resource {k}" for k in range(len(groups))]}),
        pl.DataFrame(links, schema=["concept", "resource"], orient="row"),
    )
