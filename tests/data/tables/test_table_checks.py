"""Every fault that a course can have, planted one at a time and all at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import save_file

from proprl.data import Course, check_course, read_course
from proprl.errors import CourseError, Problem, ProprlError

SOUND = {
    "concepts.csv": "id,name,description\nf,Functions,\nl,Limits,Near a point\nd,Derivatives,\n",
    "resources.csv": "id,title,text\nr1,On limits,Limits come first\nr2,Slopes,\n",
    "concept_resources.csv": "concept,resource\nl,r1\nd,r2\n",
    "interactions.csv": "learner,concept,time\nu,f,1\nu,l,2\n",
    "pairs.csv": "source,target,label,split\nf,l,1,train\nl,d,1,test\nd,f,0,validation\n",
}
THREE = "f,Functions, Sets \nl,Limits,\nd,Derivatives,\n"
TRANSITIONS = "source,target,weight\nf,l,2\nl,d,0.5\n"


def make_folder(path: Path, files: dict[str, str | None]) -> Path:
    """A sound course folder but for `files`; None leaves a file out."""
    for name, content in (SOUND | files).items():
        if content is not None:
            (path / name).write_text(content, encoding="utf-8", newline="")
    return path


def places(problems: list[Problem]) -> list[tuple[str, int | None, str | None]]:
    return [(problem.file, problem.row, problem.column) for problem in problems]


def with_transitions(content: str) -> dict[str, str | None]:
    return {"interactions.csv": None, "transitions.csv": content}


def test_the_sound_course_has_no_problem(tmp_path: Path) -> None:
    assert check_course(make_folder(tmp_path, {})) == ([], [])


FAULTS = {
    "no concepts": ({"concepts.csv": None}, "concepts.csv", None, None, "missing"),
    "missing column": (
        {"concepts.csv": "id,title\nf,F\nl,L\nd,D\n"},
        *("concepts.csv", None, "name", "the columns found are: id, title"),
    ),
    "header only": ({"pairs.csv": "source,target,label\n"}, "pairs.csv", None, None, "empty"),
    "empty file": ({"pairs.csv": ""}, "pairs.csv", None, None, "empty"),
    "blank id": (
        {"concepts.csv": "id,name\nf,F\nl,L\nd,D\n ,E\n"},
        *("concepts.csv", 5, "id", "must not be empty"),
    ),
    "blank name": (
        {"concepts.csv": "id,name\nf,\nl,L\nd,D\n"},
        *("concepts.csv", 2, "name", "must not be empty"),
    ),
    "duplicate concept": (
        {"concepts.csv": "id,name\nf,F\nl,L\nd,D\nf,G\n"},
        *("concepts.csv", 5, "id", "row 2 already"),
    ),
    "duplicate resource": (
        {"resources.csv": "id,title\nr1,A\nr2,B\nr1,C\n"},
        *("resources.csv", 4, "id", "row 2 already"),
    ),
    "blank title": (
        {"resources.csv": "id,title\nr1,\nr2,B\n"},
        *("resources.csv", 2, "title", "must not be empty"),
    ),
    "unknown concept of a resource": (
        {"concept_resources.csv": "concept,resource\nx,r1\n"},
        *("concept_resources.csv", 2, "concept", "not an id in concepts.csv"),
    ),
    "unknown resource of a concept": (
        {"concept_resources.csv": "concept,resource\nl,r9\n"},
        *("concept_resources.csv", 2, "resource", "not an id in resources.csv"),
    ),
    "repeated link": (
        {"concept_resources.csv": "concept,resource\nl,r1\nd,r2\nl,r1\n"},
        *("concept_resources.csv", 4, None, "row 2 already"),
    ),
    "links without resources": (
        {"resources.csv": None},
        *("concept_resources.csv", None, None, "resources.csv"),
    ),
    "unknown resource of a resource link": (
        {"resource_links.csv": "source,target\nr1,l\n"},
        *("resource_links.csv", 2, "target", "not an id in resources.csv"),
    ),
    "link of a resource to itself": (
        {"resource_links.csv": "source,target\nr1,r1\n"},
        *("resource_links.csv", 2, "target", "must be two resources"),
    ),
    "repeated resource link": (
        {"resource_links.csv": "source,target\nr1,r2\nr2,r1\nr1,r2\n"},
        *("resource_links.csv", 4, None, "row 2 already"),
    ),
    "resource links without resources": (
        {
            "resources.csv": None,
            "concept_resources.csv": None,
            "resource_links.csv": "source,target\nr1,r2\n",
        },
        *("resource_links.csv", None, None, "resources.csv"),
    ),
    "unknown concept of an event": (
        {"interactions.csv": "learner,concept,time\nu,x,1\n"},
        *("interactions.csv", 2, "concept", "not an id in concepts.csv"),
    ),
    "event without learner": (
        {"interactions.csv": "learner,concept,time\n,l,1\n"},
        *("interactions.csv", 2, "learner", "must not be empty"),
    ),
    "event without time": (
        {"interactions.csv": "learner,concept,time\nu,l,\n"},
        *("interactions.csv", 2, "time", "must not be empty"),
    ),
    "time of no kind": (
        {"interactions.csv": "learner,concept,time\nu,l,1\nu,f,yesterday\n"},
        *("interactions.csv", 3, "time", "number of seconds or an ISO date"),
    ),
    "infinite time": (
        {"interactions.csv": "learner,concept,time\nu,l,1\nu,f,inf\n"},
        *("interactions.csv", 3, "time", "number of seconds or an ISO date"),
    ),
    "times of both kinds": (
        {"interactions.csv": "learner,concept,time\nu,l,1\nu,f,2024-05-01\nu,d,2\n"},
        *("interactions.csv", 3, "time", "2 rows hold a number, 1 a date"),
    ),
    "interactions and transitions": (
        {"transitions.csv": TRANSITIONS},
        *("transitions.csv", None, None, "interactions.csv too: remove one"),
    ),
    "unknown source": (
        with_transitions("source,target,weight\nx,l,1\n"),
        *("transitions.csv", 2, "source", "not an id in concepts.csv"),
    ),
    "transition to itself": (
        with_transitions("source,target,weight\nl,l,1\n"),
        *("transitions.csv", 2, "target", "two concepts"),
    ),
    "repeated transition": (
        with_transitions("source,target,weight\nf,l,1\nf,l,2\n"),
        *("transitions.csv", 3, None, "row 2 already"),
    ),
    "weight zero": (
        with_transitions("source,target,weight\nf,l,0\n"),
        *("transitions.csv", 2, "weight", "greater than 0"),
    ),
    "negative weight": (
        with_transitions("source,target,weight\nf,l,-1\n"),
        *("transitions.csv", 2, "weight", "greater than 0"),
    ),
    "weight not finite": (
        with_transitions("source,target,weight\nf,l,inf\n"),
        *("transitions.csv", 2, "weight", "finite"),
    ),
    "weight NaN": (
        with_transitions("source,target,weight\nf,l,nan\n"),
        *("transitions.csv", 2, "weight", "finite"),
    ),
    "weight no number": (
        with_transitions("source,target,weight\nf,l,much\n"),
        *("transitions.csv", 2, "weight", "finite number"),
    ),
    "no weight": (
        with_transitions("source,target,weight\nf,l,\n"),
        *("transitions.csv", 2, "weight", "must not be empty"),
    ),
    "unknown target": (
        {"pairs.csv": "source,target,label\nf,x,1\n"},
        *("pairs.csv", 2, "target", "not an id in concepts.csv"),
    ),
    "self-pair": (
        {"pairs.csv": "source,target,label\nf,l,1\nl,l,0\n"},
        *("pairs.csv", 3, "target", "two concepts"),
    ),
    "repeated pair": (
        {"pairs.csv": "source,target,label\nf,l,1\nl,d,1\nf,l,1\n"},
        *("pairs.csv", 4, None, "row 2 already"),
    ),
    "both labels": (
        {"pairs.csv": "source,target,label\nf,l,1\nl,d,1\nf,l,0\n"},
        *("pairs.csv", 4, None, "another label in row 2"),
    ),
    "label 2": (
        {"pairs.csv": "source,target,label\nf,l,2\n"},
        *("pairs.csv", 2, "label", "must be 1"),
    ),
    "a word as label": (
        {"pairs.csv": "source,target,label\nf,l,true\n"},
        *("pairs.csv", 2, "label", "must be 1"),
    ),
    "no label": (
        {"pairs.csv": "source,target,label\nf,l,\n"},
        *("pairs.csv", 2, "label", "must be 1"),
    ),
    "unknown split": (
        {"pairs.csv": "source,target,label,split\nf,l,1,training\n"},
        *("pairs.csv", 2, "split", "train, validation, test"),
    ),
    "split of some pairs": (
        {"pairs.csv": "source,target,label,split\nf,l,1,train\nl,d,0,\n"},
        *("pairs.csv", 3, "split", "for every pair or for none"),
    ),
}


@pytest.mark.parametrize(
    ("files", "file", "row", "column", "expected"), FAULTS.values(), ids=FAULTS.keys()
)
def test_a_fault_is_reported_once_and_where_it_stands(
    tmp_path: Path,
    files: dict[str, str | None],
    file: str,
    row: int | None,
    column: str | None,
    expected: str,
) -> None:
    make_folder(tmp_path, files)

    errors, _ = check_course(tmp_path)
    with pytest.raises(CourseError) as raised:
        read_course(tmp_path)

    assert places(errors) == [(file, row, column)]
    assert expected in errors[0].expected
    assert list(raised.value.problems) == errors


def test_all_faults_in_all_files_are_listed_at_once(tmp_path: Path) -> None:
    make_folder(
        tmp_path,
        {
            "course.toml": "name = 3\n",
            "concepts.csv": "id,name\nf,F\nf,G\nl,\nd,D\n",
            "resources.csv": "id,title\nr1,A\nr1,B\n",
            "concept_resources.csv": "concept,resource\nq,r1\nl,r7\n",
            "interactions.csv": "learner,concept,time\nu,q,1\nu,l,soon\n",
            "transitions.csv": "source,target,weight\nf,f,1\nf,l,-3\n",
            "pairs.csv": "source,target,label\nf,l,7\nl,l,1\nq,d,0\nl,d,1\nl,d,0\n",
        },
    )
    save_file({"X": np.full((4, 2), np.nan)}, tmp_path / "features.safetensors")

    errors, _ = check_course(tmp_path)

    assert places(errors) == [
        ("course.toml", None, "name"),
        ("concepts.csv", 3, "id"),
        ("concepts.csv", 4, "name"),
        ("resources.csv", 3, "id"),
        ("concept_resources.csv", 2, "concept"),
        ("concept_resources.csv", 3, "resource"),
        ("interactions.csv", 2, "concept"),
        ("interactions.csv", 3, "time"),
        ("transitions.csv", None, None),
        ("transitions.csv", 2, "target"),
        ("transitions.csv", 3, "weight"),
        ("pairs.csv", 2, "label"),
        ("pairs.csv", 3, "target"),
        ("pairs.csv", 4, "source"),
        ("pairs.csv", 6, None),
        *[("features.safetensors", row, "X") for row in (1, 2, 3, 4)],
    ]
    with pytest.raises(CourseError, match="has 19 problems"):
        read_course(tmp_path)


def test_unreadable_concepts_do_not_hide_faults_of_pairs(tmp_path: Path) -> None:
    make_folder(tmp_path, {"concepts.csv": "", "pairs.csv": "source,target,label\na,a,1\na,b,5\n"})

    errors, _ = check_course(tmp_path)

    assert places(errors) == [
        ("concepts.csv", None, None),
        ("pairs.csv", 2, "target"),
        ("pairs.csv", 3, "label"),
    ]


def test_a_long_value_is_shortened(tmp_path: Path) -> None:
    make_folder(tmp_path, {"pairs.csv": f"source,target,label\n{'x' * 5000},l,1\n"})

    errors, _ = check_course(tmp_path)

    assert errors[0].value is not None
    assert len(errors[0].value) == 60


def test_mutual_positives_are_a_warning_and_the_course_is_read(tmp_path: Path) -> None:
    make_folder(tmp_path, {"pairs.csv": "source,target,label\nf,l,1\nl,d,1\nl,f,1\nd,f,0\n"})

    course = read_course(tmp_path)

    assert places(list(course.warnings)) == [("pairs.csv", 4, None)]
    assert course.warnings[0].value == "l → f"
    assert "row 2 says the reverse" in course.warnings[0].expected
    assert len(course.labelled_pairs()) == 4


def test_prerequisites_that_close_a_circle_are_a_warning(tmp_path: Path) -> None:
    make_folder(tmp_path, {"pairs.csv": "source,target,label\nf,l,1\nl,d,1\nf,d,0\nd,f,1\n"})

    course = read_course(tmp_path)

    assert places(list(course.warnings)) == [("pairs.csv", 5, None)]
    assert course.warnings[0].value == "d → f"
    assert course.warnings[0].expected == (
        "with rows 2, 3 this closes a circle, d → f → l → d: only one of them can come first"
    )


@pytest.mark.parametrize(
    ("column", "meant"), [("orgin", "origin"), ("chanse", "chance"), ("Splitt", "split")]
)
def test_a_misspelt_column_is_a_warning(tmp_path: Path, column: str, meant: str) -> None:
    make_folder(tmp_path, {"pairs.csv": f"source,target,label,{column}\nf,l,1,\nd,f,0,\n"})

    (warning,) = read_course(tmp_path).warnings

    assert (warning.file, warning.row, warning.column) == ("pairs.csv", None, column)
    assert f"did you mean {meant}?" in warning.expected


def test_so_is_a_misspelt_column_of_concepts(tmp_path: Path) -> None:
    make_folder(tmp_path, {"concepts.csv": f"id,name,topics\n{THREE}"})
    (warning,) = read_course(tmp_path).warnings
    assert (warning.file, warning.column) == ("concepts.csv", "topics")
    assert "did you mean topic?" in warning.expected


def test_topics_are_read_without_the_space_around_them(tmp_path: Path) -> None:
    make_folder(tmp_path, {"concepts.csv": f"id,name,topic\n{THREE}"})
    course = read_course(tmp_path)
    assert course.topics == ("Sets", "", "")
    assert course.concepts.columns == ["id", "name", "description", "topic"]


def test_topics_that_are_all_empty_are_none(tmp_path: Path) -> None:
    make_folder(tmp_path, {"concepts.csv": f"id,name,topic\n{THREE.replace('Sets', '')}"})
    course = read_course(tmp_path)
    assert course.topics == ()
    assert course.concepts.columns == ["id", "name", "description"]


def test_a_topic_is_one_text(tmp_path: Path) -> None:
    path = tmp_path / "concepts.jsonl"
    path.write_text('{"id": "f", "name": "Functions", "topic": ["Sets", "Maps"]}\n')
    with pytest.raises(CourseError, match=r"concepts\.jsonl, row 1, column topic.*one text"):
        read_course(tmp_path)


def test_a_column_of_ones_own_is_nobodys_business(tmp_path: Path) -> None:
    make_folder(tmp_path, {"pairs.csv": "source,target,label,who\nf,l,1,Ann\nd,f,0,Ben\n"})
    assert read_course(tmp_path).warnings == ()


REPEATED = (
    "source,target,label,split\nf,l,1,train\nl,d,1,test\nf,l,1,train\nf,l,1,test\nl,d,0,test\n"
)


def test_repeated_pairs_may_be_kept_as_warnings(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, {"pairs.csv": REPEATED})
    errors, _ = check_course(folder)
    kept, warnings = check_course(folder, repeated_pairs="keep")

    assert kept == []
    assert warnings == errors
    assert places(warnings) == [("pairs.csv", row, None) for row in (4, 5, 6)]
    assert [problem.expected for problem in warnings] == [
        "this pair stands in row 2 already",
        "this pair stands in row 2 already, in another part: train",
        "this pair has another label in row 3",
    ]


def test_kept_pairs_stay_in_order(tmp_path: Path) -> None:
    course = read_course(make_folder(tmp_path, {"pairs.csv": REPEATED}), repeated_pairs="keep")

    labelled = course.labelled_pairs()

    assert labelled.pairs.tolist() == [[0, 1], [1, 2], [0, 1], [0, 1], [1, 2]]
    assert labelled.labels.tolist() == [1, 1, 1, 1, 0]
    assert course.split_column() == ["train", "test", "train", "test", "test"]


def test_keeping_pairs_keeps_no_other_fault(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, {"pairs.csv": "source,target,label\nf,l,1\nf,l,1\nf,f,0\n"})
    with pytest.raises(CourseError, match="two concepts"):
        read_course(folder, repeated_pairs="keep")
    with pytest.raises(ProprlError, match='"error" or "keep", not \'drop\''):
        read_course(folder, repeated_pairs="drop")  # type: ignore[arg-type]


def test_two_concepts_of_one_name_are_a_warning(tmp_path: Path) -> None:
    make_folder(tmp_path, {"concepts.csv": "id,name\nf,F\nl,L\nd,F\n"})

    assert places(list(read_course(tmp_path).warnings)) == [("concepts.csv", 4, "name")]


@pytest.mark.parametrize("word", ["val", "valid", "dev", "Validation", " validation "])
def test_validation_has_many_names(tmp_path: Path, word: str) -> None:
    make_folder(tmp_path, {"pairs.csv": f"source,target,label,split\nf,l,1,{word}\nl,d,0,test\n"})

    assert read_course(tmp_path).split_column() == ["validation", "test"]


def test_a_split_column_that_is_blank_throughout_gives_no_split(tmp_path: Path) -> None:
    make_folder(tmp_path, {"pairs.csv": "source,target,label,split\nf,l,1,\nl,d,0,\n"})

    assert read_course(tmp_path).split_column() is None


@pytest.mark.parametrize(
    "labels", [[0, 1], [0.0, 1.0], [False, True], ["0", "1"], ["0.0", "1.0"]], ids=str
)
def test_labels_of_any_sensible_type(labels: list[object]) -> None:
    course = Course.from_tables(
        concepts=pl.DataFrame({"id": ["a", "b"], "name": ["A", "B"]}),
        pairs=pl.DataFrame({"source": ["a", "b"], "target": ["b", "a"], "label": labels}),
    )

    assert course.labelled_pairs().labels.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("features", "row", "expected"),
    [
        (np.zeros((2, 4)), None, r"shape (3, d)"),
        (np.zeros(3), None, r"shape (3, d)"),
        (np.zeros((3, 0)), None, r"shape (3, d)"),
        (np.array([["a"], ["b"], ["c"]]), None, "numbers"),
        ([[1.0], [1.0, 2.0], [3.0]], None, "must be a matrix of numbers"),
        (np.array([[1.0, 2.0], [1.0, np.nan], [1.0, 2.0]]), 2, "finite"),
        (np.array([[1.0], [1.0], [-np.inf]]), 3, "finite"),
    ],
)
def test_features_that_do_not_fit(features: object, row: int | None, expected: str) -> None:
    concepts = pl.DataFrame({"id": ["a", "b", "c"], "name": ["A", "B", "C"]})

    with pytest.raises(CourseError) as raised:
        Course.from_tables(concepts=concepts, features=features)

    assert places(list(raised.value.problems)) == [("features", row, "X")]
    assert expected in raised.value.problems[0].expected
