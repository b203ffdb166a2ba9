"""Ways to a concept, and what a learner is ready for."""

from __future__ import annotations

from itertools import pairwise, product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proprl.curriculum.graph import PrerequisiteGraph, prerequisite_graph
from proprl.curriculum.ways import Ways
from proprl.data import LabelledPairs
from proprl.errors import ProprlError, UnknownConceptError

NAMES = ("Counting", "Fractions", "Limits", "Derivatives", "Poetry", "Series")


def graph_of(
    confirmed: list[tuple[int, int]], learned: dict[tuple[int, int], float], n: int = 6
) -> PrerequisiteGraph:
    pairs = np.array(confirmed, dtype=np.int64).reshape(-1, 2)
    return prerequisite_graph(
        [f"c{k}" for k in range(n)],
        NAMES[:n] if n <= len(NAMES) else [f"C{k}" for k in range(n)],
        LabelledPairs(pairs, np.ones(len(pairs), dtype=np.int64)),
        np.array(list(learned), dtype=np.int64).reshape(-1, 2),
        np.array(list(learned.values())),
        threshold=0.3,
    )


@pytest.fixture
def ways() -> Ways:
    # Counting → Fractions → Limits → Derivatives, Limits → Series is learned, and so is
    # Poetry → Derivatives, which is doubtful.
    return Ways(graph_of([(0, 1), (1, 2), (2, 3)], {(2, 5): 0.8, (4, 3): 0.4}))


def names(rows: list[int]) -> list[str]:
    return [NAMES[row] for row in rows]


def test_the_way_begins_after_what_is_known(ways: Ways) -> None:
    way = ways.way_to(["Derivatives"], known=["Fractions"])
    assert names([step.concept for step in way.steps]) == ["Limits", "Poetry", "Derivatives"]
    (taken,) = way.known.taken
    assert (NAMES[taken.concept], NAMES[taken.because]) == ("Counting", "Fractions")


def test_each_step_says_what_comes_just_before_and_how_surely_it_is_needed(ways: Ways) -> None:
    way = ways.way_to(["Derivatives"], known=["Fractions"])
    told = {NAMES[s.concept]: (names(sorted(s.after)), s.needed) for s in way.steps}
    assert told == {
        "Limits": (["Fractions"], 1.0),
        "Poetry": ([], 0.4),
        "Derivatives": (["Limits", "Poetry"], 1.0),
    }
    assert way.weakest == (4, 3, 0.4)  # Poetry before Derivatives


def test_what_is_not_surely_needed_can_be_left_out(ways: Ways) -> None:
    way = ways.way_to(["Derivatives"], at_least=0.8)
    assert "Poetry" not in names([step.concept for step in way.steps])
    assert way.weakest is None


def test_several_targets_share_their_way(ways: Ways) -> None:
    way = ways.way_to(["Series", "Derivatives"], known=["Fractions"], at_least=0.5)
    assert names([step.concept for step in way.steps]) == ["Limits", "Derivatives", "Series"]


def test_a_target_that_is_known_is_refused(ways: Ways) -> None:
    with pytest.raises(ProprlError, match="Limits is known already"):
        ways.way_to(["Limits"], known=["Limits"])
    with pytest.raises(ProprlError, match="whoever knows Derivatives knows Limits"):
        ways.way_to(["Limits"], known=["Derivatives"])


def test_an_unknown_name_and_no_probability_are_refused(ways: Ways) -> None:
    with pytest.raises(UnknownConceptError, match="Derivatives"):
        ways.way_to(["Derivative"])
    with pytest.raises(ProprlError, match="from 0 to 1, not 80"):
        ways.way_to(["Limits"], at_least=80)


def test_ready_for_what_needs_only_what_is_known(ways: Ways) -> None:
    known = ways.known(["Limits"])
    assert names([one.concept for one in ways.ready(known)]) == ["Poetry", "Series"]
    assert names(ways.learned_last(known).tolist()) == ["Limits"]


N = 7
UPWARDS = [(i, j) for i in range(N) for j in range(i + 1, N)]


@given(st.data(), st.integers(2, 10))
def test_fringes_are_those_of_knowledge_space_theory(data: st.DataObject, n: int) -> None:
    """By enumeration: all states are the sets that hold what their concepts need."""
    upwards = [(i, j) for i in range(n) for j in range(i + 1, n)]
    edges = data.draw(st.lists(st.sampled_from(upwards), unique=True))
    said = data.draw(st.sets(st.integers(0, n - 1)))
    half = len(edges) // 2
    ways = Ways(graph_of(edges[:half], dict.fromkeys(edges[half:], 0.5), n=n))
    states = {
        frozenset(k for k in range(n) if mask[k])
        for mask in product([False, True], repeat=n)
        if all(mask[i] or not mask[j] for i, j in edges)
    }
    known = ways.known([f"c{k}" for k in said])
    mine = frozenset(known.rows)
    assert mine == min((s for s in states if said <= s), key=len)
    outer = {k for k in range(n) if k not in mine and mine | {k} in states}
    inner = {k for k in mine if mine - {k} in states}
    assert {one.concept for one in ways.ready(known)} == outer
    assert set(ways.learned_last(known).tolist()) == inner
    for one in ways.ready(known):
        after = mine | {one.concept}
        opened = {k for k in range(n) if k not in after and after | {k} in states} - outer
        assert set(one.opens) == opened


@given(
    st.lists(st.sampled_from(UPWARDS), unique=True),
    st.dictionaries(st.sampled_from(UPWARDS), st.sampled_from([0.4, 0.6, 0.9])),
    st.integers(0, N - 1),
    st.sampled_from([0.0, 0.5, 0.8]),
)
def test_no_concept_stands_before_its_prerequisite(
    confirmed: list[tuple[int, int]],
    learned: dict[tuple[int, int], float],
    target: int,
    at_least: float,
) -> None:
    graph = graph_of(confirmed, learned, n=N)
    order = [s.concept for s in Ways(graph).way_to([f"c{target}"], at_least=at_least).steps]
    assert order[-1] == target
    assert len(set(order)) == len(order)
    place = {concept: k for k, concept in enumerate(order)}
    for i, j in graph.pairs.tolist():
        assert not (i in place and j in place) or place[i] < place[j]
    if at_least == 0:
        whole = nx.DiGraph(graph.pairs.tolist())
        assert set(order) == {target} | (nx.ancestors(whole, target) if target in whole else set())


def test_what_is_taken_as_known_says_because_of_what_and_how_surely(ways: Ways) -> None:
    taken = {NAMES[one.concept]: (NAMES[one.because], one.sure) for one in ways.known(["c3"]).taken}
    assert taken == {
        "Counting": ("Derivatives", 1.0),
        "Fractions": ("Derivatives", 1.0),
        "Limits": ("Derivatives", 1.0),
        "Poetry": ("Derivatives", 0.4),
    }


def test_what_is_said_not_to_be_known_is_learned_on_the_way(ways: Ways) -> None:
    known = ways.known(["Derivatives"], unknown=["Poetry"])
    assert "Poetry" not in names(sorted(known.rows))
    way = ways.way_to(["Poetry"], ["Derivatives"], unknown=["Poetry"])
    assert names([step.concept for step in way.steps]) == ["Poetry"]


@pytest.mark.parametrize(
    ("known", "unknown", "message"),
    [
        (["Derivatives"], ["Limits"], "Derivatives is, and labels confirm that it needs Limits"),
        (["Derivatives"], ["Counting"], "labels confirm that it needs Counting"),
        (["Limits"], ["Limits"], "Limits is said to be known, and not to be known"),
    ],
)
def test_what_contradicts_the_labels_is_refused(
    ways: Ways, known: list[str], unknown: list[str], message: str
) -> None:
    with pytest.raises(ProprlError, match=message):
        ways.known(known, unknown)


def test_what_follows_and_is_likely_by_itself_is_needed_though_its_steps_are_doubtful() -> None:
    ways = Ways(graph_of([], {(0, 1): 0.4, (1, 2): 0.5, (0, 2): 0.9}))
    way = ways.way_to(["Limits"])
    assert [(NAMES[s.concept], s.needed) for s in way.steps] == [
        ("Counting", 0.9),
        ("Fractions", 0.5),
        ("Limits", 1.0),
    ]
    essential = ways.way_to(["Limits"], at_least=0.8)
    assert names([step.concept for step in essential.steps]) == ["Counting", "Limits"]


LINKS = st.dictionaries(st.sampled_from(UPWARDS), st.sampled_from([0.4, 0.6, 0.9]))


@given(st.lists(st.sampled_from(UPWARDS), unique=True), LINKS, st.sets(st.integers(0, N - 1)))
def test_what_can_be_skipped_is_what_no_chain_reaches_without_the_link(
    confirmed: list[tuple[int, int]], learned: dict[tuple[int, int], float], goals: set[int]
) -> None:
    """By taking out each link in turn, and going back from the targets again."""
    ways = Ways(graph_of(confirmed, learned, n=N))
    targets = [f"c{k}" for k in goals or {N - 1}]
    way = ways.way_to(targets)
    links = nx.DiGraph(
        [*ways.graph.pairs.tolist(), *ways.graph.implied.tolist()], name="all that leads there"
    )
    links.add_nodes_from(range(N))

    def needed(graph: nx.DiGraph) -> set[int]:
        rows = ways.rows(targets)
        return set(rows).union(*(nx.ancestors(graph, row) for row in rows))

    skipped = {}
    for edge in list(links.edges):
        left = links.copy()
        left.remove_edge(*edge)
        if (edge not in confirmed) and (lost := needed(links) - needed(left)):
            skipped[edge] = lost
    told = {(link.before, link.after): set(way.without(link)) for link in way.unsure()}
    assert told == skipped
    for step in way.steps:
        hangs = [link for link in way.unsure() if step.concept in way.without(link)]
        assert step.hangs_on == min(hangs, key=lambda link: link.sure, default=None) or (
            step.hangs_on is not None and step.hangs_on.sure == min(link.sure for link in hangs)
        )


@given(st.lists(st.sampled_from(UPWARDS), unique=True), LINKS, st.integers(0, N - 1))
def test_how_surely_a_step_is_needed_is_the_weakest_link_of_the_surest_chain(
    confirmed: list[tuple[int, int]], learned: dict[tuple[int, int], float], goal: int
) -> None:
    ways = Ways(graph_of(confirmed, learned, n=N))
    graph = ways.graph
    sure = {tuple(pair): 1.0 for pair in graph.pairs[graph.confirmed].tolist()}
    rest = [*zip(graph.pairs.tolist(), graph.probabilities, strict=True)]
    rest += zip(graph.implied.tolist(), graph.implied_probabilities, strict=True)
    for pair, p in rest:
        sure.setdefault(tuple(pair), p)
    links = nx.DiGraph(list(sure))
    for step in ways.way_to([f"c{goal}"]).steps:
        chains = (
            [[goal]] if step.concept == goal else nx.all_simple_paths(links, step.concept, goal)
        )
        best = max(min((sure[pair] for pair in pairwise(chain)), default=1.0) for chain in chains)
        assert step.needed == best


@given(st.lists(st.sampled_from(UPWARDS), unique=True))
def test_needed_for_counts_all_that_follows(edges: list[tuple[int, int]]) -> None:
    graph = nx.DiGraph(edges)
    graph.add_nodes_from(range(N))
    counted = Ways(graph_of(edges, {}, n=N)).needed_for.tolist()
    assert counted == [len(nx.descendants(graph, k)) for k in range(N)]
