"""Courses: reading, checking, writing and splitting them."""

from __future__ import annotations

from proprl.data.bundled import bundled_courses, load_course
from proprl.data.course import Course, course_facts
from proprl.data.folder.course_folder import check_course, read_course, write_course
from proprl.data.public import BENCHMARKS, fetch_benchmark, load_benchmark
from proprl.data.splits.labelled import LabelledPairs
from proprl.data.splits.parts import PairSplit

__all__ = [
    "BENCHMARKS",
    "Course",
    "LabelledPairs",
    "PairSplit",
    "bundled_courses",
    "check_course",
    "course_facts",
    "fetch_benchmark",
    "load_benchmark",
    "load_course",
    "read_course",
    "write_course",
]
