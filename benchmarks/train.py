"""The `default` preset against `paper`, in one run, on a course the size of the public ones.

Prints both times, their ratio and both validation AUCs (mean over seeds). The aim: at least
5 times faster at the same validation AUC or better. Absolute times vary between machines;
the ratio is what counts.

    python benchmarks/train.py [--seeds 2]
"""

from __future__ import annotations

import argparse
import statistics
import time

from proprl.data.synthetic import planted_course
from proprl.estimator import ProPRL


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    seeds = range(parser.parse_args().seeds)
    seconds: dict[str, list[float]] = {"default": [], "paper": []}
    aucs: dict[str, list[float]] = {"default": [], "paper": []}
    ProPRL(settings={"epochs": 1}).fit(course(0))  # imports and first allocations are not training
    for seed in seeds:
        for preset in seconds:
            started = time.perf_counter()
            model = ProPRL(preset=preset, seed=seed).fit(course(seed))
            seconds[preset].append(time.perf_counter() - started)
            aucs[preset].append(float(model.fitted_.validation_metrics["auc"] or 0))
            print(f"{preset:8} seed {seed}: {seconds[preset][-1]:6.1f} s", end="")
            print(f"  validation AUC {aucs[preset][-1]:.4f}", flush=True)
    ratio = sum(seconds["paper"]) / sum(seconds["default"])
    mean = {preset: statistics.mean(values) for preset, values in aucs.items()}
    print(f"default is {ratio:.1f} times faster (aim: 5)")
    print(f"validation AUC: default {mean['default']:.4f}, paper {mean['paper']:.4f}")


def course(seed: int):
    return planted_course(
        concepts=400,
        transitions=5_600,
        pairs=1_600,
        features=768,
        noise=4.0,
        fill_up=True,
        seed=seed,
    )


if __name__ == "__main__":
    main()
