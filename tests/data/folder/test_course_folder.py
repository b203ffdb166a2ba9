"""Reading and writing a course folder: it reads back the same, and is never half-written."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proprl.data import (
    Course,
    check_course,
    read_course,
    write_course,
)
from proprl.errors import CourseError, OutputError, ProprlError
from small_folder import CONCEPTS, make_folder, places


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


# --- writing ---

FORMATS = ("csv", "parquet", "jsonl")


def full_course(**changes: Any) -> Course:
    """A course with every table."""
    tables: dict[str, Any] = {
        "concepts": pl.DataFrame(
            {
                "id": ["f", "l"],
                "name": ["Functions", "Limits"],
                "week": [1, 2],
                "topic": ["", "Calculus"],
            }
        ),
        "resources": pl.DataFrame(
            {"id": ["r", "s"], "title": ["Limits", "Sets"], "text": ["a\r\nb\rc", ""]}
        ),
        "concept_resources": pl.DataFrame({"concept": ["l"], "resource": ["r"]}),
        "resource_links": pl.DataFrame({"source": ["s"], "target": ["r"]}),
        "interactions": pl.DataFrame(
            {"learner": ["u", "u"], "concept": ["f", "l"], "time": [0.1, 1e300]}
        ),
        "pairs": pl.DataFrame({"source": ["f"], "target": ["l"], "label": [1], "split": ["train"]}),
        "features": np.array([[0.1, 2.0], [3.0, 4.0]], order="F"),
    }
    texts = {"name": 'A "name"', "description": "x\ny\x7f", "language": "de", "licence": "MIT"}
    return Course.from_tables(**(tables | changes | texts))


def assert_same(left: Course, right: Course) -> None:
    assert left.fingerprint == right.fingerprint
    for key in ("name", "description", "language", "licence"):
        assert getattr(left, key) == getattr(right, key)
    assert left.tables().keys() == right.tables().keys()
    for table, frame in left.tables().items():
        assert frame.equals(right.tables()[table]), table
        assert frame.schema == right.tables()[table].schema
    if left.features is not None:
        assert np.array_equal(left.features, right.features)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {
            "interactions": None,
            "transitions": pl.DataFrame({"source": ["f"], "target": ["l"], "weight": [1e-320]}),
        },
        {
            "interactions": pl.DataFrame(
                {
                    "learner": ["u", "v"],
                    "concept": ["f", "l"],
                    "time": [
                        datetime(2024, 5, 1, 10, 0, 0, 7, tzinfo=UTC),
                        datetime(1969, 5, 1, tzinfo=UTC),
                    ],
                }
            )
        },
        {"pairs": None, "features": None, "concept_resources": None, "resource_links": None},
    ],
    ids=["seconds", "transitions", "moments", "few tables"],
)
def test_a_course_reads_back_the_same(tmp_path: Path, format: str, changes: dict[str, Any]) -> None:
    course = full_course(**changes)

    write_course(course, tmp_path / "new" / "folder", format=format)

    assert_same(read_course(tmp_path / "new" / "folder"), course)
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["folder"]


awkward = st.text(
    st.one_of(
        st.sampled_from("\"',;\r\n\t \\#=\u2028\u0085\ufeff\ufffdé漢😀\x7f\x1c"),
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
    )
)


@settings(max_examples=30, deadline=None)
@given(
    texts=st.lists(awkward, min_size=1, max_size=4),
    ids=st.lists(awkward.filter(str.strip), min_size=4, max_size=4, unique=True),
    weight=st.floats(min_value=0, exclude_min=True, allow_infinity=False),
    heading=awkward.filter(lambda text: text.strip() not in ("", "id", "name", "description")),
)
def test_awkward_text_survives_every_format(
    texts: list[str], ids: list[str], weight: float, heading: str
) -> None:
    cells = (texts * 4)[:4]
    course = Course.from_tables(
        concepts=pl.DataFrame({heading: cells, "id": ids, "name": ids, "description": cells}),
        transitions=pl.DataFrame({"source": ids[:1], "target": ids[1:2], "weight": [weight]}),
        name=cells[0],
        description=cells[-1],
    )
    with TemporaryDirectory() as folder:
        for format in FORMATS:
            write_course(course, Path(folder) / format, format=format)
            assert_same(read_course(Path(folder) / format), course)


def test_an_unknown_format_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ProprlError, match="'xlsx': it is one of csv, parquet, jsonl"):
        write_course(full_course(), tmp_path / "x", format="xlsx")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


class TestOverwriting:
    def test_an_empty_folder_is_filled(self, tmp_path: Path) -> None:
        write_course(full_course(), tmp_path)

        assert_same(read_course(tmp_path), full_course())

    def test_a_folder_with_something_in_it_is_refused(self, tmp_path: Path) -> None:
        write_course(full_course(), tmp_path)
        before = contents(tmp_path)

        with pytest.raises(OutputError, match=r"not empty; use overwrite=True"):
            write_course(full_course(pairs=None), tmp_path)

        assert contents(tmp_path) == before

    def test_overwriting_leaves_nothing_of_the_old_course(self, tmp_path: Path) -> None:
        folder = tmp_path / "course"
        write_course(full_course(), folder, format="jsonl")

        write_course(full_course(pairs=None), folder, format="csv", overwrite=True)

        assert_same(read_course(folder), full_course(pairs=None))
        assert [p.name for p in tmp_path.iterdir()] == ["course"]

    def test_other_peoples_files_are_never_deleted(self, tmp_path: Path) -> None:
        (tmp_path / "thesis.tex").write_text("years of work")

        with pytest.raises(OutputError, match=r"'thesis\.tex'"):
            write_course(full_course(), tmp_path, overwrite=True)

        assert contents(tmp_path) == {"thesis.tex": b"years of work"}

    def test_a_file_of_that_name_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "course"
        path.write_text("a file")

        with pytest.raises(OutputError, match="a file of that name"):
            write_course(full_course(), path, overwrite=True)


WRITE_WITH_LITTLE_SPACE = """
import hashlib, resource, sys
import polars as pl
from proprl.data import Course, write_course
from proprl.errors import OutputError

names = [hashlib.sha256(bytes([i])).hexdigest() for i in range(200)]  # cannot be compressed
course = Course.from_tables(concepts=pl.DataFrame({"id": names, "name": names}))
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    write_course(course, sys.argv[1], format=sys.argv[2], overwrite=True)
except OutputError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
@pytest.mark.parametrize("format", FORMATS)
def test_a_full_disk_leaves_the_old_course_and_nothing_else(tmp_path: Path, format: str) -> None:
    folder = tmp_path / "course"
    write_course(full_course(), folder)
    before = contents(tmp_path)

    script = [sys.executable, "-c", WRITE_WITH_LITTLE_SPACE, str(folder), format]
    done = subprocess.run(script, capture_output=True, text=True, check=False)

    assert done.stdout.startswith(f"cannot write {folder}"), done.stderr
    assert contents(tmp_path) == before
    assert [p.name for p in tmp_path.iterdir()] == ["course"]
