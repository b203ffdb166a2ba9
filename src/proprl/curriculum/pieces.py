"""The pieces of evidence about a pair that a person can look at, and what is said without them.

A piece is a handful of labels, moves or resources that one sentence can name. Pieces are taken
away and the pair's columns are computed again: that tells what they are worth.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import rustworkx as rx
from scipy.sparse import csr_array

from proprl.arrays import FloatArray, IntArray, SparseMatrix
from proprl.curriculum.all_pairs import all_pairs
from proprl.graphs.closure import BoolArray
from proprl.models.sequitur import SequiturScorer, one_thread
from proprl.pairs import table as pair_table
from proprl.pairs.columns import Kind, move_columns, resource_columns
from proprl.pairs.labels import LONGEST, label_columns
from proprl.pairs.table import fold_of

Pair: TypeAlias = tuple[int, int]

SHORTLIST = 12
"""So many pieces of a kind are looked at."""
WAYS = 4
"""So many ways over known prerequisites, or routes of moves, are among them at most."""
COMPARED = 500
"""With so many other pairs is a pair compared."""
LESS = 8
"""So many sorts of pieces are about pairs and concepts like those asked about."""
ALIKE = 8
"""So many concepts count as those most like a concept."""
ALIKE_ENOUGH = 0.1
"""And only from this nearness on: a cosine of about 0.77."""


@dataclass(frozen=True)
class Piece:
    """Some evidence of one kind: what goes when it is taken away, and how to speak of it."""

    kind: Kind
    what: str
    """What sort of piece it is; `proprl.curriculum.reason_words` has a sentence for each."""
    concepts: tuple[int, ...] = ()
    """The concepts that its sentence names, in the order of the sentence."""
    labels: tuple[int, ...] = ()
    """Places among the known labels."""
    moves: tuple[Pair, ...] = ()
    """From concept to concept."""
    resources: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()
    """What stands in columns of its own and is taken away by giving it its usual value."""

    @property
    def size(self) -> int:
        """How many labels, moves, resources and columns it is made of."""
        return sum(map(len, (self.labels, self.moves, self.resources, self.columns)))


class AboutPair:
    """What Sequitur knows about one pair, piece by piece."""

    def __init__(self, scorer: SequiturScorer, pair: Pair) -> None:
        self.scorer, self.pair, self.table = scorer, pair, scorer.table
        self.ends = np.array(pair)
        known, asked = self.table.known, self.ends[None]
        fold = fold_of(asked, pair_table.FOLDS)[0]
        others = all_pairs(self.table.evidence.concept_count)
        others = others[fold_of(others, pair_table.FOLDS) == fold]
        drawn = np.random.default_rng(0).permutation(len(others))[:COMPARED]
        with one_thread():
            rows = self.table.rows(np.vstack([asked, others[drawn]]))
        self.row, self.usual = rows[0], np.median(rows, axis=0)
        self.place = {column.name: place for place, column in enumerate(self.table.columns)}
        # Labels of the pair's own fold do not describe it.
        self.seen = np.flatnonzero(fold_of(known.pairs, pair_table.FOLDS) != fold)
        yes = self.seen[known.labels[self.seen] == 1]
        self._at: dict[Pair, int] = {(i, j): int(k) for k in yes for i, j in [known.pairs[k]]}

    @property
    def ruled_out(self) -> bool:
        """Whether the labels put the second concept before the first."""
        return bool(self.table.ruled_out(self.ends[None])[0])

    def usual_of(self, piece: Piece) -> float:
        """Give what usually stands in a piece's first column."""
        return float(self.usual[self.place[piece.columns[0]]])

    def log_odds(self, without: Collection[Piece] = ()) -> float:
        """Give what the trees say of the pair when these pieces are taken away.

        The columns of their own kinds are computed again, and no others.

        What a confirmed reverse adds does not pass through the trees and is left out.
        """
        row = self.row.copy()
        with one_thread():
            for kind in {piece.kind for piece in without}:
                gone = [piece for piece in without if piece.kind == kind]
                for column, value in self._made(kind, gone):
                    row[self.place[column]] = value
            return float(self.scorer.trees.sums(row[None])[0])

    def _made(self, kind: Kind, gone: Collection[Piece]) -> Iterator[tuple[str, float]]:
        """Give what columns of a kind hold without these pieces."""
        made, ev = None, self.table.evidence
        if kind == "labels":
            labels = [place for piece in gone for place in piece.labels]
            known = self.table.known.take(np.setdiff1d(self.seen, labels))
            near = self.table.near_by(known)
            made = label_columns(known, near, ev.concept_count, self.ends)
        if kind == "moves" and ev.transitions is not None:
            moves = {move for piece in gone for move in piece.moves}
            made = move_columns(without_entries(ev.transitions, moves), self.ends)
        if kind == "resources" and ev.incidence is not None:
            resources = [resource for piece in gone for resource in piece.resources]
            of_both = {(end, resource) for end in (0, 1) for resource in resources}
            M = without_entries(ev.incidence[self.ends], of_both)
            made = resource_columns(M, ev.resource_links)
        if made is not None:
            names = (column.name for column in made.columns)
            yield from zip(names, made.rows(BOTH)[0].tolist(), strict=True)
        for name in (name for piece in gone for name in piece.columns):
            yield name, float(self.usual[self.place[name]])

    def whole(self, kind: Kind) -> Piece:
        """Give all evidence of a kind as one piece."""
        ev = self.table.evidence
        if kind == "labels":
            return Piece(kind, "all", labels=tuple(self.seen.tolist()))
        if kind == "moves" and ev.transitions is not None:
            return Piece(kind, "all", moves=tuple(entries(ev.transitions)))
        if kind == "resources" and ev.incidence is not None:
            of_pair = ev.incidence[self.ends].tocoo().col
            return Piece(kind, "all", resources=tuple(np.unique(of_pair).tolist()))
        return self._columns_of(kind, "all")

    def _columns_of(self, kind: Kind, what: str) -> Piece:
        names = [column.name for column in self.table.columns if column.kind == kind]
        return Piece(kind, what, self.pair, columns=tuple(names))

    def pieces(self, kind: Kind) -> list[Piece]:
        """Give the pieces of a kind, at most `SHORTLIST`; where there are none, that says so."""
        found: list[Piece] = []
        match kind:
            case "labels":
                found = self._of_labels()
            case "moves":
                found = self._of_moves()
            case "resources":
                found = self._of_resources()
            case "texts":
                found = self._of_texts()
            case "reader":
                found = [self._columns_of(kind, "read")]
        return found[:SHORTLIST] or [self._columns_of(kind, "nothing")]

    def _of_labels(self) -> list[Piece]:
        """Give ways, what is said of the two concepts, and of pairs and concepts like them.

        A label is in one piece, but for those on several ways.
        """
        known = self.table.known
        c, d = known.pairs[self.seen].T
        yes = known.labels[self.seen] == 1
        free = np.ones(len(self.seen), dtype=np.bool_)
        found = []

        def take(what: str, concepts: tuple[int, ...], which: BoolArray) -> None:
            places = np.flatnonzero(which & free)
            free[places] = False
            if len(places):
                labels = tuple(self.seen[places].tolist())
                found.append(Piece("labels", what, concepts, labels))

        for way in sorted(self.ways(), key=len)[:WAYS]:
            labels = self.labels_on(way)
            found.append(Piece("labels", "way", tuple(way), labels))
            free[np.isin(self.seen, labels)] = False
        for one in self.pair:
            take("needed for", (one,), yes & (c == one))
            take("needs", (one,), yes & (d == one))
            take("not needed for", (one,), ~yes & (c == one))
            take("does not need", (one,), ~yes & (d == one))
        near = self.table.near_by(known.take(self.seen))
        (from_a, to_a), (from_b, to_b) = (
            (np.isin(c, like), np.isin(d, like))
            for like in (_most_alike(near, one) for one in self.pair)
        )
        take("like pairs", self.pair, yes & from_a & to_b)
        take("no like pairs", self.pair, ~yes & from_a & to_b)
        take("like pairs turned", self.pair, yes & from_b & to_a)
        take("no like pairs turned", self.pair, ~yes & from_b & to_a)
        for one, first, later in zip(self.pair, (from_a, from_b), (to_a, to_b), strict=True):
            take("first", (one,), yes & first)
            take("later", (one,), yes & later)
        # Ways and labels of the two concepts stand first; of the others the larger.
        return found[:-LESS] + sorted(found[-LESS:], key=lambda piece: -piece.size)

    def ways(self) -> list[list[int]]:
        """Give the shortest ways of known prerequisites, in this order of the pair or the other."""
        graph: rx.PyDiGraph[int, None] = rx.PyDiGraph()
        graph.add_nodes_from(list(range(self.table.evidence.concept_count)))
        graph.add_edges_from_no_data(list(self._at))
        a, b = self.pair
        return [way for start, end in ((a, b), (b, a)) for way in _short_ways(graph, start, end)]

    def labels_on(self, way: list[int]) -> tuple[int, ...]:
        """Give the places of the labels that a way goes along."""
        return tuple(self._at[step] for step in pairwise(way))

    def _of_moves(self) -> list[Piece]:
        B = self.table.evidence.transitions
        if B is None:
            return []
        a, b = self.pair
        found = []
        for i, j in ((a, b), (b, a)):
            if B[i, j] > 0:
                found.append(Piece("moves", "direct", (i, j), moves=((i, j),)))
            out, into = B[[i]].toarray()[0], B[:, [j]].toarray()[:, 0]
            through = np.minimum(out, into)
            through[[i, j]] = 0
            over = np.argsort(-through, kind="stable")[: np.count_nonzero(through)].tolist()
            if over:
                moves = tuple(move for x in over for move in ((i, x), (x, j)))
                found.append(Piece("moves", "over", (i, j, *over), moves=moves))
        for one in self.pair:
            away = tuple((one, x) for _, x in entries(B[[one]]))
            into = tuple((x, one) for x, _ in entries(B[:, [one]]))
            if away or into:
                found.append(Piece("moves", "around", (one,), moves=(*away, *into)))
        return found

    def _of_resources(self) -> list[Piece]:
        M = self.table.evidence.incidence
        if M is None:
            return []
        a, b = (M[[one]].toarray()[0] > 0 for one in self.pair)
        found = [
            Piece("resources", what, concepts, resources=tuple(np.flatnonzero(which).tolist()))
            for what, which, concepts in (
                ("both", a & b, self.pair),
                ("one alone", a & ~b, self.pair),
                ("one alone", b & ~a, self.pair[::-1]),
            )
        ]
        return [piece for piece in found if piece.resources]

    def _of_texts(self) -> list[Piece]:
        a, b = self.pair
        naming = "the second's text names the first"
        every = (
            Piece("texts", "like texts", (a, b), columns=("likeness of texts",)),
            Piece("texts", "names", (a, b), columns=(naming,)),
            Piece("texts", "names", (b, a), columns=(f"{naming}, turned round",)),
        )
        return [piece for piece in every if piece.columns[0] in self.place]


BOTH = np.array([[0, 1]])
"""The pair itself, where only its two concepts are numbered."""


def _short_ways(graph: rx.PyDiGraph[int, None], start: int, end: int) -> list[list[int]]:
    for longest in range(3, LONGEST + 2):
        ways = rx.all_simple_paths(graph, start, end, min_depth=2, cutoff=longest)
        if len(ways):
            return [list(way) for way in ways]
    return []


def _most_alike(near: dict[str, FloatArray], one: int) -> IntArray:
    """Give the concepts most like one, by any source; never itself."""
    nearest = np.max([K[one] for K in near.values()], axis=0)
    nearest[one] = 0
    found = np.argsort(-nearest, kind="stable")[:ALIKE]
    alike: IntArray = found[nearest[found] >= ALIKE_ENOUGH]
    return alike


def entries(matrix: SparseMatrix) -> list[Pair]:
    """Give the places of a matrix that are not 0."""
    found = matrix.tocoo()
    return list(zip(found.row.tolist(), found.col.tolist(), strict=True))


def without_entries(matrix: SparseMatrix, entries: Collection[Pair]) -> SparseMatrix:
    """Give the matrix with zeros in these places."""
    found = matrix.tocoo()
    width = matrix.shape[1]
    codes = np.array([i * width + j for i, j in entries], dtype=np.int64)
    keep = ~np.isin(found.row.astype(np.int64) * width + found.col, codes)
    return csr_array((found.data[keep], (found.row[keep], found.col[keep])), shape=matrix.shape)
