"""The public sets: those of the paper (`BENCHMARKS`), and whole maps (`WHOLE_MAPS`)."""

from __future__ import annotations

from proprl.data.public.catalogue import BENCHMARKS, WHOLE_MAPS, find_benchmark
from proprl.data.public.loading import load_benchmark
from proprl.data.public.public_files import data_root, fetch_benchmark, missing_files

__all__ = [
    "BENCHMARKS",
    "WHOLE_MAPS",
    "data_root",
    "fetch_benchmark",
    "find_benchmark",
    "load_benchmark",
    "missing_files",
]
