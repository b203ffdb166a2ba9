"""The public sets: read from a small copy of their layouts, counted and proved on the real ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from proprl.data import Course, load_benchmark, read_course, write_course
from proprl.data.public import BENCHMARKS
from proprl.data.public.catalogue import BenchmarkSet, OtherTopic
from proprl.data.splits.labelled import PARTS
from proprl.errors import PublicDataError
from tiny_public import TINY, write_tiny

Edges = list[tuple[str, str]]

OTHER_SHIFTS = (-3, -2, -1, 0, 2, 3, 4)  # all that are tried but the right one


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder that holds the set `tiny`."""
    monkeypatch.setitem(BENCHMARKS, "tiny", TINY)  # type: ignore[misc]
    monkeypatch.delenv("PROPRL_DATA", raising=False)
    return write_tiny(tmp_path / "data")


def named(course: Course, rows: np.ndarray) -> Edges:
    return [(course.names[source], course.names[target]) for source, target in rows]


def behaviour(course: Course) -> dict[tuple[str, str], float]:
    B = course.transition_matrix()
    assert B is not None
    edges = B.tocoo()
    rows = np.stack(edges.coords, axis=1)
    return dict(zip(named(course, rows), edges.data.tolist(), strict=True))


class TestLayouts:
    def test_names_have_spaces(self, tiny: Path) -> None:
        course = load_benchmark("tiny", tiny)
        assert course.ids == ("c0", "c1", "c2", "c3")
        assert course.names == ("Web page", "Sets", "Logic (mathematics)", "Proof")

    def test_every_published_row_is_kept_with_its_part(self, tiny: Path) -> None:
        course = load_benchmark("tiny", tiny)
        assert course.split_column() == [*["train"] * 3, "validation", *["test"] * 2]
        assert course.labelled_pairs().labels.tolist() == [1, 0, 1, 1, 1, 0]

    def test_resources_have_their_texts_by_name(self, tiny: Path) -> None:
        resources = load_benchmark("tiny", tiny).resources
        assert resources is not None
        assert resources.rows() == [
            ("r0", "uni_101", "Sets first."),
            ("r1", "uni_202", 'Proofs. Of "truth", and more.'),
        ]

    def test_mentions_are_matched_by_name_not_by_number(self, tiny: Path) -> None:
        incidence = load_benchmark("tiny", tiny).incidence()
        assert incidence is not None
        assert incidence.toarray().tolist() == [[0, 0], [1, 0], [1, 0], [0, 1]]

    def test_the_dependent_resource_stands_first_in_the_file(self, tiny: Path) -> None:
        links = load_benchmark("tiny", tiny).resource_link_matrix()
        assert links is not None
        assert links.toarray().tolist() == [[0, 1], [0, 0]]  # uni_101 before uni_202

    def test_an_edge_that_stands_twice_counts_both(self, tiny: Path) -> None:
        assert behaviour(load_benchmark("tiny", tiny)) == {
            ("Sets", "Logic (mathematics)"): 537,
            ("Web page", "Proof"): 12,
        }

    def test_what_is_not_read_as_it_stands_is_told(self, tiny: Path) -> None:
        told = [str(warning) for warning in load_benchmark("tiny", tiny).warnings]
        assert told == [
            "prereq/tiny/cs_courses.csv, column text: found 'uni_101'; "
            "NUL characters in the text were read as spaces",
            "r_contain_c_data_*.csv: 1 of 4 links are of the 1 concepts that the set has no "
            "labels for: they are not read",
            "pairs, row 3: found 'c1 → c2'; this pair stands in row 1 already",
            "pairs, row 5: found 'c1 → c2'; this pair stands in row 1 already, "
            "in another part: train",
        ]

    def test_a_written_copy_reads_back(self, tiny: Path, tmp_path: Path) -> None:
        course = load_benchmark("tiny", tiny)
        write_course(course, tmp_path / "copy")
        copy = read_course(tmp_path / "copy", repeated_pairs="keep")
        assert copy.fingerprint == course.fingerprint


class TestAlignment:
    def test_fixed_moves_the_labels_to_the_names_they_mean(self, tiny: Path) -> None:
        course = load_benchmark("tiny", tiny)
        assert named(course, course.labelled_pairs().positives)[0] == (
            "Sets",
            "Logic (mathematics)",
        )

    def test_a_label_may_mean_a_topic_that_is_no_released_concept(
        self, tiny: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        no_topic_twice = replace(TINY, repeated_topics=())  # after Logic come Trees
        monkeypatch.setitem(BENCHMARKS, "tiny", no_topic_twice)  # type: ignore[misc]
        course = load_benchmark("tiny", tiny)
        assert course.names == ("Web page", "Sets", "Logic (mathematics)", "Proof", "Trees")
        assert named(course, course.labelled_pairs().pairs)[3:] == [
            ("Logic (mathematics)", "Trees"),
            ("Sets", "Logic (mathematics)"),
            ("Trees", "Logic (mathematics)"),
        ]
        incidence = course.incidence()
        assert incidence is not None
        assert incidence.toarray()[4].tolist() == [0, 1]
        assert len(load_benchmark("tiny", tiny, alignment="published")) == 4

    def test_a_name_may_mean_another_topic_beside_some_others(
        self, tiny: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        beside_web_pages = OtherTopic("Sets", "Relations", ("Web_page",))
        other = replace(TINY, other_topics=(beside_web_pages,))
        monkeypatch.setitem(BENCHMARKS, "tiny", other)  # type: ignore[misc]
        course = load_benchmark("tiny", tiny)
        assert course.names[4:] == ("Relations",)
        assert named(course, course.labelled_pairs().pairs) == [
            ("Sets", "Relations"),
            ("Relations", "Sets"),
            ("Sets", "Relations"),
            ("Logic (mathematics)", "Proof"),  # Sets beside Logic mean the next topic
            ("Sets", "Relations"),
            ("Proof", "Logic (mathematics)"),
        ]

    def test_of_two_equal_labels_the_second_may_mean_another_topic(
        self, tiny: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        second = OtherTopic("Sets", "Relations", beside=(), again_beside=("Web_page",))
        other = replace(TINY, repeated_topics=None, other_topics=(second,))
        monkeypatch.setitem(BENCHMARKS, "tiny", other)  # type: ignore[misc]
        course = load_benchmark("tiny", tiny)
        assert course.names[4:] == ("Relations",)
        assert named(course, course.labelled_pairs().pairs) == [
            ("Web page", "Sets"),
            ("Sets", "Web page"),  # another label: the other order
            ("Web page", "Relations"),
            ("Sets", "Logic (mathematics)"),
            ("Web page", "Relations"),
            ("Logic (mathematics)", "Sets"),
        ]

    def test_published_leaves_the_labels(self, tiny: Path) -> None:
        course = load_benchmark("tiny", tiny, alignment="published")
        assert course.labelled_pairs().pairs[:, 0].tolist() == [0, 1, 0, 1, 0, 2]

    def test_published_takes_one_off_behaviour_and_wraps_at_the_first_row(self, tiny: Path) -> None:
        assert behaviour(load_benchmark("tiny", tiny, alignment="published")) == {
            ("Web page", "Sets"): 537,
            ("Proof", "Logic (mathematics)"): 12,  # 0 → 3 became -1 → 2
        }

    def test_shifted_leaves_just_what_is_one_row_out(
        self, tiny: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shifted, published = (
            load_benchmark("tiny", tiny, alignment=one) for one in ("shifted", "published")
        )
        assert shifted.fingerprint == published.fingerprint  # labels and behaviour are out

        other = (OtherTopic("Sets", "Proof", ("Web_page",)),)
        set_ = replace(TINY, repeated_topics=None, other_topics=other)
        monkeypatch.setitem(BENCHMARKS, "tiny", set_)  # type: ignore[misc]
        fixed, shifted = (
            load_benchmark("tiny", tiny, alignment=one) for one in ("fixed", "shifted")
        )
        assert shifted.pairs.equals(fixed.pairs)
        assert behaviour(shifted) == behaviour(published)


def test_an_unknown_set_or_option_lists_the_known_ones(tiny: Path) -> None:
    with pytest.raises(PublicDataError, match="'mook'; the public sets are mooc, ucd, lect"):
        load_benchmark("mook", tiny)
    with pytest.raises(PublicDataError, match="'fixed', 'shifted', 'published', not 'fix'"):
        load_benchmark("tiny", tiny, alignment="fix")  # type: ignore[arg-type]


def readme_row(readme: Path, public: BenchmarkSet) -> list[list[int]]:
    """The numbers of a set in the table of shapes that comes with the data, cell by cell."""
    line = re.search(rf"^\| {public.folder} \|(.*)\|$", readme.read_text(), re.M)
    assert line is not None
    cells = line[1].replace(",", "").split("|")
    return [[int(number) for number in re.findall(r"\d+", cell)] for cell in cells]


@pytest.mark.publicdata
class TestTheRealSets:
    @pytest.mark.parametrize("name", BENCHMARKS)
    def test_the_course_has_the_declared_counts(self, name: str, public_data: Path) -> None:
        counts = BENCHMARKS[name].counts
        course = load_benchmark(name, public_data)
        B, M, L = course.transition_matrix(), course.incidence(), course.resource_link_matrix()
        assert B is not None
        assert M is not None
        assert L is not None
        assert M.shape == (counts["concepts"], counts["resources"])
        assert (M.nnz, B.nnz, L.nnz) == (
            counts["mentions"],
            counts["transitions"],
            counts["resource_links"],
        )
        parts = np.array(course.split_column())
        labels = course.labelled_pairs().labels
        for part in PARTS:
            assert (parts == part).sum() == counts[part]
            assert labels[parts == part].sum() == counts[f"{part}_positives"]
        assert (len(labels), labels.sum()) == (counts["pairs"], counts["positives"])

    @pytest.mark.parametrize("name", BENCHMARKS)
    def test_the_declared_counts_are_those_of_the_data(
        self, name: str, public_data: Path, source: Callable[[str], Path]
    ) -> None:
        counts = BENCHMARKS[name].counts
        row = readme_row(source("README.md"), BENCHMARKS[name])
        concepts, resources, mentions, edges, rows, positives = row
        # LectureBank's labels speak of more topics than the released list of concepts has.
        assert concepts[0] == len(load_benchmark(name, public_data, alignment="published"))
        assert resources == [counts["resources"]]
        assert mentions[0] == counts["mentions"] + counts["foreign_mentions"]
        assert edges[-1] == counts["transitions"]
        assert rows == [counts[part] for part in PARTS]
        assert positives == [counts[f"{part}_positives"] for part in PARTS]

    @pytest.mark.parametrize(
        ("name", "rows", "reversed_negatives", "reversed_positives"),
        [("mooc", 23, 38, 22), ("ucd", 19, 46, 27), ("lecturebank", 16, 33, 21)],
    )
    def test_the_leaks_of_the_released_split(
        self,
        name: str,
        rows: int,
        reversed_negatives: int,
        reversed_positives: int,
        public_data: Path,
    ) -> None:
        course = load_benchmark(name, public_data, alignment="published")
        labelled, parts = course.labelled_pairs(), np.array(course.split_column())
        train, test = (labelled.take(np.flatnonzero(parts == p)) for p in ("train", "test"))
        known = {
            (*pair, label): None
            for pair, label in zip(train.pairs.tolist(), train.labels.tolist(), strict=True)
        }
        cells = [
            (a, b, y) for (a, b), y in zip(test.pairs.tolist(), test.labels.tolist(), strict=True)
        ]
        assert sum((a, b, y) in known for a, b, y in cells) == rows
        assert sum(y == 0 and (b, a, 1) in known for a, b, y in cells) == reversed_negatives
        assert sum(y == 1 and (b, a, 0) in known for a, b, y in cells) == reversed_positives

    def test_resource_texts_where_they_are_public(self, public_data: Path) -> None:
        for name, public in BENCHMARKS.items():
            resources = load_benchmark(name, public_data).resources
            assert resources is not None
            with_text = sum(bool(text.strip()) for text in resources["text"])
            assert with_text == (public.counts["resources"] if public.texts else 0)


@pytest.mark.publicdata
class TestTheRepair:
    """Names tell that "fixed" is right: neither needs to be taken on trust."""

    @pytest.mark.parametrize(
        ("name", "edges"),
        [
            ("mooc", [("World Wide Web", "Internet"), ("Internet", "World Wide Web")]),
            ("ucd", [("World Wide Web", "Internet"), ("Internet", "World Wide Web")]),
            ("lecturebank", [("long short term memory networks", "recurrent neural networks")]),
        ],
    )
    def test_well_known_clickstream_links(self, name: str, edges: Edges, public_data: Path) -> None:
        fixed = behaviour(load_benchmark(name, public_data))
        assert all(edge in fixed for edge in edges)

    @pytest.mark.parametrize("name", ["mooc", "ucd"])
    def test_labels_and_clickstream_meet_only_when_fixed(
        self, name: str, public_data: Path
    ) -> None:
        fixed, published = (
            _positives_with_a_link(load_benchmark(name, public_data, alignment=alignment))
            for alignment in ("fixed", "published")
        )
        assert fixed > 8 * published

    def test_lecturebank_labels_meet_the_clickstream_only_when_fixed(
        self, public_data: Path
    ) -> None:
        fixed = load_benchmark("lecturebank", public_data)
        published = load_benchmark("lecturebank", public_data, alignment="published")
        assert _positives_with_a_link(fixed) == 88
        others = [_positives_with_a_link(published, shift) for shift in OTHER_SHIFTS]
        assert max(others) <= 20
        # The next row has more links, but of more pairs: there is none for topics that it misses.
        linked_rows = fixed.labelled_pairs().distinct().positives < len(published)
        assert linked_rows.all(axis=1).sum() == 421
        assert _positives_with_a_link(published, 1) == 95


def _positives_with_a_link(course: Course, shift: int = 0) -> int:
    """How many positives, moved by `shift` rows, have a clickstream link, in either direction."""
    links = behaviour(course)
    pairs = named(course, _moved(course, shift))
    return sum(pair in links or pair[::-1] in links for pair in pairs)


def _moved(course: Course, shift: int) -> np.ndarray:
    """The positives with both ends moved, as far as they are still rows of the course."""
    rows = course.labelled_pairs().positives + shift
    inside: np.ndarray = rows[((rows >= 0) & (rows < len(course))).all(axis=1)]
    return inside
