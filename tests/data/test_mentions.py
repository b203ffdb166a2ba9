from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proprl.data.mentions import Places, find_mentions, mention_incidence, names_in_texts, plain


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


def test_names_in_texts_are_of_other_concepts() -> None:
    """A description counts like a name, and a name within its own text does not."""
    names = ["Limits", "Derivatives", "Second derivatives"]
    texts = ["Limits", "Derivatives: limits of difference quotients.", "Second derivatives"]
    named = names_in_texts(names, texts).toarray()
    assert np.argwhere(named).tolist() == [[0, 1], [1, 2]]


def test_mentions_come_in_the_order_of_the_texts_and_say_where_they_stand() -> None:
    mentions = list(find_mentions(["Set", "Power set"], ["A power set is a set.", "", "Set"]))
    assert mentions == [(1, 0, 2, 11), (0, 0, 8, 11), (0, 0, 17, 20), (0, 2, 0, 3)]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("… and so a set", "set"),
        ("x² is a set²", "set²"),  # "set2" in plain, so no mention of "set"
        ("A cafe\u0301 … café", "cafe\u0301"),
        ("\ufb01elds … \ufb01eld.", "\ufb01eld"),
        ("集合… は set。", "set"),
    ],
)
def test_a_place_in_what_was_made_plain_is_found_in_the_text(text: str, place: str) -> None:
    start = plain(text).index(plain(place), 0 if place[0] != "\ufb01" else 3)
    assert text[slice(*Places(text).of(start, start + len(plain(place))))].strip() == place


@given(st.text(st.characters(exclude_categories=["Cs"])), st.data())
def test_places_hold_what_they_held_in_plain(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(plain(text))))
    end = data.draw(st.integers(start, len(plain(text))))
    if start < end:
        first, last = Places(text).of(start, end)
        assert 0 <= first < last <= len(text)
        assert plain(text)[start:end] in plain(text[first:last])
