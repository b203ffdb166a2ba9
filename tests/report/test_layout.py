"""The drawing: everything is there, nothing overlaps, and every arrow points to the right."""

from __future__ import annotations

import random
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proprl.curriculum.graph import Edge
from proprl.report.drawing import draw, shown_probability
from proprl.report.layers import crossings, set_in_layers
from proprl.report.layout import BOX_WIDTH, PAGE_WIDTH, Box, lay_out
from proprl.report.lettering import text_width, wrap

CONCEPTS = (
    "Sets",
    "Limits",
    "A & B",
    "Maximum likelihood estimation",
    "Eigendecomposition",
    "Donaudampfschifffahrtsgesellschaft",
    "概率论与数理统计",
    "Bias-variance tradeoff",
    *(f"Concept {k}" for k in range(12)),
)


def edge(source: str, target: str, probability: float, *, confirmed: bool = False) -> Edge:
    """An edge between concepts whose ids are their names in brackets."""
    return Edge(source, target, probability, f"[{source}]", f"[{target}]", confirmed)


@st.composite
def acyclic_edges(draw: st.DrawFn) -> list[Edge]:
    rank = draw(st.permutations(range(len(CONCEPTS))))
    pair = st.sampled_from(list(combinations(range(len(CONCEPTS)), 2)))
    count = draw(st.integers(0, 40))
    pairs = draw(st.lists(pair, min_size=count, max_size=count, unique=True))
    probability = st.floats(0, 1)
    return [edge(CONCEPTS[rank[a]], CONCEPTS[rank[b]], draw(probability)) for a, b in pairs]


def overlap(a: Box, b: Box) -> bool:
    return (
        a.x < b.x + b.width
        and b.x < a.x + a.width
        and a.y < b.y + b.height
        and b.y < a.y + a.height
    )


@settings(deadline=None, max_examples=60)
@given(acyclic_edges())
def test_every_edge_and_concept_is_drawn_once(edges: list[Edge]) -> None:
    layout = lay_out(edges)
    boxes = [box.id for box in layout.boxes]
    routes = [route.edge for route in layout.routes]
    assert sorted(boxes) == sorted({i for e in edges for i in (e.source_id, e.target_id)})
    assert routes == edges


@settings(deadline=None, max_examples=60)
@given(acyclic_edges())
def test_nothing_overlaps_and_everything_is_inside(edges: list[Edge]) -> None:
    layout = lay_out(edges)
    for box in layout.boxes:
        assert box.x > 0
        assert box.x + box.width < layout.width
        assert box.y > 0
        assert box.y + box.height < layout.height
    for first, second in combinations(layout.boxes, 2):
        assert not overlap(first, second)


@settings(deadline=None, max_examples=60)
@given(acyclic_edges())
def test_arrows_run_to_the_right_from_box_to_box_and_through_no_other(edges: list[Edge]) -> None:
    layout = lay_out(edges)
    box_of = {box.id: box for box in layout.boxes}
    for route in layout.routes:
        source, target = box_of[route.edge.source_id], box_of[route.edge.target_id]
        (start_x, start_y), (tip_x, tip_y) = route.points[0], route.points[-1]
        assert start_x == pytest.approx(source.x + source.width)
        assert tip_x == pytest.approx(target.x)
        assert source.y < start_y < source.y + source.height
        assert target.y < tip_y < target.y + target.height
        for (x0, _), (x1, _) in pairwise(route.points):
            assert x0 < x1
        # Curves stay between layers; the straight parts pass layers, and miss their boxes.
        for (x0, y), (x1, _) in list(pairwise(route.points))[1::2]:
            for box in layout.boxes:
                beside = x1 <= box.x or box.x + box.width <= x0
                assert beside or not box.y <= y <= box.y + box.height


@settings(deadline=None, max_examples=60)
@given(acyclic_edges())
def test_each_arrow_has_its_own_place_on_the_box(edges: list[Edge]) -> None:
    ends = [p for route in lay_out(edges).routes for p in (route.points[0], route.points[-1])]
    assert len(set(ends)) == len(ends)


def test_nothing_to_place_takes_no_room_but_the_margin() -> None:
    layout = lay_out([])
    assert (layout.boxes, layout.routes, layout.width) == ((), (), 0.0)


def test_six_layers_fit_the_page_and_the_letters_never_shrink_below_eleven_pixels() -> None:
    chain = [edge(f"step {k}", f"step {k + 1}", 0.9) for k in range(5)]
    assert draw(chain).layout.width <= PAGE_WIDTH
    drawing = draw([edge(f"step {k}", f"step {k + 1}", 0.9) for k in range(20)])
    assert drawing.layout.width > PAGE_WIDTH
    assert drawing.narrowest / drawing.layout.width * 13 == pytest.approx(11)


def test_tangled_arrows_get_twice_the_room() -> None:
    def gap(width: int) -> float:
        names = range(width)
        boxes = lay_out([edge(f"a{i}", f"b{j}", 0.9) for i in names for j in names]).boxes
        left, right = sorted({box.x for box in boxes})
        return right - left - BOX_WIDTH

    assert gap(4) == 2 * gap(2) + BOX_WIDTH


def test_concepts_that_share_a_name_are_two_boxes() -> None:
    there = Edge("Graphs", "Trees", 0.9, "plots", "trees")
    back = Edge("Trees", "Graphs", 0.8, "trees", "networks")
    first, middle, last = sorted(lay_out([there, back]).boxes, key=lambda box: box.x)
    assert (first.id, middle.id, last.id) == ("plots", "trees", "networks")
    assert (first.name, last.name) == ("Graphs", "Graphs")


def test_layers_follow_the_longest_path() -> None:
    layered = set_in_layers(4, [(0, 1), (1, 2), (2, 3), (0, 3)])
    assert [[item for item in layer if item < 4] for layer in layered.layers] == [
        [0],
        [1],
        [2],
        [3],
    ]
    assert [len(route) for route in layered.routes] == [2, 2, 2, 4]


def test_a_concept_needed_late_stands_late() -> None:
    chain = [(0, 1), (1, 2), (2, 3)]
    layered = set_in_layers(5, [*chain, (4, 3)])
    assert 4 in layered.layers[2]


def test_a_tree_is_drawn_without_crossings() -> None:
    rng = random.Random(0)
    edges = [(rng.randrange(child), child) for child in range(1, 30)]
    rng.shuffle(edges)
    layered = set_in_layers(30, edges)
    assert crossings(layered.layers, layered.links) == 0


def test_crossings_are_counted() -> None:
    assert crossings([[0, 1], [2, 3]], [(0, 3), (1, 2)]) == 1
    assert crossings([[0, 1], [2, 3]], [(0, 2), (0, 3), (1, 3)]) == 0


@given(st.text(min_size=1, max_size=80).filter(str.strip), st.floats(40, 200))
def test_wrapped_lines_fit_and_lose_no_letter(name: str, width: float) -> None:
    lines = wrap(name, width)
    assert "".join("".join(lines).split()) == "".join(name.split())
    assert all(text_width(line) <= width for line in lines)


def test_all_boxes_have_one_width_and_hold_their_lines() -> None:
    names = [*CONCEPTS, "x" * 90]
    boxes = lay_out([edge("a", name, 0.9) for name in names]).boxes
    (width,) = {box.width for box in boxes}
    assert width > BOX_WIDTH
    assert all(text_width(line) < width for box in boxes for line in box.lines)


def test_levels_cover_the_range_that_occurs() -> None:
    drawing = draw([edge("a", f"b{p}", p / 100) for p in range(80, 101)])
    assert drawing.legend == (
        (4, "0.95 to 1.00"),
        (3, "0.90 to 0.95"),
        (2, "0.85 to 0.90"),
        (1, "0.80 to 0.85"),
    )
    shown = {arrow.edge.probability: arrow.level for arrow in drawing.arrows}
    assert [shown[p] for p in (0.80, 0.84, 0.85, 0.90, 0.95, 1.0)] == [1, 1, 2, 3, 4, 4]


@pytest.mark.parametrize("probability", [0.0, 0.5, 0.913, 1.0])
def test_equal_probabilities_need_one_level(probability: float) -> None:
    drawing = draw([edge("a", "b", probability), edge("a", "c", probability)])
    assert len(drawing.legend) == 1
    assert {arrow.level for arrow in drawing.arrows} == {4}


def test_confirmed_edges_look_alike_and_have_no_probability_in_the_legend() -> None:
    edges = [edge("a", "b", 0.01, confirmed=True), edge("a", "c", 0.9), edge("b", "c", 0.5)]
    drawing = draw(edges)
    assert [arrow.level for arrow in drawing.arrows] == [0, 1, 4]  # learned ones lie on top
    assert drawing.confirmed == 1
    assert all("0.01" not in text for _, text in drawing.legend)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_each_level_in_use_is_in_the_legend(probabilities: list[float]) -> None:
    drawing = draw([edge("a", f"b{k}", p) for k, p in enumerate(probabilities)])
    ranges = {level: [float(p) for p in text.split(" to ")] for level, text in drawing.legend}
    for arrow in drawing.arrows:
        bounds = ranges[arrow.level]
        assert bounds[0] - 1e-9 <= arrow.edge.probability <= bounds[-1] + 1e-9


def test_what_is_not_certain_never_reads_as_certain() -> None:
    assert [shown_probability(p) for p in (0.0, 0.001, 0.994, 0.9999, 1.0)] == [
        "0.00",
        "<0.01",
        "0.99",
        ">0.99",
        "1.00",
    ]
