"""Courses by name or by path."""

from __future__ import annotations

from pathlib import Path

import pytest

from proprl.data import (
    bundled_courses,
    load_course,
)
from proprl.errors import ProprlError
from small_folder import make_folder


def test_a_folder_by_path(tmp_path: Path) -> None:
    assert load_course(make_folder(tmp_path)).ids == ("f", "l", "d")
    assert load_course(str(tmp_path)).ids == ("f", "l", "d")


def test_an_unknown_name_lists_the_bundled_ones() -> None:
    assert "campus" in bundled_courses()
    with pytest.raises(ProprlError, match=r"no course 'campsu'.*campus.*mooc.*existing folder"):
        load_course("campsu")
