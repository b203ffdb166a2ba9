"""Reading a course folder: encodings, damaged files, formats, course.toml."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from proprl.data import bundled_courses, check_course, load_course, read_course
from proprl.errors import CourseError, Problem, ProprlError

CONCEPTS = b"id,name\nf,Functions\nl,Limits\nd,Derivatives\n"
PAIRS = b"source,target,label\nf,l,1\nl,d,1\nd,f,0\n"


def make_folder(path: Path, **tables: bytes) -> Path:
    """A folder of CSV files with these bytes; sound concepts unless they are given."""
    for table, content in ({"concepts": CONCEPTS} | tables).items():
        (path / f"{table}.csv").write_bytes(content)
    return path


def places(problems: list[Problem]) -> list[tuple[str, int | None, str | None]]:
    return [(problem.file, problem.row, problem.column) for problem in problems]


class TestCsv:
    def test_a_byte_order_mark_is_no_part_of_the_first_column(self, tmp_path: Path) -> None:
        make_folder(tmp_path, concepts=b"\xef\xbb\xbf" + CONCEPTS)

        assert read_course(tmp_path).ids == ("f", "l", "d")

    def test_windows_line_ends_and_blank_lines_are_fine(self, tmp_path: Path) -> None:
        make_folder(tmp_path, concepts=CONCEPTS.replace(b"\n", b"\r\n\r\n"))

        assert read_course(tmp_path).names == ("Functions", "Limits", "Derivatives")

    def test_a_bad_byte_is_reported_with_its_row_and_reading_goes_on(self, tmp_path: Path) -> None:
        concepts = "id,name\nf,Functions\nl,Límites\nd,\n".encode("latin-1")
        make_folder(tmp_path, concepts=concepts)

        errors, _ = check_course(tmp_path)

        assert places(errors) == [("concepts.csv", 3, None), ("concepts.csv", 4, "name")]
        assert "save the file as UTF-8" in errors[0].expected

    def test_utf_16_is_recognised(self, tmp_path: Path) -> None:
        make_folder(tmp_path, concepts=CONCEPTS.decode().encode("utf-16"), pairs=PAIRS)

        errors, _ = check_course(tmp_path)

        assert places(errors) == [("concepts.csv", None, None)]
        assert "UTF-16" in errors[0].expected

    def test_a_nul_byte(self, tmp_path: Path) -> None:
        make_folder(tmp_path, concepts=CONCEPTS.replace(b"Limits", b"Lim\0its"))

        errors, _ = check_course(tmp_path)

        assert places(errors) == [("concepts.csv", 3, None)]
        assert "NUL" in errors[0].expected

    @pytest.mark.parametrize("row", [b"l,Limits,at a point,", b"l"])
    def test_a_ragged_row(self, tmp_path: Path, row: bytes) -> None:
        make_folder(tmp_path, concepts=CONCEPTS.replace(b"l,Limits", row), pairs=PAIRS)

        errors, _ = check_course(tmp_path)

        assert places(errors) == [("concepts.csv", 3, None)]
        assert "the header has 2" in errors[0].expected

    def test_rows_are_counted_as_an_editor_does(self, tmp_path: Path) -> None:
        concepts = b'id,name\n\nf,"Functions\nof one\nvariable"\nl,\nd,Derivatives\n'
        make_folder(tmp_path, concepts=concepts)

        assert places(check_course(tmp_path)[0]) == [("concepts.csv", 6, "name")]

    def test_an_open_quote_does_not_swallow_the_rest_of_the_file(self, tmp_path: Path) -> None:
        concepts = b'id,name\nf,"Functions\nl,Limits\nd,\n'
        make_folder(tmp_path, concepts=concepts, pairs=PAIRS)

        errors, _ = check_course(tmp_path)

        assert places(errors) == [("concepts.csv", 2, None), ("concepts.csv", 4, "name")]
        assert "double quote" in errors[0].expected

    @pytest.mark.parametrize("header", [b"id,name,id", b"id,name,"])
    def test_columns_need_names_of_their_own(self, tmp_path: Path, header: bytes) -> None:
        make_folder(tmp_path, concepts=header + b"\nf,Functions,x\nl,Limits,y\n")

        errors, _ = check_course(tmp_path)

        assert len(errors) == 1
        assert errors[0].row == 1

    def test_a_text_may_be_a_whole_book(self, tmp_path: Path) -> None:
        book = "word " * 100_000
        make_folder(tmp_path, resources=f"id,title,text\nr,Book,{book}\n".encode())

        course = read_course(tmp_path)

        assert course.resources is not None
        assert course.resources["text"][0] == book

    def test_further_columns_are_kept(self, tmp_path: Path) -> None:
        make_folder(tmp_path, concepts=b"id,week,name\nf,1,Functions\nl,2,Limits\n")

        concepts = read_course(tmp_path).concepts

        assert concepts.columns == ["id", "name", "description", "week"]
        assert concepts["week"].to_list() == ["1", "2"]


class TestJsonLines:
    def write(self, path: Path, *lines: object) -> None:
        text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        (path / "concepts.jsonl").write_text(text, encoding="utf-8")

    def test_numbers_become_text_and_missing_keys_are_empty(self, tmp_path: Path) -> None:
        second = {"name": "Limits\u2028!", "id": 2, "description": None}
        self.write(tmp_path, {"id": 1, "name": "F", "description": "What"}, second)

        course = read_course(tmp_path)

        assert course.ids == ("1", "2")
        assert course.names == ("F", "Limits\u2028!")
        assert course.concepts["description"].to_list() == ["What", ""]

    def test_every_bad_line_is_reported(self, tmp_path: Path) -> None:
        sound = {"id": "a", "name": "A"}
        twice = '{"id": "b", "name": "B", "id": "c"}'
        half_a_character = '{"id": "e", "name": "\\ud800"}'
        nested = {"id": "f", "name": {"en": "F"}}
        self.write(tmp_path, sound, "{oops", "", "[1, 2]", twice, half_a_character, nested)

        errors, _ = check_course(tmp_path)

        assert places(errors) == [
            ("concepts.jsonl", 2, None),
            ("concepts.jsonl", 4, None),
            ("concepts.jsonl", 5, None),
            ("concepts.jsonl", 6, "name"),
            ("concepts.jsonl", 7, "name"),
        ]

    def test_a_file_of_nothing_but_nonsense(self, tmp_path: Path) -> None:
        self.write(tmp_path, "nonsense")

        assert places(check_course(tmp_path)[0]) == [("concepts.jsonl", 1, None)]


class TestParquet:
    def test_rows_count_from_one(self, tmp_path: Path) -> None:
        frame = pl.DataFrame({"id": [1, 2, 2], "name": ["A", None, "C"]})
        frame.write_parquet(tmp_path / "concepts.parquet")

        errors, _ = check_course(tmp_path)

        assert places(errors) == [
            ("concepts.parquet", 2, "name"),
            ("concepts.parquet", 3, "id"),
        ]

    def test_not_a_parquet_file(self, tmp_path: Path) -> None:
        (tmp_path / "concepts.parquet").write_bytes(CONCEPTS)

        errors, _ = check_course(tmp_path)

        assert places(errors) == [("concepts.parquet", None, None)]
        assert "not a readable Parquet file" in errors[0].expected

    def test_a_truncated_file(self, tmp_path: Path) -> None:
        path = tmp_path / "concepts.parquet"
        pl.DataFrame({"id": ["a"], "name": ["A"]}).write_parquet(path)
        path.write_bytes(path.read_bytes()[:-20])

        assert places(check_course(tmp_path)[0]) == [("concepts.parquet", None, None)]

    def test_a_column_of_lists_is_no_name_but_may_be_a_further_column(self, tmp_path: Path) -> None:
        frame = pl.DataFrame({"id": ["a"], "name": [["A"]], "tags": [["x", "y"]]})
        frame.write_parquet(tmp_path / "concepts.parquet")

        assert places(check_course(tmp_path)[0]) == [("concepts.parquet", 1, "name")]


class TestFiles:
    def test_no_folder(self, tmp_path: Path) -> None:
        missing = tmp_path / "nowhere"
        with pytest.raises(CourseError, match="must be a course folder: No such file"):
            read_course(missing)
        assert places(check_course(missing)[0]) == [(str(missing), None, None)]

    def test_a_file_is_no_folder(self, tmp_path: Path) -> None:
        path = tmp_path / "concepts.csv"
        path.write_bytes(CONCEPTS)

        with pytest.raises(CourseError, match="must be a course folder"):
            read_course(path)

    def test_two_files_for_one_table(self, tmp_path: Path) -> None:
        make_folder(tmp_path)
        (tmp_path / "concepts.jsonl").write_text('{"id": 1, "name": "A"}')

        errors, _ = check_course(tmp_path)

        assert places(errors) == [("concepts.jsonl", None, None)]
        assert "concepts.csv too" in errors[0].expected

    @pytest.mark.parametrize("name", ["pairs.csv", "course.toml", "features.safetensors"])
    def test_a_folder_where_a_file_should_be(self, tmp_path: Path, name: str) -> None:
        (make_folder(tmp_path) / name).mkdir()

        assert places(check_course(tmp_path)[0]) == [(name, None, None)]

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
    def test_a_pipe_is_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(make_folder(tmp_path) / "pairs.csv")

        assert places(check_course(tmp_path)[0]) == [("pairs.csv", None, None)]

    @pytest.mark.parametrize(
        ("name", "meant"),
        [
            ("pair.csv", "pairs.csv"),
            ("Pairs.csv", "pairs.csv"),
            ("interactions.csv.gz", "interactions.csv"),
            ("resource.tsv", "resources.csv"),
            ("feature.npy", "features.safetensors"),
            ("course.json", "course.toml"),
        ],
    )
    def test_a_name_that_is_nearly_right(self, tmp_path: Path, name: str, meant: str) -> None:
        (make_folder(tmp_path) / name).write_text("?")

        errors, warnings = check_course(tmp_path)

        assert errors == []
        assert places(warnings) == [(name, None, None)]
        assert f"did you mean {meant}?" in warnings[0].expected

    def test_other_files_are_nobodys_business(self, tmp_path: Path) -> None:
        (make_folder(tmp_path) / "README.md").write_text("About this course")
        (tmp_path / "resources").mkdir()

        assert check_course(tmp_path) == ([], [])


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


class TestFeatures:
    def test_the_matrix_x_is_read(self, tmp_path: Path) -> None:
        features = np.arange(6, dtype=np.float32).reshape(3, 2)
        save_file({"X": features}, make_folder(tmp_path) / "features.safetensors")

        read = read_course(tmp_path).features

        assert read is not None
        assert read.dtype == np.float32
        assert read.tolist() == features.tolist()

    def test_another_tensor(self, tmp_path: Path) -> None:
        save_file({"embeddings": np.eye(3)}, make_folder(tmp_path) / "features.safetensors")

        errors, _ = check_course(tmp_path)

        assert places(errors) == [("features.safetensors", None, None)]
        assert "the tensors found are: embeddings" in errors[0].expected

    def test_a_second_tensor_is_a_warning(self, tmp_path: Path) -> None:
        tensors = {"X": np.eye(3), "Y": np.eye(2)}
        save_file(tensors, make_folder(tmp_path) / "features.safetensors")

        assert places(list(read_course(tmp_path).warnings)) == [
            ("features.safetensors", None, None)
        ]

    @pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not this", b"\xff" * 100])
    def test_not_a_safetensors_file(self, tmp_path: Path, content: bytes) -> None:
        (make_folder(tmp_path) / "features.safetensors").write_bytes(content)

        errors, _ = check_course(tmp_path)

        assert places(errors) == [("features.safetensors", None, None)]
        assert "not a safetensors file" in errors[0].expected

    def test_a_type_that_numpy_does_not_know(self, tmp_path: Path) -> None:
        header = b'{"X":{"dtype":"BF16","shape":[3,1],"data_offsets":[0,6]}}'
        content = len(header).to_bytes(8, "little") + header + bytes(6)
        (make_folder(tmp_path) / "features.safetensors").write_bytes(content)

        errors, _ = check_course(tmp_path)

        assert places(errors) == [("features.safetensors", None, None)]
        assert "save `X` as float32" in errors[0].expected

    def test_another_shape(self, tmp_path: Path) -> None:
        save_file({"X": np.eye(4)}, make_folder(tmp_path) / "features.safetensors")

        assert places(check_course(tmp_path)[0]) == [("features.safetensors", None, "X")]


class TestLoading:
    def test_a_folder_by_path(self, tmp_path: Path) -> None:
        assert load_course(make_folder(tmp_path)).ids == ("f", "l", "d")
        assert load_course(str(tmp_path)).ids == ("f", "l", "d")

    def test_an_unknown_name_lists_the_bundled_ones(self) -> None:
        assert "campus" in bundled_courses()
        with pytest.raises(ProprlError, match=r"no course 'campsu'.*campus.*mooc.*existing folder"):
            load_course("campsu")


COURSE_FILES = (
    *("concepts.csv", "concepts.jsonl", "concepts.parquet", "pairs.csv", "pairs.jsonl"),
    *("interactions.csv", "course.toml", "features.safetensors"),
)
fragments = st.one_of(
    st.binary(max_size=20),
    st.sampled_from([b"id,name\n", b"source,target,label\n", b'"', b"\n", b"\r", b",", b"\0"]),
    st.sampled_from([b"PAR1", b'{"id": ', b"}", b"[columns.pairs]\n", b'source = "label"\n']),
    st.sampled_from([b"learner,concept,time\n", b"u,a,0001-01-01T00:00+14:00\n", b"\xff\xfe"]),
)


@settings(max_examples=40)
@given(
    files=st.dictionaries(
        st.sampled_from(COURSE_FILES), st.lists(fragments, max_size=8).map(b"".join), max_size=4
    )
)
def test_no_content_whatsoever_makes_checking_fail(files: dict[str, bytes]) -> None:
    with TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)

        errors, warnings = check_course(folder)

        assert all(str(problem) for problem in errors + warnings)
