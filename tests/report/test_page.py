"""The page: complete, safe with any name, readable without a network."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from proprl.curriculum.graph import Edge
from proprl.evaluation.metrics import Bin
from proprl.report.page import LISTED, render_report

NASTY = '<script>alert("x")</script>'


def edge(source: str, target: str, probability: float, *, confirmed: bool = False) -> Edge:
    """An edge between concepts whose ids are their names in lower case."""
    return Edge(source, target, probability, source.lower(), target.lower(), confirmed)


MAP = {
    "edges": [
        edge("Limits", "Derivatives", 0.974),
        edge("A & B", "Maximum likelihood estimation", 0.91),
        edge("Derivatives", "A & B", 0.83, confirmed=True),
        edge(NASTY, "A & B", 0.72),
    ],
    "beside": [("Steps", 1, 1234)],
    "remarks": ["3 steps are learned."],
    "doubtful": [("Sets", NASTY, "confirmed in both orders")],
    "drawing": '<svg role="img" aria-label="campus: 4 steps"></svg>',
}
DATA: dict[str, Any] = {
    "title": "campus",
    "facts": [("concepts", "158"), ("seed", "42")],
    "metrics": [
        ("auc", 0.9412, "chance that a true pair scores above a false one"),
        ("average_precision", None, "precision, averaged down the ranking"),
        ("mean_margin", -0.2, "by how much true pairs score above their reverse"),
        ("pairs", 1212, "labelled pairs scored"),
    ],
    "expected": ["About 240 prerequisites are expected.", "That is not many."],
    "map": MAP,
    "sure": {"edges": [edge("Sets", "Functions", 0.998)], "words": "Learned, and likely."},
    "ask": {"edges": [edge("Graphs", "Matrices", 0.51)], "words": "In doubt."},
    "measured": ["Test: 88 pairs.", "These figures are for pairs that people chose."],
    "reliability": [Bin(0.1, 0.2, 40, 0.15, 0.1), Bin(0.8, 0.9, 10, 0.85, 0.9)],
    "notes": ["The course has no behaviour view; it was switched off."],
}
NOTHING = {"edges": [], "words": "Nothing."}
EMPTY: dict[str, Any] = {
    **dict.fromkeys(("facts", "metrics", "measured", "reliability", "notes"), ()),
    "title": "nothing",
    "expected": ["It cannot be told."],
    "map": None,
    "sure": NOTHING,
    "ask": NOTHING,
}


class Page(HTMLParser):
    """Collects tags with their attributes, and the text within each kind of tag."""

    VOID = frozenset({"meta"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts[self.open[-1]][-1] += data


@pytest.fixture(scope="module")
def html() -> str:
    return render_report(DATA)


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def test_every_tag_is_closed(page: Page) -> None:
    assert page.open == []
    assert Page(render_report(EMPTY)).open == []


def test_names_are_text_and_never_markup(html: str) -> None:
    edges = [Edge(NASTY, 'x" onload="y', 0.9, "a", "b"), Edge(NASTY, NASTY, 0.8, "b", "c")]
    marked = {
        "title": NASTY,
        "facts": [(NASTY, NASTY)],
        "metrics": [(NASTY, 0.5, NASTY)],
        "expected": [NASTY],
        "map": {
            "edges": edges,
            "beside": [(NASTY, 1, 2)],
            "remarks": [NASTY],
            "doubtful": [(NASTY, NASTY, NASTY)],
            "drawing": None,
        },
        "sure": {"edges": [edge(NASTY, "A & B", 0.9)], "words": NASTY},
        "ask": {"edges": [edge("A & B", NASTY, 0.5)], "words": NASTY},
        "measured": [NASTY],
        "reliability": (),
        "notes": [NASTY],
    }
    for text in (html, render_report(marked)):
        assert "<script" not in text
        assert "A &amp; B" in text
        assert not re.search(r"&(?!(amp|lt|gt|quot|#\d+);)", text)
        page = Page(text)
        assert not any(key.startswith("on") for _, attributes in page.tags for key in attributes)


def test_nothing_is_loaded_from_elsewhere(html: str, page: Page) -> None:
    assert "http" not in html
    assert "url(" not in html
    assert "@import" not in html
    assert not {"script", "link", "img", "iframe", "object", "use"} & {tag for tag, _ in page.tags}
    assert not any({"src", "href", "xlink:href"} & set(attributes) for _, attributes in page.tags)


def test_the_same_data_give_the_same_text(html: str) -> None:
    assert render_report(DATA) == html


def test_metrics_read_in_plain_words(page: Page) -> None:
    cells = page.texts["th"] + page.texts["td"]
    for cell in ("AUC", "0.941", "Average precision", "–", "-0.200", "1,212"):
        assert cell in cells
    assert "chance that a true pair scores above a false one" in cells
    bars = [attributes["width"] for _, attributes in page.tags if attributes.get("class") == "fill"]
    assert bars == ["94.1"]  # neither counts nor missing or negative values have one


def test_facts_lists_and_notes_are_shown(page: Page) -> None:
    assert page.texts["h1"] == ["campus"]
    assert list(zip(page.texts["dt"], page.texts["dd"], strict=True)) == DATA["facts"]
    assert page.texts["li"] == [*DATA["notes"], *MAP["remarks"]]
    for cell in ("Sets", "Functions", ">0.99", "Graphs", "Matrices", "0.51"):
        assert cell in page.texts["td"]


def test_the_expected_number_stands_before_the_map(html: str, page: Page) -> None:
    assert "About 240 prerequisites are expected." in page.texts["p"]
    assert html.index("About 240") < html.index("The map beside what follows")


def test_the_map_stands_beside_the_labels_alone(page: Page) -> None:
    assert "Your labels alone" in page.texts["th"]
    row = page.texts["td"].index("1,234")
    assert page.texts["td"][row - 1] == "1"


def test_a_confirmed_prerequisite_shows_no_probability(page: Page) -> None:
    assert page.texts["td"].count("your label") == 1
    assert "0.83" not in page.texts["td"]


def test_labels_in_doubt_are_listed(page: Page) -> None:
    cells = page.texts["td"]
    place = cells.index("confirmed in both orders")
    assert cells[place - 2 : place] == ["Sets", NASTY]


def test_what_is_said_of_the_figures_stands_above_them(page: Page) -> None:
    assert "Test: 88 pairs. These figures are for pairs that people chose." in page.texts["p"]


def test_a_large_map_is_listed_in_part() -> None:
    edges = [edge("hub", f"spoke {k}", 0.9) for k in range(LISTED + 100)]
    html = render_report(DATA | {"map": MAP | {"edges": edges}})
    assert f"The first {LISTED} of all 600 prerequisites" in html
    assert html.count("<td>spoke") == LISTED


def test_pictures_and_tables_speak_to_screen_readers(page: Page) -> None:
    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    pictures = [a for tag, a in page.tags if tag == "svg" and "aria-hidden" not in a]
    assert len(pictures) == 2  # the drawing, the reliability
    for picture in pictures:
        assert picture["role"] == "img"
        assert picture.get("aria-label") or set((picture["aria-labelledby"] or "").split()) <= ids
    headers = [attributes for tag, attributes in page.tags if tag == "th"]
    assert headers
    assert all("scope" in attributes for attributes in headers)
    tables = sum(tag == "table" for tag, _ in page.tags)
    assert len(page.texts["caption"]) == tables
    assert len(ids) == sum("id" in attributes for _, attributes in page.tags)


def test_it_suits_dark_screens_and_paper(html: str) -> None:
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html


def test_an_empty_report_says_so_in_sentences() -> None:
    html = render_report(EMPTY)
    assert "No map is drawn" in html
    assert html.count("<p>Nothing.</p>") == 2
    assert "Nothing was measured" in html
    assert "Worth knowing" not in html
    assert "<svg" not in html


def test_a_map_without_edges_says_what_helps() -> None:
    nothing = {
        "edges": [],
        "beside": [("Steps", 0, 0)],
        "remarks": [],
        "doubtful": [],
        "drawing": None,
    }
    html = render_report(EMPTY | {"map": nothing})
    assert "There is nothing to draw yet" in html
    assert "<svg" not in html


def dots(*bins: Bin) -> list[dict[str, float]]:
    """Where the dots of these bins lie in the plot, and how large they are."""
    page = Page(render_report(DATA | {"reliability": bins}))
    places = [attributes for tag, attributes in page.tags if tag == "circle"]
    return [{key: float(place[key] or 0) for key in ("cx", "cy", "r")} for place in places]


def test_a_bin_that_keeps_its_word_lies_on_the_diagonal_and_a_too_sure_one_below() -> None:
    right, too_sure = dots(Bin(0.2, 0.3, 40, 0.25, 0.25), Bin(0.8, 0.9, 10, 0.85, 0.5))
    start, end = re.findall(r'class="diagonal" d="M(.*)L(.*)"', render_report(DATA))[0]
    (x0, y0), (x1, y1) = (map(float, point.split()) for point in (start, end))

    def height(x: float) -> float:
        return y0 + (y1 - y0) * (x - x0) / (x1 - x0)

    assert abs(right["cy"] - height(right["cx"])) < 0.1
    assert too_sure["cy"] > height(too_sure["cx"]) + 50  # downwards on the page


def test_a_dot_of_a_quarter_of_the_pairs_has_half_the_size_above_the_smallest() -> None:
    many, few = dots(Bin(0.2, 0.3, 40, 0.25, 0.25), Bin(0.8, 0.9, 10, 0.85, 0.5))
    assert (many["r"], few["r"]) == (11, 7)


def test_the_plot_is_told_in_words_too(page: Page) -> None:
    assert page.texts["desc"][0] == (
        "40 pairs given 0.15 on average: 0.10 came true; "
        "10 pairs given 0.85 on average: 0.90 came true."
    )
