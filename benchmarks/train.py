"""The `default` preset against `paper`, in one run, on courses the size of the public ones.

Prints both times, their ratio and both validation AUCs (means over seeds), for the public set
`mooc` where its data is found (PROPRL_DATA, or where `proprl course fetch` puts it) and for a
planted course of the same size. The aim: at least 5 times faster at the same validation AUC or
better. Absolute times vary between machines; the ratio is what counts.

    python benchmarks/train.py [--course planted] [--seeds 2]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

from proprl.data.course import Course
from proprl.data.public import load_benchmark
from proprl.errors import PublicDataError
from proprl.estimator import ProPRL

PRESETS = ("default", "paper")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--course", choices=("mooc", "planted"), action="append")
    parser.add_argument("--seeds", type=int, default=2)
    asked = parser.parse_args()
    ProPRL(settings={"epochs": 1}).fit(course("planted", 0))  # first allocations are not training
    for name in asked.course or ("mooc", "planted"):
        try:
            compare(name, range(asked.seeds))
        except PublicDataError as error:
            print(f"{name} is left out: {error}")


def compare(name: str, seeds: range) -> None:
    seconds: dict[str, list[float]] = {preset: [] for preset in PRESETS}
    aucs: dict[str, list[float]] = {preset: [] for preset in PRESETS}
    for seed in seeds:
        for preset in PRESETS:
            learned_from = course(name, seed)
            started = time.perf_counter()
            model = ProPRL(preset=preset, seed=seed).fit(learned_from, background=None)
            seconds[preset].append(time.perf_counter() - started)
            aucs[preset].append(float(model.evaluate(part="validation")["auc"] or 0))
            print(f"{name:8} {preset:8} seed {seed}: {seconds[preset][-1]:6.1f} s", end="")
            print(f"  validation AUC {aucs[preset][-1]:.4f}", flush=True)
    ratio = sum(seconds["paper"]) / sum(seconds["default"])
    mean = {preset: statistics.mean(values) for preset, values in aucs.items()}
    print(f"{name}: default is {ratio:.1f} times faster (aim: 5)")
    print(f"{name}: validation AUC: default {mean['default']:.4f}, paper {mean['paper']:.4f}")


def course(name: str, seed: int) -> Course:
    if name == "mooc":  # 406 concepts, 5,581 transitions, 2,006 pairs
        return load_benchmark("mooc")
    sys.path.append(str(Path(__file__).parents[1] / "tools"))
    from planted import planted_course

    return planted_course(
        concepts=400,
        transitions=5_600,
        pairs=1_600,
        topics=8,
        features=768,
        noise=2.0,
        seed=seed,
    )


if __name__ == "__main__":
    main()
