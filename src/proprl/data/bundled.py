"""Courses by name: those that come with proprl, and the public sets."""

from __future__ import annotations

import os
from pathlib import Path

from proprl.data.course import Course
from proprl.data.folder.course_folder import read_course
from proprl.data.public import BENCHMARKS, WHOLE_MAPS, load_benchmark
from proprl.errors import ProprlError


def bundled_courses() -> tuple[str, ...]:
    """Return the names of the courses that come with proprl."""
    return ("campus",)


def bundled_folder(name: str) -> Path:
    """Return the folder of a course that comes with proprl."""
    return Path(__file__).parent / name


def load_course(
    name_or_path: str | os.PathLike[str], *, root: str | os.PathLike[str] | None = None
) -> Course:
    """Return a bundled course or a public set by name, or the course in a folder.

    A name wins over a folder of that name: write "./campus" for the folder. `root` is the folder
    of the public data; see `load_benchmark`.
    """
    if name_or_path in bundled_courses():
        return read_course(bundled_folder(str(name_or_path)))
    public = (*BENCHMARKS, *WHOLE_MAPS)
    if isinstance(name_or_path, str) and name_or_path in public:
        return load_benchmark(name_or_path, root)
    if not Path(name_or_path).exists():
        raise ProprlError(
            f"there is no course {str(name_or_path)!r}: it is neither a bundled course "
            f"({', '.join(bundled_courses())}), nor a public set ({', '.join(public)}), "
            "nor the path of an existing folder"
        )
    return read_course(name_or_path)
