"""A course that is only names and unbalanced labels, from check to prediction."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

TOPICS = ("algebra", "geometry", "calculus", "logic", "probability", "databases", "networks",
          "compilers", "graphics", "security")  # fmt: skip
STEPS = ("basics", "rules", "operations", "structures", "models", "analysis", "methods", "proofs",
         "systems", "theory", "practice", "design", "theorems", "extensions", "applications",
         "inference", "optimisation", "synthesis", "verification", "frontiers")  # fmt: skip


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """200 concepts and 12,000 pairs, 8 % of them positive: an earlier step of the same topic."""
    rng = random.Random(1)
    concepts = [(topic, step) for topic in range(len(TOPICS)) for step in range(len(STEPS))]
    pairs = [(a, b) for a in concepts for b in concepts if a != b]
    positive = [(a, b) for a, b in pairs if a[0] == b[0] and a[1] < b[1]]
    negative = [(a, b) for a, b in pairs if not (a[0] == b[0] and a[1] < b[1])]
    rows = [(a, b, 1) for a, b in rng.sample(positive, 960)]
    rows += [(a, b, 0) for a, b in rng.sample(negative, 11_040)]
    rng.shuffle(rows)
    folder = tmp_path / "names-only"
    folder.mkdir()
    with (folder / "concepts.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "name"])
        writer.writerows((f"{t}-{s}", f"{TOPICS[t]} {STEPS[s]}") for t, s in concepts)
    with (folder / "pairs.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["source", "target", "label"])
        writer.writerows((f"{a[0]}-{a[1]}", f"{b[0]}-{b[1]}", label) for a, b, label in rows)
    return folder


def proprl(folder: Path, *words: str) -> str:
    command = [sys.executable, "-m", "proprl", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_works_and_says_what_is_missing(course: Path) -> None:
    started = time.monotonic()
    place = course.parent
    assert "no resources that hold concepts and no learner behaviour" in proprl(
        place, "course", "check", "names-only"
    )
    trained: dict[str, Any] = json.loads(
        proprl(place, "train", "names-only", "--out", "m", "--json")
    )
    assert trained["views"] == []
    assert trained["missing_views"] == ["resource", "behaviour"]
    assert trained["background"] > 0
    assert trained["class_weights"][1] > 5
    metrics = json.loads(proprl(place, "evaluate", "m", "names-only", "--json"))
    assert metrics["auc"] > 0.95
    assert metrics["missing_views"] == ["resource", "behaviour"]
    said = proprl(place, "predict", "m", "algebra basics", "algebra frontiers")
    assert "Yes: your label says so." in said
    assert "without the resource view" in said
    assert time.monotonic() - started < 180
