"""Results of runs on whole maps, made up: no method is fitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from proprl.experiments.running.plan import SEQUITUR, Wanted
from proprl.experiments.running.run import Run
from proprl.experiments.running.whole_map import RECALLS
from proprl.experiments.show.whole_map_findings import Findings, gather
from proprl.experiments.studies.whole_map import FOUR, map_plan


def made_up(quality: Callable[[Run], float]) -> Callable[[Sequence[Run]], list[dict[str, Any]]]:
    """Give each run metrics around its quality; draws differ by a hundredth."""

    def result(run: Run) -> dict[str, Any]:
        value = quality(run) + (run.fold - 1) / 100
        names = ("average_precision", "log_loss_gain", "believed_right", "believed_found")
        metrics = dict.fromkeys([*names, "follows_f1", "edges_right", "asked_edges_right"], value)
        metrics |= {"promised_ratio": 1.5, "f1_lead": value - 0.4, "labels_f1": 0.4}
        if run.course == "campus":
            metrics |= {"way_found": 14.0, "way_length": 21.0}
        rule = {
            "metrics": {"average_precision": 0.3},
            "resampled": {"average_precision": [0.2, 0.3, 0.3, 0.4]},
            "curve": [0.3] * len(RECALLS),
        }
        return {
            "run": asdict(run),
            "encoder": run.encoder,
            "metrics": metrics,
            "resampled": {name: [metrics[name]] * 4 for name in ("average_precision", "f1_lead")},
            "rules": dict.fromkeys(("degrees", "reachability"), rule),
            "curve": [value] * len(RECALLS),
            "reliability": [
                {
                    "low": 0.0,
                    "high": 0.5,
                    "pairs": 30,
                    "said": 0.01 * (1 + run.fold),
                    "came_true": 0.0,
                },
                {"low": 0.5, "high": 1.0, "pairs": 10, "said": 0.8, "came_true": value},
            ],
        }

    return lambda runs: [result(run) for run in runs]


def better(run: Run) -> float:
    return 0.72 if run.method == SEQUITUR else 0.5


FULL = Wanted(methods=list(FOUR), encoder="wordllama")


def findings(quality: Callable[[Run], float] = better) -> Findings:
    return gather(made_up(quality)(map_plan(FULL)))
