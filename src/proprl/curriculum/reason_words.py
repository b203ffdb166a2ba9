"""Reasons in sentences that a teacher can check: they name concepts, resources and counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from proprl.curriculum.pieces import AboutPair, Pair, Piece
from proprl.curriculum.summary import names_apart
from proprl.data.splits.labelled import LabelledPairs
from proprl.fitted import Fitted

if TYPE_CHECKING:
    from proprl.curriculum.explanation import Explanation

WORDS = {
    "labels": "labels of other pairs",
    "moves": "moves of learners",
    "resources": "resources",
    "texts": "texts",
    "reader": "what a language model makes of the names",
}
"""The kinds of evidence in words."""
STRONGLY, SOMEWHAT = 1.5, 0.5
"""A reason speaks strongly from this worth on, somewhat from that one on, else a little."""
NAMED = 3
"""So many concepts, pairs or resources are named in a sentence."""

OF_LABELS = {
    "needed for": ("{first} is needed for {others}: labels say so.", 1),
    "needs": ("{others} {come} before {first}: labels say so.", 0),
    "not needed for": ("{first} is not needed for {others}: labels say so.", 1),
    "does not need": ("{others} {is_not} needed for {first}: labels say so.", 0),
    "first": ("Concepts like {first} come first in {count}: {others}.", 0),
    "later": ("Concepts like {first} come later in {count}: {others}.", 1),
}
"""Sentences about labels of one concept, and which end of a label they name."""
OF_LIKE_PAIRS = {
    "like pairs": "Of pairs like this one, labels say yes: {pairs}.",
    "no like pairs": "Of pairs like this one, labels say no: {pairs}.",
    "like pairs turned": "Of pairs like this one turned round, labels say yes: {pairs}.",
    "no like pairs turned": "Of pairs like this one turned round, labels say no: {pairs}.",
}
NOTHING = {
    "labels": "No label says anything of {first}, {second} or concepts like them.",
    "moves": "No learner moved to or from {first} or {second}.",
    "resources": "No resource mentions {first} or {second}.",
}


class Teller:
    """Puts pieces of evidence about a model's concepts into words."""

    def __init__(self, fitted: Fitted) -> None:
        self.fitted = fitted
        self.names = [f"*{name}*" for name in names_apart(fitted.concept_ids, fitted.concept_names)]

    def sentence(self, piece: Piece, about: AboutPair) -> str:
        """Give the sentence about a piece."""
        first, second = (self.names[end] for end in (*piece.concepts[:1], *about.pair)[:2])
        if len(piece.concepts) > 1:
            second = self.names[piece.concepts[1]]
        if piece.what in OF_LABELS or piece.what in OF_LIKE_PAIRS or piece.what == "way":
            return self._of_labels(piece, about)
        match piece.what:
            case "reverse":
                return f"Your labels put {second} before {first}."
            case "direct" | "over" | "around":
                return self._of_moves(piece)
            case "both" | "one alone":
                return self._of_resources(piece)
            case "like texts":
                more = about.row[about.place[piece.columns[0]]] >= about.usual_of(piece)
                alike = "more alike than usual" if more else "less alike than usual"
                return f"The texts of {first} and {second} are {alike}."
            case "names":
                does = "names" if about.row[about.place[piece.columns[0]]] else "does not name"
                return f"The text of {second} {does} {first}."
            case "read":
                return f"A language model has read about {first} and {second}."
        return NOTHING.get(piece.kind, "").format(first=first, second=second)

    def evidence(self, piece: Piece, known: LabelledPairs) -> dict[str, Any]:
        """Give what a piece is made of, by id."""
        ids = self.fitted.concept_ids
        found: dict[str, Any] = {}
        if piece.labels:
            found["labels"] = [
                [ids[i], ids[j], int(known.labels[place])]
                for place in piece.labels
                for i, j in [known.pairs[place]]
            ]
        if piece.moves and self.fitted.transitions is not None:
            counts = self.fitted.transitions
            found["moves"] = [[ids[i], ids[j], float(counts[i, j])] for i, j in piece.moves]
        if piece.resources:
            found["resources"] = [self._resource(one, piece.concepts) for one in piece.resources]
        return found

    def facts(self, pair: Pair) -> Iterator[str]:
        """Give what the course shows of a pair, where nothing tells what it is worth."""
        B, M = self.fitted.transitions, self.fitted.incidence
        if B is not None:
            for i, j in (pair, pair[::-1]):
                if B[i, j]:
                    yield self._of_moves(Piece("moves", "direct", (i, j), moves=((i, j),)))
        if M is not None:
            both = np.flatnonzero((M[list(pair)].toarray() > 0).all(axis=0)).tolist()
            if both:
                yield self._of_resources(Piece("resources", "both", pair, resources=tuple(both)))

    def _of_labels(self, piece: Piece, about: AboutPair) -> str:
        pairs = about.table.known.pairs[list(piece.labels)]
        if piece.what == "way":
            steps = " → ".join(self.names[concept] for concept in piece.concepts)
            if piece.concepts[0] == about.pair[0]:
                return f"Labels lead there: {steps}."
            return f"Labels lead the other way: {steps}."
        if piece.what in OF_LIKE_PAIRS:
            told = [f"{self.names[i]} before {self.names[j]}" for i, j in pairs[:NAMED].tolist()]
            return OF_LIKE_PAIRS[piece.what].format(pairs=_listed(told, len(pairs)))
        words, end = OF_LABELS[piece.what]
        others = list(dict.fromkeys(pairs[:, end].tolist()))
        one = len(others) == 1
        return words.format(
            first=self.names[piece.concepts[0]],
            others=_listed([self.names[other] for other in others[:NAMED]], len(others)),
            count=_counted(len(pairs), "label"),
            come="comes" if one else "come",
            is_not="is not" if one else "are not",
        )

    def _of_moves(self, piece: Piece) -> str:
        B, names = self.fitted.transitions, self.names
        assert B is not None
        first = names[piece.concepts[0]]
        if piece.what == "direct":
            i, j = piece.concepts
            return f"Learners went from {first} directly to {names[j]} {_times(B[i, j])}."
        if piece.what == "over":
            i, j, *over = piece.concepts
            told = [f"{names[x]} ({_times(min(B[i, x], B[x, j]))})" for x in over[:NAMED]]
            return f"Learners went from {first} to {names[j]} over {_listed(told, len(over))}."
        one = piece.concepts[0]
        away, into = (float(moves.sum()) for moves in (B[[one]], B[:, [one]]))
        return f"Learners left {first} {_times(away)} and came to it {_times(into)}."

    def _of_resources(self, piece: Piece) -> str:
        first, second = (self.names[end] for end in piece.concepts)
        named = [self._named(one, piece.concepts) for one in piece.resources]
        count = len(named)
        if piece.what == "one alone":
            mention = "mentions" if count == 1 else "mention"
            words = f"{_counted(count, 'resource')} {mention} {first} and not {second}"
            return f"{words}: {_listed([name for name, _ in named[:NAMED]], count)}."
        mention = "mentions" if count == 1 else "mention"
        words = f"{_counted(count, 'resource')} {mention} both {first} and {second}"
        named.sort(key=lambda item: not item[1])  # those with a sentence come first
        told = [f"{name}{f' (“{sentence}”)' if sentence else ''}" for name, sentence in named[:1]]
        told += [name for name, _ in named[1:NAMED]]
        return f"{words}: {_listed(told, count)}."

    def _named(self, resource: int, concepts: Sequence[int]) -> tuple[str, str]:
        found = self._resource(resource, concepts)
        said = " … ".join(dict.fromkeys(found["sentences"]))
        return f"“{found['title']}”", said

    def _resource(self, resource: int, concepts: Sequence[int]) -> dict[str, Any]:
        """Give a resource with the sentences in which it mentions the concepts."""
        of = self.fitted.resources
        if of is None:
            return {"id": str(resource), "title": f"resource {resource + 1}", "sentences": []}
        said = [of.sentence(concept, resource) for concept in concepts]
        return {
            "id": of.ids[resource],
            "title": of.titles[resource],
            "sentences": [sentence for sentence in said if sentence],
        }


def sentences(why: Explanation) -> Iterator[str]:
    """Give an explanation line by line: the answer, what speaks for and against it, the rest."""
    first, second = f"*{why.source}*", f"*{why.target}*"
    for (a, b), label in (((first, second), why.label), ((second, first), why.reverse_label)):
        if label is not None:
            is_one = "is" if label[0] else "is not"
            kept = " (kept apart as a test)" if label[1] == "test" else ""
            yield f"Your label: {a} {is_one} needed before {b}{kept}."
    yield (
        f"{first} is needed before {second}: {why.probability:.2f}. "
        f"The other way round: {why.reverse_probability:.2f}."
    )
    if why.base_rate:
        yield f"Without knowing anything, one pair in {1 / why.base_rate:.0f} is a prerequisite."
    if why.threshold is None:
        yield "Nothing says what to believe."
    else:
        believed = "is" if why.probability >= why.threshold else "is not"
        yield f"Pairs are believed from {why.threshold:.2f} on: this one {believed}."
    yield from _reasons(why) if why.base is not None else _of_branches(why)


def _reasons(why: Explanation) -> Iterator[str]:
    """Give what is told, with its worth in words and log-odds, and what is not named."""
    for reason in why.told:
        yield f"  {how_strongly(reason.worth)} ({reason.worth:+.2f}): {reason.sentence}"
    rest = [f"{WORDS[kind]} {worth:+.2f}" for kind, worth in why.untold.items() if worth]
    yield f"  Not named, {why.untold_share:.0%} of all that counts: {', '.join(rest)}."
    z = (why.base or 0.0) + sum(why.kinds.values())
    yield f"  (Log-odds: {why.base:+.2f} before any evidence, {z:+.2f} with all of it.)"


def _of_branches(why: Explanation) -> Iterator[str]:
    views = [branch for branch in why.branches if branch != "fused"]
    if not why.branches:
        yield f"{why.method} does not tell how it comes to its answers."
    if why.gate is not None:
        yield f"Its gate takes {why.gate:.0%} from resources, {1 - why.gate:.0%} from moves."
    for view in views:
        others = [other for other in views if other != view]
        if others:
            left = np.mean([why.branches[other] for other in others])
            yield f"Without the {view} view: {left:.2f}."
    for branch, p in why.branches.items():
        yield f"  {branch} branch: {p:.2f}, counts {why.branch_weights[branch]:.0%}"
    if why.facts:
        yield "What the course shows of the pair; what it is worth, the method does not tell:"
    yield from (f"  {fact}" for fact in why.facts)


def how_strongly(worth: float) -> str:
    """Say how strongly something speaks, and for which side.

    >>> how_strongly(2.0), how_strongly(-0.1)
    ('strongly for', 'a little against')
    """
    size = abs(worth)
    words = "strongly" if size >= STRONGLY else "somewhat" if size >= SOMEWHAT else "a little"
    return f"{words} {'for' if worth >= 0 else 'against'}"


def _listed(told: Sequence[str], count: int) -> str:
    """Join what is told of so many.

    >>> _listed(["A", "B"], 2), _listed(["A", "B"], 5)
    ('A and B', 'A, B and 3 more')
    """
    told = told if count == len(told) else [*told, f"{count - len(told)} more"]
    return " and ".join(filter(None, (", ".join(told[:-1]), told[-1])))


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _times(count: float) -> str:
    return "once" if count == 1 else f"{count:,.0f} times"
