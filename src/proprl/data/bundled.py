"""The courses that come with proprl."""

from __future__ import annotations

import os
from pathlib import Path

from proprl.data.course import Course
from proprl.data.folder import read_course
from proprl.errors import ProprlError

_BUNDLED = ("campus",)


def bundled_courses() -> tuple[str, ...]:
    """Return the names of the courses that come with proprl."""
    return _BUNDLED


def load_course(name_or_path: str | os.PathLike[str]) -> Course:
    """Return a bundled course by name, or the course in a folder.

    A bundled name wins over a folder of that name: write "./campus" for the folder.
    """
    if name_or_path in _BUNDLED:
        return read_course(Path(__file__).parent / name_or_path)
    if not Path(name_or_path).exists():
        raise ProprlError(
            f"there is no course {str(name_or_path)!r}: it is neither a bundled course "
            f"({', '.join(_BUNDLED)}) nor the path of an existing folder"
        )
    return read_course(name_or_path)
