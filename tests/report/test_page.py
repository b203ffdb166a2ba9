"""The page: complete, safe with any name, readable without a network."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from proprl.curriculum import Edge
from proprl.evaluation.metrics import Bin
from proprl.report import EdgeList, Map, ReportData, render_report
from proprl.report.excerpt import ROWS
from proprl.report.page import LISTED

NASTY = '<script>alert("x")</script>'


def edge(source: str, target: str, probability: float, *, confirmed: bool = False) -> Edge:
    """An edge between concepts whose ids are their names in lower case."""
    return Edge(source, target, probability, source.lower(), target.lower(), confirmed)


MAP = Map(
    edges=[
        edge("Limits", "Derivatives", 0.974),
        edge("A & B", "Maximum likelihood estimation", 0.91),
        edge("Derivatives", "A & B", 0.83, confirmed=True),
        edge(NASTY, "A & B", 0.72),
    ],
    beside=[("Steps", 1, 1234)],
    remarks=["3 steps are learned."],
    doubtful=[("Sets", NASTY, "confirmed in both orders")],
)
DATA = ReportData(
    title="campus",
    facts=[("concepts", "158"), ("seed", "42")],
    metrics=[
        ("auc", 0.9412, "chance that a true pair scores above a false one"),
        ("average_precision", None, "precision, averaged down the ranking"),
        ("mean_margin", -0.2, "by how much true pairs score above their reverse"),
        ("pairs", 1212, "labelled pairs scored"),
    ],
    epochs=[(0.9, 0.6), (0.6, 0.8), (0.5, 0.7)],
    best_epoch=1,
    expected=["About 240 prerequisites are expected.", "That is not many."],
    map=MAP,
    sure=EdgeList([edge("Sets", "Functions", 0.998)], "Learned, and likely."),
    ask=EdgeList([edge("Graphs", "Matrices", 0.51)], "In doubt."),
    measured=["Test: 88 pairs.", "These figures are for pairs that people chose."],
    reliability=[Bin(0.1, 0.2, 40, 0.15, 0.1), Bin(0.8, 0.9, 10, 0.85, 0.9)],
    notes=["The course has no behaviour view; it was switched off."],
)
NOTHING = EdgeList([], "Nothing.")
EMPTY = ReportData("nothing", [], [], [], -1, ["It cannot be told."], None, NOTHING, NOTHING)


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


def test_every_edge_and_concept_is_in_the_drawing(page: Page) -> None:
    titles = page.texts["title"]
    assert "Limits → Derivatives: learned, 0.97" in titles
    assert "A & B → Maximum likelihood estimation: learned, 0.91" in titles
    assert "Derivatives → A & B: confirmed by a label" in titles
    assert f"{NASTY} → A & B: learned, 0.72" in titles
    for name in ("Limits", "Derivatives", "A & B", "Maximum likelihood estimation", NASTY):
        assert titles.count(name) == 1
    letters = "".join("".join(page.texts["tspan"]).split())
    assert "Maximumlikelihoodestimation" in letters


def test_names_are_text_and_never_markup(html: str) -> None:
    marked = replace(
        EMPTY,
        title=NASTY,
        facts=[(NASTY, NASTY)],
        metrics=[(NASTY, 0.5, NASTY)],
        expected=[NASTY],
        map=Map(
            [Edge(NASTY, 'x" onload="y', 0.9, "a", "b"), Edge(NASTY, NASTY, 0.8, "b", "c")],
            [(NASTY, 1, 2)],
            [NASTY],
            [(NASTY, NASTY, NASTY)],
        ),
        sure=EdgeList([edge(NASTY, "A & B", 0.9)], NASTY),
        ask=EdgeList([edge("A & B", NASTY, 0.5)], NASTY),
        measured=[NASTY],
        notes=[NASTY],
    )
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
    assert list(zip(page.texts["dt"], page.texts["dd"], strict=True)) == list(DATA.facts)
    assert page.texts["li"] == [*DATA.notes, *MAP.remarks]
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


def test_a_large_map_is_drawn_in_part_and_listed_in_part() -> None:
    edges = [edge("hub", f"spoke {k}", 0.9) for k in range(LISTED + 100)]
    html = render_report(replace(DATA, map=replace(MAP, edges=edges)))
    assert f"An excerpt: {ROWS} of the 600 prerequisites" in html
    assert f"The first {LISTED} of all 600 prerequisites" in html
    assert html.count("<td>spoke") == LISTED


def test_pictures_and_tables_speak_to_screen_readers(page: Page) -> None:
    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    pictures = [a for tag, a in page.tags if tag == "svg" and "aria-hidden" not in a]
    assert len(pictures) == 4  # the drawing, the reliability, the loss, the AUC
    for picture in pictures:
        assert picture["role"] == "img"
        assert set((picture["aria-labelledby"] or "").split()) <= ids
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
    assert "How it learned" not in html
    assert "Worth knowing" not in html
    assert "<svg" not in html


def test_a_map_without_edges_says_what_helps() -> None:
    html = render_report(replace(EMPTY, map=Map([], [("Steps", 0, 0)], [], [])))
    assert "There is nothing to draw yet" in html
    assert "<svg" not in html


def test_without_validation_the_auc_panel_is_left_out() -> None:
    html = render_report(replace(DATA, epochs=[(0.9, None), (0.5, None)], best_epoch=1))
    assert "Training loss" in html
    assert "AUC on validation" not in html
