"""Public sets with labels of nearly all pairs: a small one by hand, the real ones counted."""

from __future__ import annotations

import csv
import hashlib
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from proprl.data import Course, course_facts, load_benchmark, load_course, read_course, write_course
from proprl.data.public import WHOLE_MAPS, find_benchmark
from proprl.data.public.catalogue import PublicFile, WholeMapSet
from proprl.errors import PublicDataError

# Numbers 1 and 5 have one name but for case and white space; 4 is not annotated; 9 has no name.
FILES = {
    "tiny/topics.csv": (
        "1,Dynamic programming,\n2,Graphs,https://graphs\n3,Codes: Huffman, Hamming,NULL\n"
        "4,Sorting,\n5,dynamic  Programming,\n"
    ),
    "tiny/annotations.csv": (
        "1,2,0\n2,1,1\n1,3,1\n"
        "1,2,1\n"  # the other label
        "2,1,1\n"  # the same once more
        "5,2,1\n3,5,1\n"  # about the second topic of that name
        "3,3,0\n"  # a topic and itself
        "9,1,1\n2,9,0\n"  # a number without a name
        "3,2,0\n\n"  # the last row holds nothing
    ),
    "tiny/texts.csv": 'algorithms,"Dynamic programming\0on graphs."\nlists,Nothing of these.\n',
}
TINY = WholeMapSet(
    name="tiny-map",
    title="Three topics",
    subject="algorithms",
    citation="Nobody, nowhere.",
    files=tuple(
        PublicFile(
            path=path,
            repository="owner/tiny",
            commit="0" * 40,
            source=path,
            size=len(content.encode()),
            sha256=hashlib.sha256(content.encode()).hexdigest(),
        )
        for path, content in FILES.items()
    ),
    topics="tiny/topics.csv",
    separator=",",
    annotations="tiny/annotations.csv",
    texts="tiny/texts.csv",
    counts={
        "rows": 12,
        "without_label": 1,
        "without_name": 2,
        "of_later_namesakes": 2,
        "with_itself": 1,
        "repeats": 2,
        "contradictions": 1,
        "pairs": 4,
        "positives": 3,
        "concepts": 3,
        "resources": 2,
    },
    doubtful_names=(3,),
)


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder that holds the set `tiny-map`."""
    monkeypatch.setitem(WHOLE_MAPS, "tiny-map", TINY)  # type: ignore[misc]
    monkeypatch.delenv("PROPRL_DATA", raising=False)
    for path, content in FILES.items():
        file = tmp_path / "data" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode())
    return tmp_path / "data"


def labels(course: Course) -> dict[tuple[str, str], int]:
    labelled = course.labelled_pairs()
    assert len(set(map(tuple, labelled.pairs.tolist()))) == len(labelled)
    return {
        (course.ids[a], course.ids[b]): label
        for (a, b), label in zip(labelled.pairs.tolist(), labelled.labels.tolist(), strict=True)
    }


class TestReading:
    def test_concepts_are_the_annotated_topics_with_the_numbers_as_ids(self, tiny: Path) -> None:
        course = load_benchmark("tiny-map", tiny)
        assert course.ids == ("1", "2", "3")
        assert course.names == ("Dynamic programming", "Graphs", "Codes: Huffman")

    def test_each_pair_once_and_a_prerequisite_if_any_row_says_so(self, tiny: Path) -> None:
        course = load_benchmark("tiny-map", tiny)
        assert labels(course) == {("1", "2"): 1, ("2", "1"): 1, ("1", "3"): 1, ("3", "2"): 0}
        assert course.split_column() is None

    def test_links_are_by_mention_and_there_is_no_behaviour(self, tiny: Path) -> None:
        course = load_benchmark("tiny-map", tiny)
        incidence = course.incidence()
        assert incidence is not None
        assert incidence.toarray().tolist() == [[1, 0], [1, 0], [0, 0]]
        assert course.transition_matrix() is None

    def test_what_is_not_read_as_it_stands_is_told(self, tiny: Path) -> None:
        annotations = "tiny/annotations.csv: "
        assert [str(warning) for warning in load_benchmark("tiny-map", tiny).warnings] == [
            "tiny/texts.csv, column text: found 'algorithms'; "
            "NUL characters in the text were read as spaces",
            annotations + "rows without a label are not read; there are 1",
            annotations + "rows about a number without a name are not read; there are 2",
            annotations + "rows about a topic that has the name of an earlier one are not read; "
            "there are 2",
            annotations + "rows about a topic and itself are not read; there are 1",
            annotations + "each pair is read once; rows that repeat one: 2",
            annotations + "found 'Dynamic programming → Graphs'; this pair carries both labels: "
            "it is read as a prerequisite",
            "tiny/topics.csv, column id: found '3: Codes: Huffman'; annotators saw another topic "
            "under this number: labels with it do not fit its name",
            "pairs, row 2: found '2 → 1'; row 1 says the reverse: only one of two concepts can "
            "come first",
        ]

    def test_a_written_copy_reads_back(self, tiny: Path, tmp_path: Path) -> None:
        course = load_course("tiny-map", root=tiny)
        write_course(course, tmp_path / "copy")
        assert read_course(tmp_path / "copy").fingerprint == course.fingerprint

    @pytest.mark.parametrize("alignment", ["published", "shifted"])
    def test_an_alignment_is_refused(self, tiny: Path, alignment: str) -> None:
        with pytest.raises(PublicDataError, match=r"'tiny-map' has no alignment to choose.*leave"):
            load_benchmark("tiny-map", tiny, alignment=alignment)  # type: ignore[arg-type]

    def test_a_missing_file_says_how_to_get_it(self, tiny: Path) -> None:
        (tiny / "tiny/topics.csv").unlink()
        with pytest.raises(PublicDataError, match="run `proprl course fetch tiny-map`"):
            load_benchmark("tiny-map", tiny)

    def test_every_set_is_found_by_name(self) -> None:
        assert find_benchmark("lecturebank-208") is WHOLE_MAPS["lecturebank-208"]
        with pytest.raises(PublicDataError, match="lecturebank, lecturebank-208, lecturebank-322"):
            find_benchmark("lecturebank-209")


@pytest.mark.parametrize("public", [*WHOLE_MAPS.values(), TINY], ids=lambda public: public.name)
def test_every_row_is_accounted_for(public: WholeMapSet) -> None:
    counts = public.counts
    reasons = ("without_label", "without_name", "of_later_namesakes", "with_itself", "repeats")
    left_out = sum(counts[reason] for reason in reasons)
    assert counts["rows"] == counts["pairs"] + left_out


@pytest.mark.publicdata
@pytest.mark.parametrize("name", WHOLE_MAPS)
class TestCounts:
    def test_each_set_holds_what_it_declares(self, name: str, public_data: Path) -> None:
        counts = WHOLE_MAPS[name].counts
        course = load_benchmark(name, public_data)
        facts = course_facts(course)
        assert {what: facts[what] or 0 for what in WHOLE_MAPS[name].facts} == WHOLE_MAPS[name].facts
        said = Counter(labels(course).values())
        assert (said[0] + said[1], said[1]) == (counts["pairs"], counts["positives"])
        resources = course.resources
        assert resources is not None
        assert all(text.strip() for text in resources["text"])

    def test_the_declared_counts_are_those_of_the_files(self, name: str, public_data: Path) -> None:
        """Counted line by line, without the loader."""
        public, counts = WHOLE_MAPS[name], WHOLE_MAPS[name].counts
        lines = (public_data / public.topics).read_text(encoding="utf-8").splitlines()
        names = {line.split(public.separator)[0]: line.split(public.separator)[1] for line in lines}
        first: dict[str, str] = {}
        for number, topic in names.items():
            first.setdefault(topic.lower(), number)
        rows = (public_data / public.annotations).read_text(encoding="utf-8").split("\n")[:-1]
        assert len(rows) == counts["rows"]
        said: dict[tuple[str, str], list[str]] = {}
        left_out: Counter[str] = Counter()
        for row in csv.reader(rows):
            a, b, label = row if len(row) == 3 else ("", "", "")
            if not label:
                left_out["without_label"] += 1
            elif a not in names or b not in names:
                left_out["without_name"] += 1
            elif a not in first.values() or b not in first.values():
                left_out["of_later_namesakes"] += 1
            elif a == b:
                left_out["with_itself"] += 1
            else:
                said.setdefault((a, b), []).append(label)
        for reason in ("without_label", "without_name", "of_later_namesakes", "with_itself"):
            assert counts[reason] == left_out[reason]
        assert counts["repeats"] == sum(len(of_pair) - 1 for of_pair in said.values())
        assert counts["contradictions"] == sum(len(set(of_pair)) > 1 for of_pair in said.values())
        assert counts["positives"] == sum("1" in of_pair for of_pair in said.values())
        assert counts["pairs"] == len(said)
        assert counts["concepts"] == len({number for pair in said for number in pair})

    def test_they_are_those_of_the_readme(self, name: str, source: Callable[[str], Path]) -> None:
        counts = WHOLE_MAPS[name].counts
        file = Path(WHOLE_MAPS[name].topics).name
        text = source("README.md").read_text(encoding="utf-8")
        row = next(
            line for line in text.splitlines() if line.startswith("| version") and file in line
        )
        cells = [cell.strip() for cell in row.strip("|").split("|")][1:]
        names, pairs, share, positives, rate = (float(re.sub(r"[^\d.]", "", c)) for c in cells)
        assert (counts["concepts"], counts["pairs"], counts["positives"]) == (
            names,
            pairs,
            positives,
        )
        ordered = counts["concepts"] * (counts["concepts"] - 1)
        assert round(100 * counts["pairs"] / ordered) == share
        assert round(counts["positives"] / counts["pairs"], 3) == rate


@pytest.mark.publicdata
def test_relational_databases_stand_before_half_of_the_older_list(public_data: Path) -> None:
    """Why names are doubtful: under 208 the annotators saw data structures and algorithms."""
    course = load_benchmark("lecturebank-208", public_data)
    after = [b for (a, b), label in labels(course).items() if a == "208" and label]
    assert course.names[course.row("208")] == "relational databases"
    assert len(after) == 105
    assert {"4", "38", "145"} <= {*after}  # translation, language modeling, dynamic programming
