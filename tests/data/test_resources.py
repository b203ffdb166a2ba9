"""The sentences in which resources mention concepts."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proprl.data import Course
from proprl.data.mentions import MOST, mention_incidence, shortened
from proprl.data.resources import Resources, resources_of


def course_with(names: list[str], *texts: tuple[str, str], **tables: pl.DataFrame) -> Course:
    """A course of these concepts, and of resources with these titles and texts."""
    return Course.from_tables(
        concepts=pl.DataFrame({"id": [f"c{i}" for i in range(len(names))], "name": names}),
        resources=pl.DataFrame(
            {
                "id": [f"r{k}" for k in range(len(texts))],
                "title": [title for title, _ in texts],
                "text": [text for _, text in texts],
            }
        ),
        **tables,
    )


def found(course: Course) -> Resources:
    resources = resources_of(course, course.incidence())
    assert resources is not None
    return resources


def sentence(name: str, text: str, title: str = "Lecture 1") -> str:
    """The sentence in which a resource mentions a concept."""
    return found(course_with([name], (title, text))).sentence(0, 0)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Limits", "First sets. Then limits of sequences. Then all.", "Then limits of sequences."),
        ("Limits", "Are limits\n  hard? No!", "Are limits hard?"),
        ("Limits", 'He said: "Use limits." She did.', 'He said: "Use limits."'),
        ("Limits", "In 0.5 hours, e.g. Limits. Go.", "In 0.5 hours, e.g. Limits."),
        ("Limits", "J. Doe on limits. Go.", "J. Doe on limits."),
        ("P vs. NP", "See below. Is P vs. NP open? Yes.", "Is P vs. NP open?"),
        ("Limits", "About\n\nlimits and more\n\nEnd", "limits and more"),
        ("Limits", "We need\n- sets\n- limits\n- more", "- limits"),
        ("Limits", "\uf06c Limits\x0b and\x1b[1m x²… then", "Limits and [1m x²… then"),
        ("K-means", "½ of it … is k means². So k-means ends.", "So k-means ends."),
        ("K-means", "½ of it … is “K means”. End.", "½ of it … is “K means”."),
        ("二叉树", "先学数组。我们学习二叉树的遍历。然后", "我们学习二叉树的遍历。"),
    ],
)
def test_the_sentence_that_mentions_a_concept(name: str, text: str, expected: str) -> None:
    assert sentence(name, text) == expected


def test_the_first_sentence_of_the_text_comes_before_the_title() -> None:
    text = "Sets first. Limits are next. Limits again."
    assert sentence("Limits", text, title="All about limits") == "Limits are next."
    assert sentence("Limits", "Nothing.", title="All about limits") == "All about limits"


def test_a_link_that_was_given_without_a_mention_has_no_sentence() -> None:
    links = pl.DataFrame({"concept": ["c0", "c0"], "resource": ["r0", "r1"]})
    texts = ("One", "Limits and sets."), ("Two", "Something else.")
    resources = found(course_with(["Limits", "Sets"], *texts, concept_resources=links))
    assert (resources.ids, resources.titles) == (("r0", "r1"), ("One", "Two"))
    assert resources.sentence(0, 0) == "Limits and sets."
    assert resources.sentence(0, 1) == ""
    assert resources.sentence(1, 0) == ""  # a mention, yet no link


def test_without_links_there_are_no_resources_to_show() -> None:
    course = course_with(["Limits"], ("One", "Nothing."))
    assert resources_of(course, None) is None


def test_of_a_long_sentence_the_part_around_the_mention_is_kept() -> None:
    text = " ".join(f"word{i}" for i in range(200)) + " limits " + "more " * 200
    shown = sentence("Limits", text)
    assert 280 < len(shown) <= MOST
    assert shown.startswith("… word1")
    assert shown.endswith("more …")
    assert abs(shown.index("limits") - MOST / 2) < 15


def test_what_one_side_leaves_the_other_takes() -> None:
    shown = sentence("Limits", "On limits " + "more " * 200)
    assert shown.startswith("On limits more")
    assert len(shown) > 290


def test_a_text_without_spaces_is_cut_between_letters() -> None:
    shown = sentence("二叉树", "我" * 400 + "二叉树" + "的" * 400)
    assert len(shown) == MOST
    assert "我二叉树的" in shown


def test_a_name_longer_than_a_sentence_may_be_is_cut() -> None:
    name = "very " * 80 + "long name"
    shown = sentence(name, f"A {name}.")
    assert shown.startswith("very very")
    assert shown.endswith("very …")
    assert len(shown) <= MOST


# Control characters, and letters without a meaning, are shown as spaces.
SHOWN = st.characters(exclude_categories=["Cs", "Cc", "Co"])


@given(st.text(SHOWN, min_size=1).filter(str.strip), st.text(SHOWN), st.text(SHOWN, max_size=400))
@example("a", "'", "'")
def test_every_mention_has_a_sentence_that_mentions_the_concept(
    name: str, before: str, after: str
) -> None:
    course = course_with([name], ("x", f"{before} {name} {after}"))
    for text in found(course).sentences.values() if course.incidence().nnz else []:  # type: ignore[union-attr]
        assert mention_incidence([name], [text]).nnz == 1
        assert 0 < len(text) <= MOST
        assert text == " ".join(text.split())


@given(st.text(SHOWN), st.text(SHOWN, min_size=1), st.text(SHOWN), st.integers(5, 40))
def test_what_is_shortened_is_never_too_long(
    before: str, named: str, after: str, most: int
) -> None:
    whole = before + named + after
    shown = shortened(whole, len(before), len(before) + len(named), most)
    assert len(shown) <= most
    if len(whole) <= most:
        assert shown == " ".join(whole.split())
