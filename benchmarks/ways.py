"""How long `path` and `ready` take on a map of 5,000 concepts. Aim: each under 10 ms.

The map is that of the acyclic choice's own benchmark: 50,000 random pairs of a random order, seed
0, without the 15 % against it. Half of the pairs are labels, half learned. The longest way of the
map is asked for, by name, by somebody who knows nothing, half of it, or a tenth of all concepts.
Times are the processor's, which other programs hardly change. "To make ready" is done once for a
map; a question asked with it in hand is what a service pays.

    python benchmarks/ways.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np

from proprl.curriculum.graph import PrerequisiteGraph, prerequisite_graph
from proprl.curriculum.structure import Structure
from proprl.curriculum.ways import Ways
from proprl.data import LabelledPairs

CONCEPTS, PAIRS, TIMES = 5_000, 50_000, 21


def main() -> None:
    graph = random_map()
    names = graph.names
    ready = Ways(graph)
    needs = Structure(graph).needs
    goal = names[int(np.argmax(needs))]
    steps = [names[step.concept] for step in ready.way_to([goal]).steps]
    rng = np.random.default_rng(0)
    follows = Structure(graph).follows[names.index(goal)]
    others = [i for i in range(CONCEPTS) if not follows[i] and names[i] != goal]
    some = [names[i] for i in rng.choice(others, CONCEPTS // 10)]
    print(f"{len(graph):,} steps among {CONCEPTS:,} concepts; a way of {len(steps):,} steps")
    show("to make ready", lambda: made_ready(graph))
    for what, known in (("nothing", []), ("half", steps[: len(steps) // 2]), ("a tenth", some)):
        show(f"path, {what} known", lambda known=known: ready.way_to([goal], known))
        show(f"path, essential, {what} known", lambda known=known: essential(ready, goal, known))
        show(f"ready, {what} known", lambda known=known: both_fringes(ready, known))


def random_map() -> PrerequisiteGraph:
    rng = np.random.default_rng(0)
    order = rng.permutation(CONCEPTS)
    ends = np.sort(rng.integers(0, CONCEPTS, (PAIRS, 2)), axis=1)
    ends = np.unique(ends[(ends[:, 0] < ends[:, 1])], axis=0)
    pairs = order[ends[rng.random(len(ends)) >= 0.15]]
    by_label = rng.random(len(pairs)) < 0.5
    labels = LabelledPairs(pairs[by_label], np.ones(int(by_label.sum()), dtype=np.int64))
    learned = pairs[~by_label]
    return prerequisite_graph(
        [f"c{k}" for k in range(CONCEPTS)],
        [f"Concept {k}" for k in range(CONCEPTS)],
        labels,
        learned,
        rng.uniform(0.35, 1, len(learned)),
        threshold=0.35,
    )


def made_ready(graph: PrerequisiteGraph) -> object:
    return Ways(graph).needed_for


def essential(ways: Ways, goal: str, known: list[str]) -> object:
    return ways.way_to([goal], known, at_least=0.8)


def both_fringes(ways: Ways, known: list[str]) -> object:
    have = ways.known(known)
    return ways.ready(have), ways.learned_last(have)


def show(what: str, run: Callable[[], object]) -> None:
    taken = []
    for _ in range(TIMES):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    print(f"{what:40} {median(taken) * 1000:7.2f} ms", flush=True)


if __name__ == "__main__":
    main()
