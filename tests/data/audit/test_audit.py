"""What an audit finds, on small courses worked by hand and on the public sets."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from proprl.data import Course, load_course
from proprl.data.audit import Audit, audit_course
from proprl.data.audit.alignment import Alignment, Behaviour, Fit, Resources, links_of
from proprl.data.audit.finding import LabelledRows
from proprl.data.public import load_benchmark

LETTERS = "abcdefgh"


def course(*rows: str, **tables: pl.DataFrame) -> Course:
    """Concepts A to H; a row reads "ab1 test": a before b, label 1, in test."""
    cells = [(row[0], row[1], int(row[2]), row[4:]) for row in rows]
    pairs = pl.DataFrame(cells, schema=["source", "target", "label", "split"], orient="row")
    return Course.from_tables(
        name="letters",
        concepts=pl.DataFrame({"id": list(LETTERS), "name": list(LETTERS.upper())}),
        pairs=pairs if rows else None,
        repeated_pairs="keep",
        **tables,
    )


def sparse(M: np.ndarray) -> csr_array:
    return csr_array(M.astype(float))


def count(audit: Audit, kind: str) -> tuple[str, int, int]:
    finding = audit[kind]
    return finding.severity, finding.count, finding.total


LEAKY = course(
    "ab1 train", "ab1 train", "bc0 train", "cd1 train", "de0 train",
    "ab1 validation", "cb1 validation", "fg0 validation",
    "ab0 test", "dc0 test", "ed1 test", "fg0 test", "gh1 test", "hg0 test",
)  # fmt: skip


def test_rows_in_two_parts_are_counted_as_rows_of_the_later_part() -> None:
    audit = audit_course(LEAKY)
    assert count(audit, "validation_rows_in_train") == ("error", 1, 3)  # ab
    assert count(audit, "test_rows_in_train") == ("error", 1, 6)  # ab, whatever its label
    assert count(audit, "test_rows_in_validation") == ("error", 2, 6)  # ab and fg
    assert audit["test_rows_in_validation"].examples == ("A → B", "F → G")


def test_reversed_pairs_are_counted_by_label() -> None:
    audit = audit_course(LEAKY)
    assert count(audit, "test_reversed_negatives") == ("error", 1, 4)  # dc, for cd is a positive
    assert count(audit, "test_reversed_positives") == ("error", 1, 2)  # ed, for de is a negative
    assert count(audit, "validation_reversed_positives") == ("error", 1, 2)  # cb, for bc is one
    assert count(audit, "validation_reversed_negatives") == ("ok", 0, 1)
    assert audit["test_reversed_negatives"].examples == ("D → C",)


def test_both_orders_within_one_part_are_no_leak() -> None:
    audit = audit_course(course("ab1 train", "ba0 train", "cd1 test", "dc0 test"))
    assert audit.errors == ()


def test_repeats_and_contradictions() -> None:
    audit = audit_course(LEAKY)
    assert count(audit, "repeated_pairs") == ("warning", 4, 14)  # ab three times more, fg once
    assert count(audit, "contradicting_labels") == ("error", 1, 10)
    assert audit["contradicting_labels"].examples == ("A → B",)


def test_mutual_positives_and_cycles_are_shown_by_name() -> None:
    audit = audit_course(
        course("ab1 train", "ba1 train", "cd1 train", "de1 train", "ec1 train", "ef1 train")
    )
    assert count(audit, "mutual_positives") == ("warning", 1, 6)
    assert audit["mutual_positives"].examples == ("A ⇄ B",)
    assert count(audit, "cycles") == ("warning", 5, 6)  # all but ef
    assert audit["cycles"].examples == ("C → D → E → C", "A → B → A")
    assert audit["cycles"].details == {"groups": 2, "largest": 3}


def test_an_example_cycle_is_a_shortest_one() -> None:
    audit = audit_course(course("ab1", "bc1", "cd1", "da1", "ca1"))
    assert audit["cycles"].examples == ("A → B → C → A",)


def test_parts_without_one_label() -> None:
    audit = audit_course(course("ab1 train", "bc0 train", "cd1 test"))
    assert count(audit, "missing_negatives") == ("warning", 1, 2)
    assert audit["missing_negatives"].examples == ("test",)
    assert count(audit, "missing_positives") == ("ok", 0, 2)
    assert count(audit, "positives") == ("note", 2, 3)


def test_rare_positives_are_a_warning() -> None:
    negatives = [f"{a}{b}0" for a in "abcd" for b in "efgh"]
    audit = audit_course(course("ab1", *negatives))
    assert count(audit, "positives") == ("warning", 1, 17)
    assert "94.1%" in audit["positives"].meaning


def test_concepts_about_which_little_is_known() -> None:
    audit = audit_course(
        course(
            "ab1 train",
            resources=pl.DataFrame({"id": ["r"], "title": ["R"]}),
            concept_resources=pl.DataFrame({"concept": ["a", "c"], "resource": ["r", "r"]}),
            transitions=pl.DataFrame({"source": ["a"], "target": ["b"], "weight": [2]}),
        )
    )
    assert count(audit, "concepts_without_resource") == ("warning", 6, 8)
    assert audit["concepts_without_resource"].examples == ("B", "D", "E")
    assert count(audit, "concepts_without_behaviour") == ("warning", 6, 8)
    assert count(audit, "concepts_without_label") == ("note", 6, 8)


def test_hubs_answer_test_by_their_majority_in_train() -> None:
    train = ["ab1 train", "ac1 train", "ad0 train", "bc0 train", "bd0 train"]
    audit = audit_course(course(*train, "ae1 test", "af0 test", "be0 test", "ce0 test"))
    # A is mostly positive, B negative; C is unknown, and negatives are commoner in train.
    assert count(audit, "source_hubs")[1:] == (3, 4)
    assert audit["source_hubs"].details["commoner_label"] == 0.75
    assert audit["source_hubs"].details["hubs"][0] == {"name": "A", "pairs": 3, "positives": 2}
    assert audit["source_hubs"].examples[0] == "A: 2 of 3 are positive"


def test_without_parts_no_pair_votes_on_its_own_label() -> None:
    audit = audit_course(course("ab1", "ac0", "bd1", "be1", "bf0"))
    # ab is left with ac, hence 0; ac with ab, hence 1: both wrong. bd and be are left with one
    # of each, hence the commoner label 1: right. bf is left with two positives: wrong.
    assert count(audit, "source_hubs")[1:] == (2, 5)


def test_hubs_that_decide_labels_are_a_warning() -> None:
    ends = [(a, b) for a in LETTERS for b in LETTERS if a != b]
    rows = [
        f"{a}{b}{int(a in 'abcd')} {'test' if (ord(a) + ord(b)) % 2 else 'train'}" for a, b in ends
    ]
    audit = audit_course(course(*rows))
    assert count(audit, "source_hubs") == ("warning", 32, 32)
    assert count(audit, "target_hubs")[0] == "ok"


def test_what_cannot_be_looked_at_is_said() -> None:
    audit = audit_course(course())
    assert [finding.kind for finding in audit.findings] == []
    assert audit.skipped == {
        "labels": "the course has no labelled pairs",
        "concepts_without_behaviour": "the course has no behaviour",
        "concepts_without_resource": "the course has no resources",
    }
    audit = audit_course(course("ab1", "bc0"))
    assert {"leaks", "label_shift"} <= set(audit.skipped)


def test_findings_come_gravest_first_and_as_json() -> None:
    audit = audit_course(LEAKY)
    order = ["error", "warning", "note", "ok"]
    ranks = [order.index(finding.severity) for finding in audit.findings]
    assert ranks == sorted(ranks)
    document = json.loads(json.dumps(audit.to_json(), allow_nan=False))
    assert document["course"] == "letters"
    assert document["errors"] == len(audit.errors) == 7
    assert document["findings"]["test_rows_in_train"]["count"] == 1
    assert all(finding["meaning"].endswith(".") for finding in document["findings"].values())


def test_an_audit_changes_nothing() -> None:
    before = LEAKY.fingerprint
    first, second = audit_course(LEAKY), audit_course(LEAKY)
    assert first == second
    del LEAKY.__dict__["fingerprint"]
    assert LEAKY.fingerprint == before


# --- displaced ids ---


def test_a_link_confirms_either_way_and_chance_follows_popularity() -> None:
    links = np.array([[0, 1], [0, 2], [3, 1]])
    forward, either = Behaviour(links, 4), Behaviour(np.concatenate([links, links[:, ::-1]]), 4)
    pairs = np.array([[0, 1], [1, 0], [2, 3]])
    assert forward.confirms(pairs).tolist() == [True, False, False]
    assert either.confirms(pairs).tolist() == [True, True, False]
    # out(0) = 2, in(1) = 2, three links in all; nobody leaves 1 or 2
    np.testing.assert_allclose(forward.chance(pairs), [1 - np.exp(-4 / 3), 0, 0])


def test_resources_confirm_concepts_that_stand_together() -> None:
    M = np.array([[1, 1], [1, 0], [0, 1], [0, 0]])
    resources = Resources(sparse(M))
    pairs = np.array([[0, 1], [1, 2], [0, 3]])
    assert resources.confirms(pairs).tolist() == [True, False, False]
    # two resources of two concepts each: Σ s(s − 1) / (Σ s)² = 4 / 16
    np.testing.assert_allclose(resources.chance(pairs), 1 - np.exp(-np.array([2, 1, 0]) / 4))


def test_links_come_strongest_first_without_self_links() -> None:
    B = sparse(np.array([[5, 1, 0], [0, 0, 3], [2, 0, 0]]))
    assert links_of(B).tolist() == [[1, 2], [2, 0], [0, 1]]


def even(confirmed: list[int]) -> Fit:
    """A fit in which chance would confirm 20 pairs at every shift."""
    shifts = range(-3, 4)
    return Fit(dict(zip(shifts, confirmed, strict=True)), dict.fromkeys(shifts, 20.0))


@pytest.mark.parametrize(
    ("confirmed", "shift"),
    [
        ([16, 20, 18, 12, 95, 15, 15], 1),  # LectureBank's labels by clickstream, as published
        ([20, 18, 12, 95, 15, 15, 12], 0),
        ([20, 20, 20, 20, 39, 20, 20], None),  # less than twice the others
        ([20, 20, 20, 60, 80, 20, 20], None),  # less than twice shift 0
        ([0, 1, 0, 1, 3, 0, 1], None),  # too few to tell
        ([0, 0, 0, 0, 0, 0, 0], None),
        ([50, 50, 50, 50, 50, 50, 50], None),  # a chain fits at every shift
    ],
)
def test_a_shift_must_stand_out(confirmed: list[int], shift: int | None) -> None:
    assert even(confirmed).standing_out() == shift


def test_popular_concepts_alone_do_not_make_a_shift_stand_out() -> None:
    confirmed = even([20, 20, 20, 20, 80, 20, 20]).confirmed
    by_popularity = {s: float(c) for s, c in confirmed.items()}
    assert Fit(confirmed, by_popularity).standing_out() is None


CLEAR = [20, 20, 20, 95, 20, 20, 20]


def fit_at(shift: int | None) -> Fit:
    """A fit that stands out at this shift, or nowhere."""
    return even([20] * 7 if shift is None else list(np.roll(CLEAR, shift)))


@pytest.mark.parametrize(
    ("by_resources", "by_behaviour", "behaviour", "label_shift", "behaviour_shift"),
    [
        (0, 0, 0, 0, 0),
        (1, 1, 0, 1, 0),  # labels one row out
        (0, -1, 1, 0, 1),  # behaviour one row out the other way
        (1, 0, 1, 1, 1),  # both out together: only resources tell
        (None, 0, 1, 1, 1),  # ... also by way of behaviour
        (None, 1, None, 1, None),  # no resource speaks: behaviour is believed
        (0, -1, None, 0, 1),  # behaviour is told by way of the labels
        (None, None, 0, None, 0),
    ],
)
def test_which_table_is_out(
    by_resources: int | None,
    by_behaviour: int | None,
    behaviour: int | None,
    label_shift: int | None,
    behaviour_shift: int | None,
) -> None:
    alignment = Alignment(
        fit_at(by_resources), fit_at(by_behaviour), fit_at(by_behaviour), fit_at(behaviour)
    )
    assert alignment.label_shift() == label_shift
    assert alignment.behaviour_shift() == behaviour_shift


def displaced(labels: int, behaviour: int = 0, n: int = 120) -> Course:
    """Learners go where the labels go, but both tables may number concepts from another row."""
    rng = np.random.default_rng(0)
    pairs = np.unique(rng.integers(4, n - 4, (300, 2)), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    walked = pairs[rng.random(len(pairs)) < 0.5]

    def ids(rows: np.ndarray) -> list[str]:
        return [str(row) for row in rows]

    return Course.from_tables(
        concepts=pl.DataFrame(
            {"id": ids(np.arange(n)), "name": [f"concept {i}" for i in range(n)]}
        ),
        transitions=pl.DataFrame(
            {
                "source": ids(walked[:, 0] - behaviour),
                "target": ids(walked[:, 1] - behaviour),
                "weight": [1] * len(walked),
            }
        ),
        pairs=pl.DataFrame(
            {
                "source": ids(pairs[:, 0] - labels),
                "target": ids(pairs[:, 1] - labels),
                "label": [1] * len(pairs),
            }
        ),
    )


@pytest.mark.parametrize("shift", [-3, -1, 2])
def test_displaced_labels_are_found(shift: int) -> None:
    audit = audit_course(displaced(labels=shift))
    assert audit["label_shift"].details["shift"] == shift
    assert audit["label_shift"].count == audit["label_shift"].total > 200
    assert audit["label_shift"].severity == "error"
    assert "(meant: concept " in audit["label_shift"].examples[0]
    assert "behaviour_shift" in audit.skipped  # nothing else says which of the two is right


def test_labels_in_place_are_found_in_place() -> None:
    finding = audit_course(displaced(labels=0))["label_shift"]
    assert (finding.severity, finding.count, finding.details["shift"]) == ("ok", 0, 0)


def test_unrelated_tables_with_hubs_raise_no_alarm() -> None:
    rng = np.random.default_rng(1)
    n, weights = 100, 1 / np.arange(1, 101) ** 1.5
    weights /= weights.sum()

    def drawn(count: int) -> np.ndarray:
        ends = [rng.permutation(n)[rng.choice(n, count, p=weights)] for _ in range(2)]
        pairs = np.unique(np.stack(ends, axis=1), axis=0)
        return pairs[pairs[:, 0] != pairs[:, 1]]

    names = tuple(map(str, range(n)))
    for _ in range(20):
        labels, links = drawn(600), drawn(1500)
        B = np.zeros((n, n))
        B[links[:, 0], links[:, 1]] = rng.random(len(links))
        M = rng.random((n, 80)) < weights[:, None] * 5
        ones, parts = np.ones(len(labels), dtype=np.int64), np.full(len(labels), "")
        rows = LabelledRows(names, labels, ones, parts)
        alignment = Alignment.of(rows, sparse(B), sparse(M), n)
        assert not alignment.label_shift()
        assert not alignment.behaviour_shift()


# --- real courses ---


def test_campus_has_no_errors() -> None:
    audit = audit_course(load_course("campus"))
    assert audit.errors == ()
    assert audit["label_shift"].details["shift"] == 0
    assert audit["behaviour_shift"].details["shift"] == 0
    assert audit.skipped == {}


def public_root() -> Path:
    beside = Path(__file__).parents[4] / "shared" / "data"
    root = Path(os.environ.get("PROPRL_DATA", beside))
    if not root.is_dir() and not os.environ.get("PROPRL_CI"):
        pytest.skip("the public data is not here: set PROPRL_DATA")
    return root


@pytest.mark.publicdata
@pytest.mark.parametrize(
    ("name", "shared", "negatives", "positives"),
    [
        ("mooc", (23, 201), (38, 101), (22, 100)),
        ("ucd", (19, 202), (46, 101), (27, 101)),
        ("lecturebank", (16, 121), (33, 60), (21, 61)),
    ],
)
def test_leaks_of_the_published_splits(
    name: str, shared: tuple[int, int], negatives: tuple[int, int], positives: tuple[int, int]
) -> None:
    audit = audit_course(load_benchmark(name, public_root(), alignment="published"))
    assert count(audit, "test_rows_in_train") == ("error", *shared)
    assert count(audit, "test_reversed_negatives") == ("error", *negatives)
    assert count(audit, "test_reversed_positives") == ("error", *positives)
    assert count(audit, "contradicting_labels")[:2] == ("ok", 0)


@pytest.mark.publicdata
@pytest.mark.parametrize(
    ("name", "alignment", "labels", "behaviour"),
    [
        ("mooc", "fixed", 0, 0),
        ("ucd", "fixed", 0, 0),
        ("lecturebank", "fixed", 0, 0),
        ("mooc", "published", 0, 1),
        ("ucd", "published", 0, 1),
        ("lecturebank", "published", 1, 0),
    ],
)
def test_index_faults_of_the_published_sets(
    name: str, alignment: str, labels: int, behaviour: int
) -> None:
    course = load_benchmark(name, public_root(), alignment=alignment)  # type: ignore[arg-type]
    audit = audit_course(course)
    assert audit["label_shift"].details["shift"] == labels
    assert audit["behaviour_shift"].details["shift"] == behaviour


@pytest.mark.publicdata
def test_the_clickstream_speaks_for_the_shift_of_lecturebank() -> None:
    course = load_benchmark("lecturebank", public_root(), alignment="published")
    by_shift = audit_course(course)["label_shift"].details["labels_by_behaviour"]
    assert by_shift["+1"] == 95
    assert {12 <= count <= 20 for shift, count in by_shift.items() if shift != "+1"} == {True}
