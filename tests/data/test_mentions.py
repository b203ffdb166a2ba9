from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proprl.data.mentions import mention_incidence, mention_passages


def mentions(name: str, text: str) -> bool:
    return bool(mention_incidence([name], [text]).sum())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Limits", "Limits."),
        ("Limits", "all about (limits), really"),
        ("limits", "LIMITS"),
        ("Limits", "**Limits** and _limits_"),
        ("Chain rule", "the chain\n  rule says"),
        ("Chain rule", "the chain-rule says"),
        ("Chain rule", "see chain_rule"),
        ("K-means clustering", "We use k-means clustering."),
        ("K-means clustering", "We use K-Means  Clustering, often"),
        ("K-means clustering", "We use k means clustering"),
        ("K-means clustering", "k\u2011means clustering"),
        ("Big-O notation", "(Big-O notation)"),
        ("Big-O notation", "in big O notation: n log n"),
        ("Cauchy-Schwarz inequality", "the Cauchy–Schwarz inequality"),
        ("C++", "Programs in C++, Java and C."),
        ("C++", "C++"),
        ("C#", "in C#."),
        ("C", "C/C++ or C"),
        ("A*", "A* is a search"),
        ("TCP/IP", "the TCP/IP model"),
        ("Newton's method", "Newton’s method converges"),
        ("Bayes' theorem", "by Bayes' theorem"),
        ("P vs. NP", "whether P vs. NP is open"),
        ("Straße", "DIE STRASSE"),
        ("Café", "cafe\u0301 culture"),
        ("二叉树", "我们学习二叉树的遍历"),
        ("प्रायिकता", "यह प्रायिकता है"),
    ],
)
def test_a_mention(name: str, text: str) -> None:
    assert mentions(name, text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Set", "subset, sets, setting, reset"),
        ("Limit", "limits"),
        ("C", "C++ and C#"),
        ("C", "Objective-C"),
        ("Means", "k-means clustering"),
        ("Graph", "graph-based"),
        ("Chain rule", "chain the rule"),
        ("Chain rule", "a chain. Rule one"),
        ("Chain rule", "chain"),
        ("Chain rule", "a chain rules"),
        ("A*", "a search"),
        ("C++", "C"),
        ("प्रायिक", "यह प्रायिकता है"),
        ("Limits", ""),
        ("", "anything"),
    ],
)
def test_no_mention(name: str, text: str) -> None:
    assert not mentions(name, text)


def test_names_are_rows_and_texts_are_columns() -> None:
    names = ["Limits", "Derivatives", "Limits of sequences", "limits"]
    texts = ["Limits of sequences, then limits", "Nothing", "Derivatives"]

    assert mention_incidence(names, texts).toarray().tolist() == [
        [1, 0, 0],
        [0, 0, 1],
        [1, 0, 0],
        [1, 0, 0],
    ]


def test_no_names_and_no_texts() -> None:
    assert mention_incidence([], []).shape == (0, 0)
    assert mention_incidence(["Limits"], []).shape == (1, 0)


@given(st.text(min_size=1).filter(str.strip))
def test_a_name_is_mentioned_in_itself_and_between_spaces(name: str) -> None:
    incidence = mention_incidence([name], [name, f"before {name} after"])
    assert incidence.toarray().tolist() == [[1, 1]]


@given(st.from_regex(r"[a-z]{1,6}( [a-z]{1,6}){0,2}", fullmatch=True))
def test_a_plain_name_is_never_found_inside_a_longer_word(name: str) -> None:
    assert mentions(name, f"so {name.upper()}!")
    assert not mentions(name, f"un{name}")
    assert not mentions(name, f"{name}ish")


def test_many_names_cost_no_more_than_few() -> None:
    names = [f"concept number {i}" for i in range(20_000)]
    texts = ["some words about concept number 7 and others " * 20] * 200

    start = time.perf_counter()
    incidence = mention_incidence(names, texts)

    assert incidence.sum() == 200
    assert time.perf_counter() - start < 5  # names × texts searches would take minutes


# Passages


def passages(name: str, *texts: str, around: int = 25, at_most: int = 9) -> list[str]:
    return mention_passages([name], texts, around=around, at_most=at_most)[0]


def test_a_passage_is_what_stands_around_a_mention() -> None:
    text = "First come sets.  A Limit\nis what a sequence tends to, if any."
    assert passages("limit", text, around=3) == ["sets. A Limit is what a"]
    assert passages("limit", text) == [" ".join(text.split())]


def test_passages_do_not_overlap() -> None:
    assert passages("set", "set set set set set", around=1) == ["set set", "set set set"]


def test_a_passage_of_endless_words_is_cut() -> None:
    (found,) = passages("set", f"{'x' * 10_000} set {'y' * 10_000}")
    assert len(found) < 1_000
    assert " set " in found


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Tree (data structure)", "two trees", True),
        ("Tree", "two trees", True),
        ("C", "CS 101", False),  # too short for a plural
        ("(graph)", "let s be (graph)", True),  # nothing but brackets: looked for as it is
        ("(graph)", "let s be", False),
        ("O(n)", "o to joy", False),  # a bracket without a space before belongs to the name
    ],
)
def test_what_counts_as_a_mention_of_a_concept(name: str, text: str, found: bool) -> None:
    assert bool(passages(name, text)) == found


def test_a_name_that_two_concepts_share_belongs_to_the_one_that_has_no_other() -> None:
    names = ["Tree", "Tree (graph)", "Word (graph)", "Word (set)", "Trees"]
    found = mention_passages(names, ["tree", "word", "trees"], at_most=9)
    assert found == [["tree"], [], [], [], ["trees"]]


def test_of_many_mentions_some_are_taken_from_first_to_last() -> None:
    texts = [f"set {k}" for k in range(10)]
    assert passages("Set", *texts, at_most=3) == ["set 0", "set 3", "set 6"]


def test_no_passages_without_texts() -> None:
    assert mention_passages(["Set", "Map"], [], at_most=9) == [[], []]
    assert mention_passages([], ["a set"], at_most=9) == []


@given(st.text(min_size=1).filter(str.strip), st.text(), st.integers(0, 5))
def test_a_name_between_spaces_has_a_passage_and_none_is_blank(
    name: str, text: str, around: int
) -> None:
    found = mention_passages([name], [f"so {name} is", text], around=around, at_most=9)[0]
    assert found
    assert all(passage.strip() for passage in found)
