"""The public benchmark sets: `mooc`, `ucd` and `lecturebank`."""

from __future__ import annotations

from proprl.data.benchmarks.catalogue import (
    BENCHMARKS,
    BenchmarkSet,
    Counts,
    OtherTopic,
    PublicFile,
    find_benchmark,
)
from proprl.data.benchmarks.fetching import fetch_benchmark
from proprl.data.benchmarks.loading import load_benchmark
from proprl.data.benchmarks.location import data_root, missing_files

__all__ = [
    "BENCHMARKS",
    "BenchmarkSet",
    "Counts",
    "OtherTopic",
    "PublicFile",
    "data_root",
    "fetch_benchmark",
    "find_benchmark",
    "load_benchmark",
    "missing_files",
]
