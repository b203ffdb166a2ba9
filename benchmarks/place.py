"""How well a placement test tells what a learner knows, and with how many questions.

Graphs: what follows from a set's annotated prerequisites, with cycles merged into one concept and
concepts without any prerequisite left out; or planted ones (`planted`). Learners: the concepts in
a random order that respects the graph (each time any of those that are ready), known up to
a place drawn evenly between 10 and 90 %. 100 of them a graph, from fixed seeds. Each is asked
by `proprl place`; 30 are also asked at random, until 40 % of the concepts are asked, and judged by
the same belief, and by the graph alone. Without slips and guesses, and with 5 % of both. Learners
`in depth` go on, four times in five, with what their latest concept has made possible.

    python benchmarks/place.py campus mooc ucd lecturebank-208 [--jobs 2] [--out docs/results]

Needs the public data (PROPRL_DATA) for all but `campus` and `planted`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from proprl.arrays import IntArray
from proprl.curriculum import learning_space
from proprl.curriculum.learning_space import LearningSpace, before_answers
from proprl.curriculum.placement import AT_MOST, DOUBT
from proprl.data import load_course
from proprl.graphs.closure import BoolArray

PLANTED = ("planted topics", "planted hubs", "planted leaves")
CONCEPTS = 120
FEW = 30
PLACED, RANDOM, GRAPH = "proprl place", "at random", "at random, graph alone"


@dataclass(frozen=True)
class Task:
    """A learner who is placed."""

    graph: str
    learner: int
    how: str
    error: float
    """The rate of slips, and that of guesses."""
    deep: bool = False
    """Whether the learner goes on with what the latest concept has made possible."""
    doubt: float = DOUBT
    imagined: int = learning_space.LEARNERS
    sweeps: int = learning_space.SWEEPS


def steps_of(graph: str) -> tuple[int, IntArray]:
    """Give how many concepts a graph has, and its steps."""
    if graph in PLANTED:
        return CONCEPTS, planted_steps(PLANTED.index(graph))
    course = load_course(graph)
    pairs, n = course.labelled_pairs().positives, len(course)
    graph_of_pairs = csr_array((np.ones(len(pairs)), pairs.T), shape=(n, n))
    _, merged = connected_components(graph_of_pairs, connection="strong")
    steps = np.unique(merged[pairs], axis=0)
    steps = steps[steps[:, 0] != steps[:, 1]]
    held = np.unique(steps)
    return len(held), np.searchsorted(held, steps)


def planted_steps(kind: int) -> IntArray:
    """Give a graph of one of three kinds: many layers, few hubs, or half of it leaves."""
    rng = np.random.default_rng([7, kind])
    weight = np.ones(CONCEPTS)
    steps = []
    for then in range(1, CONCEPTS):
        earlier = min(then, CONCEPTS // 2) if kind == 2 else then
        count = min(earlier, int(rng.integers(0 if kind == 0 else 1, 4)))
        share = weight[:earlier] / weight[:earlier].sum()
        for first in rng.choice(earlier, size=count, replace=False, p=share):
            steps.append((first, then))
            weight[first] += 2 * (kind == 1)
    return np.array(steps)


def learner_of(space: LearningSpace, seed: Sequence[int], *, deep: bool) -> BoolArray:
    """Give what a learner knows: the beginning of a random order that respects the graph."""
    rng = np.random.default_rng(seed)
    learned = np.full(space.n, -1)  # when, -1: not yet
    for turn in range(round(rng.uniform(0.1, 0.9) * space.n)):
        ready = [i for i in np.flatnonzero(learned < 0) if (learned[space.before[i]] >= 0).all()]
        if deep and rng.random() < 0.8:
            opened = [learned[space.before[i]].max(initial=-1) for i in ready]
            ready = [i for i, when in zip(ready, opened, strict=True) if when == max(opened)]
        learned[rng.choice(ready)] = turn
    return learned >= 0


SPACES: dict[str, LearningSpace] = {}


def placed(task: Task) -> tuple[float, float, float]:
    """Give the share asked, the share judged rightly, and the seconds a question takes."""
    if task.graph not in SPACES:
        SPACES[task.graph] = LearningSpace(*steps_of(task.graph))
    space = SPACES[task.graph]
    knows = learner_of(space, [2026, task.learner], deep=task.deep)
    rng = np.random.default_rng([2027, task.learner])
    says = knows ^ (rng.random(space.n) < task.error)
    most = int(AT_MOST * space.n)
    if task.how == GRAPH:
        drawn = rng.permutation(space.n)[:most]
        return most / space.n, float((by_graph(space, drawn, says) == knows).mean()), 0.0
    with patch.object(learning_space, "SWEEPS", task.sweeps):
        belief = before_answers(space, slip=task.error, guess=task.error, learners=task.imagined)
        began = time.perf_counter()
        turn = iter(rng.permutation(space.n).tolist())
        while len(belief.answers) < most:
            if task.how == PLACED:
                concept = belief.best_question() if belief.doubt > task.doubt else None
            else:
                told = belief.chance * (1 - belief.chance) == 0
                concept = next((i for i in turn if task.error or not told[i]), None)
            if concept is None:
                break
            belief = belief.told(concept, bool(says[concept]))
    asked = len(belief.answers)
    seconds = (time.perf_counter() - began) / max(asked, 1)
    return asked / space.n, float((belief.judged_known == knows).mean()), seconds


def by_graph(space: LearningSpace, asked: IntArray, says: BoolArray) -> BoolArray:
    """Judge by what follows from most answers, and what nothing follows about by most answers."""
    reach = space.follows | np.eye(space.n, dtype=np.bool_)
    yes, no = asked[says[asked]], asked[~says[asked]]
    votes = reach[:, yes].sum(axis=1) - reach[no].sum(axis=0)
    return np.where(votes == 0, len(yes) > len(no), votes > 0)


def tasks_of(graphs: Sequence[str], learners: int) -> Iterator[Task]:
    """Give the placements that are reported."""
    few = range(min(learners, FEW))
    for graph in graphs:
        for error in (0.0, 0.05):
            yield from (Task(graph, k, PLACED, error) for k in range(learners))
            yield from (Task(graph, k, PLACED, error, deep=True) for k in few)
            for how in (RANDOM, GRAPH):
                yield from (Task(graph, k, how, error) for k in few)


def choices(_: Sequence[str], learners: int) -> Iterator[Task]:
    """Give placements on planted graphs under other settings."""
    tried = [(0.0, 200, 1), (0.0, 500, 1), (0.0, 500, 2), (0.0, 1000, 1)]
    tried += [(0.02, 500, 1), (0.03, 500, 1)]
    for graph in PLANTED:
        for error in (0.0, 0.05):
            for doubt, imagined, sweeps in tried:
                yield from (
                    Task(graph, k, PLACED, error, False, doubt, imagined, sweeps)
                    for k in range(learners)
                )


def summary(tasks: Sequence[Task], found: Sequence[tuple[float, float, float]]) -> pl.DataFrame:
    """Give means over learners with 95 % intervals of the means."""
    rows = [(*vars(t).values(), *one) for t, one in zip(tasks, found, strict=True)]
    columns = [*vars(tasks[0]), "asked", "right", "seconds"]
    each = pl.DataFrame(rows, columns, orient="row")
    by = [column for column in vars(tasks[0]) if column != "learner"]
    halves = [
        (1.96 * pl.col(name).std() / pl.len().sqrt()).alias(f"{name}_half")
        for name in ("asked", "right")
    ]
    return each.group_by(by, maintain_order=True).agg(
        pl.len().alias("learners"),
        pl.col("asked", "right").mean(),
        *halves,
        pl.col("asked").max().alias("asked_most"),
        pl.col("right").quantile(0.1).alias("right_tenth"),
        pl.col("seconds").mean(),
    )


HEADS = (
    "graph | asked by | slips, guesses | asked | most | right | worst tenth | seconds a question"
)


def rows_of(table: pl.DataFrame, *, settings: bool) -> Iterator[str]:
    """Give the lines of a Markdown table: means with 95 % intervals, in per cent."""
    heads = HEADS + " | doubt | imagined | sweeps" * settings
    yield f"| {heads} |"
    yield "|---" * (heads.count("|") + 1) + "|"
    for row in table.iter_rows(named=True):
        cells = [
            row["graph"],
            row["how"] + ", learners in depth" * row["deep"],
            f"{100 * row['error']:.0f} %",
            f"{100 * row['asked']:.1f} ± {100 * row['asked_half']:.1f} %",
            f"{100 * row['asked_most']:.1f} %",
            f"{100 * row['right']:.1f} ± {100 * row['right_half']:.1f} %",
            f"{100 * row['right_tenth']:.0f} %",
            f"{row['seconds']:.3f}",
        ]
        cells += [str(row[column]) for column in ("doubt", "imagined", "sweeps")] * settings
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("graphs", nargs="+", help="sets; or `planted`: settings are compared")
    parser.add_argument("--learners", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, help="a file of CSV to write")
    asked = parser.parse_args()
    settings = asked.graphs == ["planted"]
    tasks = list((choices if settings else tasks_of)(asked.graphs, asked.learners))
    with Pool(asked.jobs) as pool:
        table = summary(tasks, pool.map(placed, tasks, chunksize=5))
    print("\n".join(rows_of(table, settings=settings)))
    if asked.out is not None:
        table.write_csv(asked.out, float_precision=4)


if __name__ == "__main__":
    main()
