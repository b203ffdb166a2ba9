"""The excerpt: one connected piece of the map, no larger than a page."""

from __future__ import annotations

from itertools import combinations

import rustworkx as rx
from hypothesis import given, settings
from hypothesis import strategies as st

from proprl.curriculum.graph import Edge
from proprl.report.excerpt import MOST_CONCEPTS, ROWS, excerpt
from proprl.report.layout import lay_out


def edge(source: str, target: str, probability: float, *, confirmed: bool = False) -> Edge:
    return Edge(source.upper(), target.upper(), probability, source, target, confirmed)


@st.composite
def maps(draw: st.DrawFn) -> list[Edge]:
    pair = st.sampled_from(list(combinations("abcdefghijklmnop", 2)))
    pairs = draw(st.lists(pair, max_size=30, unique=True))
    return [edge(a, b, draw(st.floats(0, 1)), confirmed=draw(st.booleans())) for a, b in pairs]


def graph_of(edges: list[Edge]) -> rx.PyDiGraph[str, None]:
    concepts = sorted({i for e in edges for i in (e.source_id, e.target_id)})
    graph: rx.PyDiGraph[str, None] = rx.PyDiGraph()
    graph.add_nodes_from(concepts)
    rows = [(concepts.index(e.source_id), concepts.index(e.target_id)) for e in edges]
    graph.add_edges_from_no_data(rows)
    return graph


@settings(max_examples=60)
@given(maps(), st.integers(2, 9), st.integers(2, 5), st.integers(1, 4))
def test_it_is_one_piece_and_fits_the_page(
    edges: list[Edge], concepts: int, layers: int, rows: int
) -> None:
    drawn = excerpt(edges, concepts, layers, rows)
    graph = graph_of(drawn)
    assert len(graph) <= concepts
    columns = {box.x for box in lay_out(drawn).boxes}
    assert len(columns) <= layers
    assert all(sum(box.x == x for box in lay_out(drawn).boxes) <= rows for x in columns)
    assert rx.number_weakly_connected_components(graph) <= 1
    inside = set(graph.nodes())
    assert drawn == [e for e in edges if {e.source_id, e.target_id} <= inside]
    assert bool(drawn) == bool(edges)


def test_a_small_connected_map_is_shown_whole() -> None:
    edges = [edge("a", "b", 0.9), edge("b", "c", 1, confirmed=True), edge("a", "d", 0.4)]
    assert excerpt(edges) == edges


def test_of_unconnected_pieces_it_shows_one_and_not_a_bit_of_each() -> None:
    bits = [edge(f"x{k}", f"y{k}", 0.99) for k in range(MOST_CONCEPTS)]
    piece = [edge("a", "b", 0.4), edge("b", "c", 0.4)]
    assert excerpt([*bits[:10], *piece, *bits[10:]]) == piece


def test_it_looks_where_something_was_learned() -> None:
    known = [edge(f"k{k}", f"k{k + 1}", 1, confirmed=True) for k in range(4)]
    learned = [edge("a", "b", 0.5), edge("b", "c", 1, confirmed=True)]
    assert excerpt([*known, *learned], concepts=5, layers=5) == learned


def test_without_anything_learned_it_shows_what_labels_say() -> None:
    known = [edge("a", "b", 1, confirmed=True), edge("b", "c", 1, confirmed=True)]
    assert excerpt(known) == known


def test_concepts_with_more_edges_into_the_piece_come_first() -> None:
    # c has two edges with a and b, d has one.
    edges = [edge("a", "b", 0.9), edge("a", "d", 0.8), edge("a", "c", 0.5), edge("b", "c", 0.4)]
    shown = excerpt(edges, concepts=3)
    assert {(e.source_id, e.target_id) for e in shown} == {("a", "b"), ("a", "c"), ("b", "c")}


def test_a_way_too_long_for_the_page_is_cut() -> None:
    chain = [edge(f"{k:02}", f"{k + 1:02}", 0.9) for k in range(20)]
    assert len(excerpt(chain, layers=6)) == 5


def test_of_a_hub_it_shows_a_part_and_goes_on_elsewhere() -> None:
    hub = [edge("hub", f"spoke {k:02}", 0.9) for k in range(30)]
    further = [edge("spoke 00", f"tip {k}", 0.1, confirmed=True) for k in range(3)]
    shown = excerpt([*hub, *further])
    assert sum(e.source_id == "hub" for e in shown) == ROWS
    assert [e for e in shown if e.confirmed] == further
