"""What a course hands to the later stages, and courses made of frames."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from proprl.data import Course, course_facts
from proprl.errors import CourseError, UnknownConceptError

CONCEPTS = pl.DataFrame(
    {
        "id": ["f", "l", "d"],
        "name": ["Functions", "Limits", "Derivatives"],
        "description": ["", "Near a point.", None],
    }
)
PAIRS = pl.DataFrame({"source": ["f", "l", "d"], "target": ["l", "d", "f"], "label": [1, 1, 0]})
RESOURCES = pl.DataFrame(
    {
        "id": ["r1", "r2"],
        "title": ["Limits", "Slopes"],
        "text": ["Of functions.", "Derivatives are slopes"],
    }
)


class TestConcepts:
    course = Course.from_tables(concepts=CONCEPTS)

    def test_ids_and_names_are_in_order(self) -> None:
        assert len(self.course) == 3
        assert self.course.ids == ("f", "l", "d")
        assert self.course.names == ("Functions", "Limits", "Derivatives")

    def test_a_row_by_id_or_name(self) -> None:
        assert [self.course.row(c) for c in ("d", "Limits", "functions")] == [2, 1, 0]
        with pytest.raises(UnknownConceptError, match="did you mean 'Limits'"):
            self.course.row("Limts")

    def test_the_text_of_a_concept_is_its_name_and_its_description(self) -> None:
        expected = ["Functions", "Limits. Near a point.", "Derivatives"]
        assert self.course.concept_texts() == expected

    def test_a_course_may_have_nothing_but_concepts(self) -> None:
        assert self.course.pairs is None
        assert self.course.incidence() is None
        assert course_facts(self.course)["links_by"] is None
        assert self.course.transition_matrix() is None
        assert self.course.split_column() is None
        assert repr(self.course) == "Course('course': 3 concepts)"

    def test_pairs_that_are_needed_are_asked_for_by_file(self) -> None:
        with pytest.raises(CourseError, match=r"add pairs\.csv with columns source, target, label"):
            self.course.labelled_pairs()


def test_labelled_pairs_are_rows_of_concepts() -> None:
    labelled = Course.from_tables(concepts=CONCEPTS, pairs=PAIRS).labelled_pairs()

    assert labelled.pairs.tolist() == [[0, 1], [1, 2], [2, 0]]
    assert labelled.labels.tolist() == [1, 1, 0]
    assert labelled.pairs.dtype == labelled.labels.dtype == np.int64


class TestIncidence:
    def test_given(self) -> None:
        links = pl.DataFrame({"concept": ["d", "f"], "resource": ["r2", "r2"]})
        course = Course.from_tables(concepts=CONCEPTS, resources=RESOURCES, concept_resources=links)

        incidence = course.incidence()

        assert course_facts(course)["links_by"] == "given"
        assert incidence is not None
        assert incidence.toarray().tolist() == [[0, 1], [0, 0], [0, 1]]

    def test_by_mention_in_title_or_text(self) -> None:
        course = Course.from_tables(concepts=CONCEPTS, resources=RESOURCES)

        incidence = course.incidence()

        assert course_facts(course)["links_by"] == "mention"
        assert incidence is not None
        assert incidence.toarray().tolist() == [[1, 0], [1, 0], [0, 1]]

    def test_a_name_is_not_found_half_in_the_title_and_half_in_the_text(self) -> None:
        concepts = pl.DataFrame({"id": ["c"], "name": ["Chain rule"]})
        resources = pl.DataFrame({"id": ["r"], "title": ["The chain"], "text": ["Rule one"]})
        incidence = Course.from_tables(concepts=concepts, resources=resources).incidence()

        assert incidence is not None
        assert incidence.sum() == 0


class TestResourceLinks:
    links = pl.DataFrame({"source": ["r2"], "target": ["r1"]})

    def test_the_source_is_a_prerequisite_of_the_target(self) -> None:
        course = Course.from_tables(
            concepts=CONCEPTS, resources=RESOURCES, resource_links=self.links
        )

        matrix = course.resource_link_matrix()

        assert matrix is not None
        assert matrix.format == "csr"
        assert matrix.toarray().tolist() == [[0, 0], [1, 0]]

    def test_a_course_without_them(self) -> None:
        course = Course.from_tables(concepts=CONCEPTS, resources=RESOURCES)
        assert course.resource_links is None
        assert course.resource_link_matrix() is None


class TestTransitions:
    def matrix(self, **tables: pl.DataFrame) -> list[list[float]]:
        matrix = Course.from_tables(concepts=CONCEPTS, **tables).transition_matrix()
        assert matrix is not None
        rows: list[list[float]] = matrix.toarray().tolist()
        return rows

    def test_given(self) -> None:
        given = pl.DataFrame({"source": ["f", "d"], "target": ["l", "f"], "weight": [2.0, 0.5]})

        assert self.matrix(transitions=given) == [[0, 2, 0], [0, 0, 0], [0.5, 0, 0]]

    def test_counted_in_order_of_time_for_each_learner(self) -> None:
        events = pl.DataFrame(
            {
                "learner": ["u", "v", "u", "v", "u"],
                "concept": ["l", "f", "f", "l", "d"],
                "time": [10, 1, 9, 2, 100],
            }
        )

        assert self.matrix(interactions=events) == [[0, 2, 0], [0, 0, 1], [0, 0, 0]]

    def test_events_at_the_same_time_stay_in_the_order_listed(self) -> None:
        events = pl.DataFrame({"learner": ["u"] * 3, "concept": ["d", "f", "l"], "time": [5] * 3})

        assert self.matrix(interactions=events) == [[0, 1, 0], [0, 0, 0], [1, 0, 0]]

    @pytest.mark.parametrize(
        "times",
        [
            ["9", "10", "1e2"],
            ["2024-01-31", "2024-02-01", "2024-02-01 00:00:01"],
            ["2024-01-01T12:00:00+02:00", "2024-01-01T11:00:00Z", "2024-01-01T11:30:00"],
            [datetime(2024, 1, 1), datetime(2024, 1, 2), datetime(2024, 1, 3)],
        ],
        ids=["seconds", "dates", "zones", "moments"],
    )
    def test_times_are_compared_as_times_not_as_text(self, times: list[object]) -> None:
        events = pl.DataFrame(
            {"learner": ["u"] * 3, "concept": ["d", "l", "f"], "time": times[::-1]}
        )

        assert self.matrix(interactions=events) == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]


class TestFrames:
    def test_pandas_and_polars_make_the_same_course(self) -> None:
        events = {
            "learner": [7, 7],
            "concept": ["f", "l"],
            "time": [datetime(2024, 1, 1, 10, 30), datetime(2024, 1, 2)],
        }
        pair_columns = PAIRS.to_dict(as_series=False)

        from_polars = Course.from_tables(
            concepts=CONCEPTS, pairs=PAIRS, interactions=pl.DataFrame(events)
        )
        from_pandas = Course.from_tables(
            concepts=pd.DataFrame(CONCEPTS.to_dict(as_series=False)),
            pairs=pd.DataFrame(pair_columns).set_index(pd.Index([5, 6, 7])),
            interactions=pd.DataFrame(events),
        )

        assert from_pandas.fingerprint == from_polars.fingerprint
        assert from_pandas.concepts.equals(from_polars.concepts)

    def test_pandas_missing_values_are_empty(self) -> None:
        text = pd.array(["About", pd.NA], dtype="string")
        course = Course.from_tables(
            concepts=pd.DataFrame({"id": [1, 2], "name": ["A", "B"], "description": text})
        )

        assert course.ids == ("1", "2")
        assert course.concepts["description"].to_list() == ["About", ""]

    def test_a_problem_names_the_table_and_counts_rows_from_one(self) -> None:
        pairs = pd.DataFrame({"source": ["f", "x"], "target": ["l", "l"], "label": [1, np.nan]})

        with pytest.raises(CourseError) as raised:
            Course.from_tables(concepts=CONCEPTS, pairs=pairs)

        places = [(p.file, p.row, p.column) for p in raised.value.problems]
        assert places == [("pairs", 2, "source"), ("pairs", 2, "label")]

    @pytest.mark.parametrize("frame", [None, {"id": ["a"]}, [("a", "A")], CONCEPTS.lazy()])
    def test_something_that_is_no_frame(self, frame: object) -> None:
        with pytest.raises(CourseError, match=r"concepts: .*must be a polars or pandas frame"):
            Course.from_tables(concepts=frame)

    def test_columns_of_one_name_in_pandas(self) -> None:
        frame = pd.DataFrame([["a", "A", "B"]], columns=["id", "name", "name"])

        with pytest.raises(CourseError, match="two columns have this name"):
            Course.from_tables(concepts=frame)

    def test_features_are_a_copy(self) -> None:
        features = np.ones((3, 2))
        course = Course.from_tables(concepts=CONCEPTS, features=features)
        features[0, 0] = 5

        assert course.features is not None
        assert course.features.tolist() == [[1, 1]] * 3


class TestFingerprint:
    def fingerprint(self, **tables: object) -> str:
        given: dict[str, object] = {"concepts": CONCEPTS, "pairs": PAIRS}
        return Course.from_tables(**(given | tables)).fingerprint

    def test_the_order_of_columns_does_not_matter(self) -> None:
        reordered = {"concepts": CONCEPTS.select("name", "description", "id")}
        assert self.fingerprint(**reordered) == self.fingerprint()

    def test_a_missing_description_is_an_empty_one(self) -> None:
        bare = CONCEPTS.select("id", "name")
        empty = bare.with_columns(description=pl.lit(""))
        assert self.fingerprint(concepts=bare) == self.fingerprint(concepts=empty)

    def test_a_column_of_no_topics_is_none(self) -> None:
        empty = CONCEPTS.with_columns(topic=pl.Series([" ", "", None], dtype=pl.String))
        assert self.fingerprint(concepts=empty) == self.fingerprint()

    @pytest.mark.parametrize(
        "change",
        [
            {"pairs": PAIRS.with_columns(label=pl.Series([1, 0, 0]))},
            {"pairs": PAIRS.reverse()},
            {"concepts": CONCEPTS.with_columns(name=pl.Series(["Function", "sLimits", "D"]))},
            {"concepts": CONCEPTS.with_columns(week=pl.lit(""))},
            {"concepts": CONCEPTS.with_columns(topic=pl.lit("Calculus"))},
            {"features": np.zeros((3, 1))},
            {"resources": RESOURCES},
        ],
        ids=["label", "order of rows", "names", "column", "topics", "features", "table"],
    )
    def test_every_content_matters(self, change: dict[str, object]) -> None:
        assert self.fingerprint(**change) != self.fingerprint()

    def test_cells_do_not_run_together(self) -> None:
        one = pl.DataFrame({"id": ["a", "b"], "name": ["xy", "z"]})
        other = pl.DataFrame({"id": ["a", "b"], "name": ["x", "yz"]})
        assert self.fingerprint(concepts=one, pairs=None) != self.fingerprint(
            concepts=other, pairs=None
        )

    def test_it_is_the_same_on_every_machine(self) -> None:
        course = Course.from_tables(concepts=CONCEPTS, pairs=PAIRS, features=np.eye(3))
        assert (
            course.fingerprint == "088e34c062951259f0076fbfc64bcf831ec05d366639fabd13b78176bfcf56ef"
        )
