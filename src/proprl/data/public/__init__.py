"""The public sets: those of the paper (`BENCHMARKS`), and whole maps (`WHOLE_MAPS`)."""

from __future__ import annotations

from proprl.data.public.catalogue import (
    BENCHMARKS,
    BenchmarkSet,
    Counts,
    OtherTopic,
    find_benchmark,
)
from proprl.data.public.fetching import fetch_benchmark
from proprl.data.public.loading import load_benchmark
from proprl.data.public.location import data_root, missing_files
from proprl.data.public.pinned import PublicFile, PublicSet
from proprl.data.public.whole_map_sets import WHOLE_MAPS, MapCounts, WholeMapSet

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
