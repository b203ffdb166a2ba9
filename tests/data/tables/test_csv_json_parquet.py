"""Reading the file of a table: encodings, damaged rows, damaged files."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from proprl.data import (
    check_course,
    read_course,
)
from small_folder import CONCEPTS, PAIRS, make_folder, places


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
