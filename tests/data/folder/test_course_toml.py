"""What course.toml may say, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from proprl.data import (
    check_course,
    read_course,
)
from small_folder import PAIRS, make_folder, places


class TestCourseToml:
    def test_what_it_says_is_read(self, tmp_path: Path) -> None:
        text = 'name = "Calculus"\ndescription = "One"\nlanguage = "en"\nlicence = "CC0-1.0"\n'
        (make_folder(tmp_path) / "course.toml").write_text(text)

        course = read_course(tmp_path)

        found = (course.name, course.description, course.language, course.licence)
        assert found == ("Calculus", "One", "en", "CC0-1.0")

    def test_without_it_the_folder_gives_the_name(self, tmp_path: Path) -> None:
        assert read_course(make_folder(tmp_path)).name == tmp_path.name

    def test_malformed(self, tmp_path: Path) -> None:
        (make_folder(tmp_path) / "course.toml").write_text('name = "x"\nlicence = CC0\n')

        errors, _ = check_course(tmp_path)

        assert places(errors) == [("course.toml", 2, None)]

    def test_an_unknown_key_is_a_warning(self, tmp_path: Path) -> None:
        (make_folder(tmp_path) / "course.toml").write_text('license = "CC0"\n')

        errors, warnings = check_course(tmp_path)

        assert errors == []
        assert places(warnings) == [("course.toml", None, "license")]
        assert "did you mean licence?" in warnings[0].expected

    def test_columns_may_have_other_names(self, tmp_path: Path) -> None:
        make_folder(tmp_path, pairs=b"prerequisite,target,label\nf,l,1\nx,d,1\n")
        (tmp_path / "course.toml").write_text('[columns.pairs]\nsource = "prerequisite"\n')

        assert places(check_course(tmp_path)[0]) == [("pairs.csv", 3, "prerequisite")]

        make_folder(tmp_path, pairs=b"prerequisite,target,label\nf,l,1\nl,d,1\n")
        assert read_course(tmp_path).labelled_pairs().pairs.tolist() == [[0, 1], [1, 2]]

    def test_columns_may_change_places(self, tmp_path: Path) -> None:
        make_folder(tmp_path, pairs=b"source,target,label\nl,f,1\n")
        text = '[columns.pairs]\nsource = "target"\ntarget = "source"\n'
        (tmp_path / "course.toml").write_text(text)

        assert read_course(tmp_path).labelled_pairs().pairs.tolist() == [[0, 1]]

    @pytest.mark.parametrize(
        ("toml", "place"),
        [
            ('columns = "pairs"', ("course.toml", None, "columns")),
            ("[columns]\npairs = 3", ("course.toml", None, "columns.pairs")),
            ("[columns.pairs]\nsource = 3", ("course.toml", None, "columns.pairs.source")),
            (
                '[columns.pairs]\nsource = "target"\ntarget = "target"',
                ("course.toml", None, "columns.pairs.target"),
            ),
            ('[columns.pairs]\nsource = "target"', ("course.toml", None, "columns.pairs")),
            ('[columns.pairs]\nsource = "from"', ("pairs.csv", None, "from")),
            ('[columns.pairs]\nsplit = "part"', ("pairs.csv", None, "part")),
            ('[columns.concepts]\nid = "name"\nname = "id"\ndescription="d"', None),
        ],
    )
    def test_column_names_that_cannot_be_used(
        self, tmp_path: Path, toml: str, place: tuple[str, int | None, str | None] | None
    ) -> None:
        (make_folder(tmp_path, pairs=PAIRS) / "course.toml").write_text(toml)

        found = places(check_course(tmp_path)[0])

        assert (place or ("concepts.csv", None, "d")) in found

    def test_a_name_that_is_taken_twice(self, tmp_path: Path) -> None:
        make_folder(tmp_path, pairs=b"from,source,target,label\nf,x,l,1\n")
        (tmp_path / "course.toml").write_text('[columns.pairs]\nsource = "from"\n')

        assert places(check_course(tmp_path)[0]) == [("pairs.csv", None, "source")]

    @pytest.mark.parametrize("section", ["columns.pears", "columns.pairs.sauce"])
    def test_unknown_columns_are_a_warning(self, tmp_path: Path, section: str) -> None:
        table, _, key = section.rpartition(".")
        toml = f'[{table}]\n{key} = "x"\n' if "pairs" in table else f'[{section}]\nsource = "x"\n'
        (make_folder(tmp_path, pairs=PAIRS) / "course.toml").write_text(toml)

        errors, warnings = check_course(tmp_path)

        assert errors == []
        assert places(warnings) == [("course.toml", None, section)]
