"""The public sets: those of the paper (`BENCHMARKS`), and whole maps (`WHOLE_MAPS`)."""

from __future__ import annotations

from proprl.data.benchmarks.catalogue import (
    BENCHMARKS,
    BenchmarkSet,
    Counts,
    OtherTopic,
    find_benchmark,
)
from proprl.data.benchmarks.fetching import fetch_benchmark
from proprl.data.benchmarks.loading import load_benchmark
from proprl.data.benchmarks.location import data_root, missing_files
from proprl.data.benchmarks.pinned import PublicFile, PublicSet
from proprl.data.benchmarks.whole_map_sets import WHOLE_MAPS, MapCounts, WholeMapSet

__all__ = [
    "BENCHMARKS",
    "WHOLE_MAPS",
    "BenchmarkSet",
    "Counts",
    "MapCounts",
    "OtherTopic",
    "PublicFile",
    "PublicSet",
    "WholeMapSet",
    "data_root",
    "fetch_benchmark",
    "find_benchmark",
    "load_benchmark",
    "missing_files",
]
