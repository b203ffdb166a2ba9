"""A way to learn as a value: its steps, what is known before it, and what hangs on what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

CERTAIN = 1.0


class Link(NamedTuple):
    """One prerequisite by rows: learn `before` before `after`."""

    before: int
    after: int
    sure: float
    """The probability; 1 where a label confirms it."""


class Taken(NamedTuple):
    """A concept nobody named that is taken as known: what is known needs it."""

    concept: int
    because: int
    """The known concept that needs it most surely."""
    sure: float
    """The weakest link of the surest chain to that one."""


@dataclass(frozen=True)
class Known:
    """What a learner knows."""

    said: tuple[int, ...]
    taken: tuple[Taken, ...]
    """What the others need: whoever knows a concept knows what it needs."""

    @cached_property
    def rows(self) -> set[int]:
        """All that is known."""
        return {*self.said, *(one.concept for one in self.taken)}


class Point:
    """An unsure link that all chains from a step to the targets go along, with those after it."""

    def __init__(
        self, link: Link | None = None, weakest: Link | None = None, after: Point | None = None
    ) -> None:
        self.link = link
        self.weakest = weakest
        self.after = after or self
        self.depth: int = 0 if after is None else after.depth + 1

    def behind(self, link: Link) -> Point:
        """Give the point of a link that leads here."""
        weaker = self.weakest is None or link.sure < self.weakest.sure
        return Point(link, link if weaker else self.weakest, self)

    def meets(self, other: Point) -> Point:
        """Give the first point that both chains have."""
        here = self
        while here is not other:
            if here.depth >= other.depth:
                here = here.after
            else:
                other = other.after
        return here


class Step(NamedTuple):
    """A concept to learn on the way."""

    concept: int
    after: tuple[int, ...]
    """What of the way, or of what is known, has to be learned just before."""
    needed: float
    """How surely the targets need it: the weakest link of the surest chain to one of them."""
    hangs_on: Link | None
    """The step can be skipped if this prerequisite is none; None: others need the step too."""


@dataclass(frozen=True)
class Way:
    """What to learn, in order, to reach the targets."""

    targets: tuple[int, ...]
    steps: tuple[Step, ...]
    known: Known
    weakest: Link | None
    """The learned prerequisite on the way that is least sure; None where labels confirm all."""
    points: Mapping[int, Point] = field(repr=False)
    """For each step that is not surely needed: what all chains to the targets go along."""

    def unsure(self) -> list[Link]:
        """Give the links without which some step can be skipped, the least sure first."""
        met: set[Point] = set()
        for point in self.points.values():
            here = point
            while here not in met:
                met.add(here)
                here = here.after
        links = [point.link for point in met if point.link is not None]
        return sorted(links, key=lambda link: (link.sure, link))

    def without(self, link: Link) -> list[int]:
        """Give the steps that can be skipped if a link does not hold."""
        hangs: dict[Point, bool] = {}
        for point in self.points.values():
            passed, here = [], point
            while here not in hangs and here.link not in (link, None):
                passed.append(here)
                here = here.after
            answer = hangs.get(here, here.link == link)
            hangs.update(dict.fromkeys((*passed, here), answer))
        return [
            step.concept
            for step in self.steps
            if step.concept in self.points and hangs[self.points[step.concept]]
        ]


class Ready(NamedTuple):
    """A concept that can be learned now."""

    concept: int
    needed_for: int
    """So many concepts need it, by one step or several."""
    opens: tuple[int, ...]
    """What can be learned as soon as this one is known: nothing else is missing."""
