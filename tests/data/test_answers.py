"""What answers come to: everybody's last word counts, and a dispute leaves no label."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proprl.data import Course
from proprl.data.answers import answered_pairs, settled, with_answers

Row = tuple[str, str, str, str]

IDS = ("f", "l", "d")
NAMES = ["Functions", "Limits", "Derivatives"]


def answers(*rows: Row, drawn: dict[int, float] | None = None) -> pl.DataFrame:
    """Answers as (first, then, answer, who); some of them were drawn, by this chance."""
    chances = [(drawn or {}).get(k) for k in range(len(rows))]
    frame = pl.DataFrame(rows, ["source", "target", "answer", "who"], orient="row")
    return frame.with_columns(
        pl.Series("origin", ["asked" if chance is None else "drawn" for chance in chances]),
        pl.Series("chance", chances, dtype=pl.Float64),
    )


def labels(*rows: Row) -> dict[tuple[str, str], int]:
    return {pair: said.label for pair, said in settled(answers(*rows)).labels.items()}


def test_the_last_answer_of_a_person_counts() -> None:
    assert labels(("f", "l", "no", "ann"), ("f", "l", "yes", "ann")) == {("f", "l"): 1}
    assert labels(("f", "l", "yes", "ann"), ("f", "l", "withdrawn", "ann")) == {}
    # Whoever said "turned round" and then "yes" no longer says that the other order holds.
    assert labels(("f", "l", "reversed", "ann"), ("f", "l", "yes", "ann")) == {("f", "l"): 1}


def test_turned_round_speaks_of_both_orders() -> None:
    assert labels(("l", "f", "reversed", "ann")) == {("l", "f"): 0, ("f", "l"): 1}
    # Asked in the other order later, the same person has the last word there too.
    assert labels(("l", "f", "yes", "ann"), ("f", "l", "yes", "ann")) == {("f", "l"): 1}
    # Neither is needed for the other: that is no contradiction.
    no = ("l", "f", "no", "ann"), ("f", "l", "no", "ann")
    assert labels(*no) == {("l", "f"): 0, ("f", "l"): 0}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("f", "l", "yes", "ann"), ("f", "l", "no", "bob")),
        (("f", "l", "yes", "ann"), ("f", "l", "reversed", "bob")),
        (("f", "l", "yes", "ann"), ("l", "f", "yes", "bob")),
        (("f", "l", "no", "ann"), ("l", "f", "reversed", "bob")),
    ],
)
def test_people_who_disagree_leave_no_label(one: Row, other: Row) -> None:
    found = settled(answers(one, other, ("l", "d", "yes", "ann")))
    assert list(found.labels) == [("l", "d")]
    assert found.disputed == {(one[0], one[1]): 1}
    # They need not be asked again either: it takes talking, not asking.
    asked = answered_pairs(answers(one, other), IDS)
    assert (asked.pairs.tolist(), asked.labels.tolist()) == ([[0, 1]], [0])


def test_a_drawn_pair_keeps_its_chance_and_its_reverse_was_not_drawn() -> None:
    said = settled(answers(("l", "f", "reversed", "ann"), drawn={0: 0.01})).labels
    assert said["l", "f"] == (0, "drawn", 0.01)
    assert said["f", "l"] == (1, "asked", None)


PAIRS = pl.DataFrame(
    {
        "source": ["f", "l", "d"],
        "target": ["l", "d", "f"],
        "label": [1, 1, 0],
        "split": ["train", "test", "train"],
    }
)


def test_answers_are_laid_over_the_labels() -> None:
    said = answers(
        ("f", "l", "no", "ann"),  # in place of a label
        ("l", "d", "reversed", "ann"),  # of the test part: it stays there
        ("f", "d", "yes", "ann"),  # the other order of a label, which stays
        drawn={2: 0.5},
    )
    rows = with_answers(PAIRS, said).sort("source", "target").rows()
    assert rows == [
        ("d", "f", 0, "train", "chosen", None),
        ("d", "l", 1, "test", "asked", None),
        ("f", "d", 1, "train", "drawn", 0.5),
        ("f", "l", 0, "train", "asked", None),
        ("l", "d", 0, "test", "asked", None),
    ]


def test_a_dispute_takes_the_label_away() -> None:
    said = answers(("f", "l", "yes", "ann"), ("f", "l", "no", "bob"))
    assert with_answers(PAIRS, said)["source"].to_list() == ["l", "d"]


def test_a_yes_takes_the_place_of_a_label_the_other_way_round() -> None:
    merged = with_answers(PAIRS, answers(("l", "f", "yes", "ann")))
    assert ("f", "l") not in merged.select("source", "target").rows()


def test_a_course_learns_from_answers_alone() -> None:
    concepts = pl.DataFrame({"id": IDS, "name": NAMES})
    course = Course.from_tables(concepts=concepts, answers=answers(("f", "l", "yes", "ann")))
    known = course.labelled_pairs()
    assert (known.pairs.tolist(), known.labels.tolist()) == ([[0, 1]], [1])
    assert known.origin.tolist() == ["asked"]


TWO = st.sampled_from([(a, b) for a in IDS for b in IDS if a != b])
WORD = st.sampled_from(["yes", "no", "reversed", "withdrawn"])
ROWS = st.lists(
    st.tuples(TWO, WORD, st.sampled_from(["ann", "bob"])).map(lambda r: (*r[0], r[1], r[2])),
    min_size=1,
)


@given(ROWS)
def test_no_answers_leave_both_orders_confirmed_or_a_pair_both_settled_and_disputed(
    rows: list[Row],
) -> None:
    found = settled(answers(*rows))
    yes = {pair for pair, said in found.labels.items() if said.label}
    assert not any((then, first) in yes for first, then in yes)
    about = {frozenset(pair) for pair in found.labels}
    assert about.isdisjoint(frozenset(pair) for pair in found.disputed)


@given(ROWS)
def test_one_person_never_disagrees_and_the_last_answer_is_kept(rows: list[Row]) -> None:
    mine = [(first, then, answer, "ann") for first, then, answer, _ in rows]
    found = settled(answers(*mine))
    assert found.disputed == {}
    first, then, answer, _ = mine[-1]
    if answer != "withdrawn":
        assert found.labels[first, then].label == (answer == "yes")
