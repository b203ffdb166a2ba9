"""What the library says, in a file: to show that a change of the house changes no answer.

    python tools/answers.py record before.npz      at one commit
    python tools/answers.py record after.npz       at another
    python tools/answers.py compare before.npz after.npz

Recorded are the probabilities of all pairs: of a planted course by every method, briefly trained,
and of `campus` and `mooc` by five; and the runs that every experiment asks for first.
One thread; needs the public data (PROPRL_DATA).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch

from planted import planted_course
from proprl import PrerequisiteModel, load_course
from proprl.data import Course
from proprl.data.public import load_benchmark
from proprl.errors import ProprlError
from proprl.experiments.catalogue import EXPERIMENTS
from proprl.experiments.running.plan import Wanted
from proprl.experiments.running.run import Run
from proprl.models.registry import METHODS

BRIEF = {"epochs": 3, "trees": 20}
FIVE = ("sequitur", "proprl", "dgcpl", "svm", "refd")
ASKED = {
    "as it is": Wanted(encoder="wordllama"),
    "quick": Wanted(encoder="wordllama", repeats=1),
    "leak-free": Wanted(encoder="wordllama", protocol="leak-free", repeats=10),
}


def probabilities(name: str, course: Course) -> np.ndarray:
    """Give the probability of every ordered pair, by row of source and target."""
    known = METHODS[name].settings_type.model_fields
    brief = {setting: value for setting, value in BRIEF.items() if setting in known}
    model = PrerequisiteModel(name, settings=brief, encoder="wordllama", seed=3).fit(course)
    pairs = [(a, b) for a in course.ids for b in course.ids if a != b]
    return model.predict_proba(pl.DataFrame(pairs, ["source", "target"], orient="row"))


class RunsAskedFor(Exception):  # noqa: N818 - it carries an answer
    """Stops an experiment at the first runs that it asks for."""


def runs(experiment: str, wanted: Wanted) -> str:
    """Give the first runs of an experiment, as JSON; or why it refuses."""

    def stop(asked: Sequence[Run]) -> list[dict[str, Any]]:
        raise RunsAskedFor([asdict(run) for run in asked])

    try:
        EXPERIMENTS[experiment](wanted, stop)
    except RunsAskedFor as found:
        return json.dumps(found.args[0], sort_keys=True)
    except ProprlError as error:
        return f"refused: {type(error).__name__}"
    return "no runs"


def answers() -> Iterator[tuple[str, np.ndarray]]:
    """Give each answer by its name."""
    planted = planted_course(concepts=60, pairs=400, transitions=600, features=32, seed=3)
    for name in METHODS:
        yield f"planted, {name}", probabilities(name, planted)
    for course in (load_course("campus"), load_benchmark("mooc")):
        for name in FIVE:
            yield f"{course.name}, {name}", probabilities(name, course)
    for experiment in EXPERIMENTS:
        for how, wanted in ASKED.items():
            yield f"runs of {experiment}, {how}", np.array(runs(experiment, wanted))


def compare(before: Path, after: Path) -> int:
    """Print what differs, and by how much."""
    old, new = np.load(before), np.load(after)
    missing = sorted(set(old.files) ^ set(new.files))
    largest, differ = 0.0, []
    for name in sorted(set(old.files) & set(new.files)):
        if old[name].dtype.kind == "f":
            largest = max(largest, float(np.abs(old[name] - new[name]).max()))
        elif str(old[name]) != str(new[name]):
            differ.append(name)
    print(f"{len(old.files)} answers; the largest difference of a probability is {largest:.1e}")
    for name in missing:
        print(f"only in one: {name}")
    for name in differ:
        print(f"other runs: {name.removeprefix('runs of ')}")
    return int(bool(missing or differ or largest > 1e-6))


def main(words: Sequence[str]) -> int:
    torch.set_num_threads(1)
    if words[:1] == ["record"] and len(words) == 2:
        found = {}
        for name, answer in answers():
            print(name, flush=True)
            found[name] = answer
        np.savez_compressed(words[1], **found)
        return 0
    if words[:1] == ["compare"] and len(words) == 3:
        return compare(Path(words[1]), Path(words[2]))
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
