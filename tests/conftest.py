"""What all tests share: a planted course, the bundled course, and a cache of their own."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Tests run side by side: threads that wait for each other's cores take longer than one alone.
# Libraries read this when they are loaded.
os.environ["OMP_NUM_THREADS"] = "1"

from planted import planted_course
from proprl.curriculum import all_pairs
from proprl.data import Course, load_course
from proprl.estimator import ProPRL
from proprl.evaluation import base_rate
from proprl.pairs import table

# Wide enough that no table folds a word that a test looks for.
os.environ["COLUMNS"] = "200"

# A busy machine is no failure: examples have no deadline.
settings.register_profile("proprl", deadline=None, max_examples=25)
settings.load_profile("proprl")

# How sure a base rate is, matters to its own tests alone; they ask for more.
base_rate.INTERVAL_RESAMPLES = 5

# Fewer folds describe a pair by fewer labels, and take a third of the time. What depends on how
# many there are asks for `all_folds`.
ALL_FOLDS = table.FOLDS
table.FOLDS = all_pairs.FOLDS = 5

# Small enough for a fit in half a second, large enough to learn the planted answer.
SMALL = {"size": 32, "epochs": 4, "batch_size": 128, "learning_rate": 4e-3}


# So many modules were loaded when memory was last looked through.
known_modules = 0


def pytest_runtest_setup() -> None:
    """Keep what imports left in memory out of every later collection of garbage.

    A run of an experiment collects garbage before it measures memory. With torch's compiler loaded
    that takes a third of a second each time.
    """
    global known_modules
    if len(sys.modules) > known_modules + 100:
        gc.collect()
        gc.freeze()
        known_modules = len(sys.modules)


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = os.environ.get("PROPRL_CACHE")
    os.environ["PROPRL_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["PROPRL_CACHE"]
    else:
        os.environ["PROPRL_CACHE"] = before


@pytest.fixture(scope="module")
def all_folds() -> Iterator[int]:
    """As many folds of labels as users have."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (table, all_pairs):
            patch.setattr(module, "FOLDS", ALL_FOLDS)
        yield ALL_FOLDS


@pytest.fixture(scope="session")
def planted() -> Course:
    """Sixty concepts in four topics; a prerequisite is a lower level of the same topic."""
    return planted_course(concepts=60, pairs=400, transitions=600, features=32, seed=3)


@pytest.fixture(scope="session")
def fitted(planted: Course) -> ProPRL:
    """A model that has learned the planted course. Tests must not change it."""
    return ProPRL(seed=1, settings=SMALL).fit(planted)


@pytest.fixture(scope="session")
def campus() -> Course:
    return load_course("campus")


@pytest.fixture(scope="session")
def public_data() -> Path:
    """The folder of the public data; a test that wants it is marked `publicdata`."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    root = Path(os.environ.get("PROPRL_DATA") or beside)
    if (root / "dgcpl").is_dir():
        return root
    reason = f"there is no public data in {root}: set PROPRL_DATA"
    return pytest.fail(reason) if os.environ.get("PROPRL_CI") else pytest.skip(reason)


@pytest.fixture
def bundle(fitted: ProPRL, tmp_path: Path) -> Path:
    """A saved copy of the fitted model, free to be damaged."""
    fitted.save(tmp_path / "model.proprl")
    return tmp_path / "model.proprl"
