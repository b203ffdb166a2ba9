"""Sequitur anew against Sequitur of commit 0144277, in one run, with as many threads.

On the public set `mooc`: the fit, and scores of all pairs, columns and learner together. The old
way scores one block of its own size and the new way all pairs; both have scored others before.
Aims: the fit in a third of the time, pairs 15 times faster. What counts are ratios of the
processor's seconds, which other programs on the machine hardly change. Then the new way alone on
a planted course of 2,000 concepts and 4,000 labels. Aims: all pairs in under 3 minutes and 4 GiB.

The old commit lives in a worktree and an environment of its own:

    git worktree add ../old 0144277 && cd ../old && make install
    python benchmarks/score.py --old ../old/.venv/bin/python [--threads 1]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CONCEPTS, LABELS = 2_000, 4_000
WARM = 1_000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--old", type=Path, help="the python of commit 0144277; none: new alone")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--measure", choices=tuple(MEASURES), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        import torch

        torch.set_num_threads(asked.threads)
        print(json.dumps(MEASURES[asked.measure]()))
        return
    new = in_its_own_process(Path(sys.executable), "mooc-new", asked.threads)
    say("mooc, new", new)
    if asked.old:
        old = in_its_own_process(asked.old, "mooc-old", asked.threads)
        say("mooc, old", old)
        fit = old["fit_cpu"] / new["fit_cpu"]
        score = (old["score_cpu"] / old["pairs"]) / (new["score_cpu"] / new["pairs"])
        print(f"mooc: the fit is {fit:.1f} times faster (aim: 3)")
        print(f"mooc: a pair is scored {score:.1f} times faster (aim: 15)")
    large = in_its_own_process(Path(sys.executable), "planted", asked.threads)
    say(f"planted, {CONCEPTS:,} concepts and {LABELS:,} labels", large)
    print(f"planted: all pairs in {large['score']:.0f} s (aim: 180) ", end="")
    print(f"and {large['peak']:.1f} GiB (aim: 4)")


def in_its_own_process(python: Path, what: str, threads: int) -> dict[str, float]:
    """Measure in a fresh process, so that peaks of memory are its own."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    command = [
        str(python.absolute()),
        str(Path(__file__).resolve()),
        "--measure",
        what,
        "--threads",
        str(threads),
    ]
    environment = {**os.environ, **dict.fromkeys(names, str(threads)), "PROPRL_READER": "none"}
    ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(ended.stdout.splitlines()[-1])
    return found


def say(what: str, found: dict[str, float]) -> None:
    print(f"{what}: fit {found['fit']:.1f} s ({found['fit_cpu']:.1f} of the processor),")
    print(f"    {found['pairs']:,.0f} pairs in {found['score']:.1f} s", end="")
    print(f" ({found['score_cpu']:.1f}), peak memory {found['peak']:.1f} GiB", flush=True)


def mooc_old() -> dict[str, float]:
    scorer, evidence, split = mooc()
    taken = seconds("fit", lambda: scorer.fit(evidence, split, seed=0))
    from proprl.ranking import all_pairs  # its name at the old commit

    block, *_, other = all_pairs(evidence.concept_count)
    scorer.score(other[:WARM])
    return figures(taken | seconds("score", lambda: scorer.score(block)), len(block))


def mooc_new() -> dict[str, float]:
    scorer, evidence, split = mooc()
    return all_of_it(scorer, evidence, split)


def planted() -> dict[str, float]:
    sys.path.append(str(Path(__file__).parents[1] / "tools"))
    from planted import planted_course
    from proprl.data.splits.parts import grouped_split
    from proprl.features.gather import gather_evidence

    course = planted_course(
        concepts=CONCEPTS, pairs=LABELS, transitions=14 * CONCEPTS, features=256, seed=0
    )
    split = grouped_split(course.labelled_pairs(), seed=0)
    return all_of_it(sequitur(), gather_evidence(course)[0], split)


def all_of_it(scorer: Any, evidence: Any, split: Any) -> dict[str, float]:
    """Fit as `train` does, with background and calibration; then score every pair."""
    import numpy as np

    from proprl.calibrating import fit_scorer
    from proprl.pairs.background import draw_background

    fits: list[Any] = []
    n, known = evidence.concept_count, split.train.joined(split.validation)

    def fit() -> None:
        background = draw_background(known, n, seed=0)
        fits.append(fit_scorer(scorer, evidence, split, background=background, seed=0))

    taken = seconds("fit", fit)
    pairs = np.argwhere(~np.eye(n, dtype=bool))
    fits[0].score(pairs[-WARM:])
    return figures(taken | seconds("score", lambda: fits[0].score(pairs)), len(pairs))


def mooc() -> tuple[Any, Any, Any]:
    """A new Sequitur, with what it learns from; both ways see the same."""
    from proprl.data import load_benchmark
    from proprl.data.splits.parts import grouped_split

    try:
        from proprl.features.gather import gather_evidence
    except ModuleNotFoundError:  # its name at the old commit
        from proprl.features.evidence import gather_evidence

    course = load_benchmark("mooc")
    split = grouped_split(course.labelled_pairs(), seed=0)
    return sequitur(), gather_evidence(course, "wordllama")[0], split


def sequitur() -> Any:
    from proprl.models.registry import method, method_settings

    return method("sequitur")(method_settings("sequitur"), device="cpu")


def seconds(what: str, run: Callable[[], object]) -> dict[str, float]:
    """Time by the clock, and by the processor: of all threads, without other programs."""
    clock, processor = time.perf_counter(), time.process_time()
    run()
    return {
        what: time.perf_counter() - clock,
        f"{what}_cpu": time.process_time() - processor,
    }


def figures(taken: dict[str, float], pairs: int) -> dict[str, float]:
    """Seconds, and the most memory this process has held, in GiB (Linux counts in KiB)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {**taken, "pairs": float(pairs), "peak": peak}


MEASURES: dict[str, Callable[[], dict[str, float]]] = {
    "mooc-old": mooc_old,
    "mooc-new": mooc_new,
    "planted": planted,
}

if __name__ == "__main__":
    main()
