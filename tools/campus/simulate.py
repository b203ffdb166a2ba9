"""Writes the simulated learner behaviour of the bundled course `campus`.

Run as ``python tools/campus/simulate.py [--seed N] [--out FILE]``. The learners know nothing of the
labelled pairs: they follow the hidden difficulties and the topics of ``levels.csv``, with noise.
docs/campus.md describes each step. The same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
LEVELS = HERE / "levels.csv"
INTERACTIONS = HERE.parents[1] / "src" / "proprl" / "data" / "campus" / "interactions.csv"

RELATED = {
    "arithmetic": ("algebra", "geometry"),
    "algebra": ("arithmetic", "geometry", "calculus", "discrete mathematics"),
    "geometry": ("arithmetic", "algebra", "calculus"),
    "discrete mathematics": ("algebra", "algorithms", "probability and statistics"),
    "calculus": ("algebra", "geometry", "linear algebra", "machine learning"),
    "linear algebra": ("algebra", "calculus", "machine learning"),
    "probability and statistics": ("algebra", "discrete mathematics", "calculus", "arithmetic"),
    "programming": ("algorithms", "arithmetic", "discrete mathematics"),
    "algorithms": ("programming", "discrete mathematics", "algebra"),
    "machine learning": ("calculus", "linear algebra", "probability and statistics", "algorithms"),
}


@dataclass(frozen=True)
class Settings:
    """The parameters of the simulation; levels run from 0 to 100."""

    learners: int = 300
    events: tuple[int, int] = (16, 96)  # planned length of a path, uniform
    start: tuple[int, int] = (0, 60)  # ability at the start, uniform
    interests: tuple[int, int] = (4, 8)  # number of topics, uniform
    perception: float = 4.5  # sd of a learner's own view of a level
    head_start: float = 10.0  # a topic is entered this far below the ability
    learning: float = 0.2  # share of the way to a harder concept that is learned
    easiest_first: float = 0.7  # chance that the next topic is the easiest one left
    gap: float = 0.22  # chance to skip a concept, again for each next one
    browse: float = 0.07  # chance to open anything at all
    detour: float = 0.2  # chance to look into a related topic before the next concept
    abandon: float = 0.02  # chance to give the topic up for good
    hard: float = 5.0  # so far above the ability a concept is hard
    backtrack: float = 0.25  # chance to go back after a hard concept
    retry: float = 0.6  # chance to try the hard concept again after going back


@dataclass(frozen=True)
class Catalogue:
    """The concepts with their topics and hidden levels."""

    concepts: list[str]
    topics: list[str]
    levels: list[float]

    def of_topic(self, topic: str) -> list[int]:
        """Positions of the concepts of a topic."""
        return [c for c, other in enumerate(self.topics) if other == topic]


class Chance:
    """Random draws made of uniform doubles alone.

    NumPy promises the stream of the bit generator, not that of each distribution, and logarithms
    differ between machines in the last bit; this keeps the file the same everywhere.
    """

    def __init__(self, seed: int, learner: int) -> None:
        self._rng = np.random.Generator(np.random.PCG64([seed, learner]))

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        """Return a number from low up to high."""
        return low + (high - low) * float(self._rng.random())

    def happens(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self.uniform() < probability

    def integer(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""
        return low + int(self.uniform() * (high - low + 1))

    def bell(self, sd: float) -> float:
        """Return nearly normal noise: twelve uniforms add up to variance one."""
        return sd * (sum(self.uniform() for _ in range(12)) - 6.0)

    def pick(self, items: list[int]) -> int:
        """Return one of the items, each as likely."""
        return items[self.integer(0, len(items) - 1)]


@dataclass
class Learner:
    """One learner's way through the catalogue; `walk` gives the concepts in order."""

    catalogue: Catalogue
    settings: Settings
    chance: Chance
    ability: float = field(init=False)
    perceived: list[float] = field(init=False)
    open_topics: list[str] = field(init=False)
    syllabus: list[int] = field(init=False, default_factory=list)  # what is left of the topic
    path: list[int] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        sd = self.settings.perception
        self.ability = self.chance.uniform(*self.settings.start)
        self.perceived = [level + self.chance.bell(sd) for level in self.catalogue.levels]
        self.open_topics = self._interests()

    def walk(self) -> list[int]:
        """Positions of the concepts visited, in order, never the same one twice in a row."""
        planned = self.chance.integer(*self.settings.events)
        while len(self.path) < planned:
            if not self.syllabus or self.chance.happens(self.settings.abandon):
                if not self.open_topics:
                    break
                self._enter_topic()
            self._step()
        return self.path

    def _interests(self) -> list[str]:
        """Topics with something left to learn, those within reach more often."""
        left = {t: self._syllabus_of(t) for t in RELATED}
        candidates = [t for t in RELATED if len(left[t]) >= 4]
        wanted = self.chance.integer(*self.settings.interests)
        chosen: list[str] = []
        while candidates and len(chosen) < wanted:
            reach = [max(0.0, self.perceived[left[t][0]] - self.ability) for t in candidates]
            weights = np.cumsum([1 / (1 + distance / 10) for distance in reach])
            at = int(np.searchsorted(weights, self.chance.uniform(0, float(weights[-1])), "right"))
            chosen.append(candidates.pop(at))
        return chosen

    def _syllabus_of(self, topic: str) -> list[int]:
        """Return the concepts of a topic not far below the ability, as the learner orders them."""
        floor = self.ability - self.settings.head_start
        concepts = [c for c in self.catalogue.of_topic(topic) if self.perceived[c] >= floor]
        return sorted(concepts, key=lambda c: self.perceived[c])

    def _enter_topic(self) -> None:
        at = self.chance.integer(0, len(self.open_topics) - 1)
        if self.chance.happens(self.settings.easiest_first):
            at = min(range(len(self.open_topics)), key=lambda t: self._entry(self.open_topics[t]))
        self.syllabus = self._syllabus_of(self.open_topics.pop(at))

    def _entry(self, topic: str) -> float:
        """Return the perceived level at which the learner would enter the topic."""
        return min((self.perceived[c] for c in self._syllabus_of(topic)), default=100.0)

    def _step(self) -> None:
        if self.chance.happens(self.settings.browse):
            self._visit(self.chance.pick(list(range(len(self.catalogue.concepts)))))
        elif self.syllabus:
            self._advance()

    def _advance(self) -> None:
        """Take the next concept of the topic: after a gap, after a detour, or with a way back."""
        s, chance = self.settings, self.chance
        while len(self.syllabus) > 1 and chance.happens(s.gap):
            self.syllabus.pop(0)
        concept = self.syllabus.pop(0)
        aside = self._aside(concept) if chance.happens(s.detour) else []
        if aside:
            self._visit(chance.pick(aside))
        hard = self.perceived[concept] > self.ability + s.hard
        self._visit(concept)
        easier = self._easier(concept) if hard and chance.happens(s.backtrack) else []
        if easier:
            self._visit(chance.pick(easier))
            if chance.happens(s.retry):
                self._visit(concept)

    def _aside(self, concept: int) -> list[int]:
        """Concepts of one related topic that look up to 20 levels easier or 5 harder."""
        topics = RELATED[self.catalogue.topics[concept]]
        topic = topics[self.chance.integer(0, len(topics) - 1)]
        top = self.perceived[concept]
        return [c for c in self.catalogue.of_topic(topic) if -5 <= top - self.perceived[c] <= 20]

    def _easier(self, concept: int) -> list[int]:
        """Concepts of the same topic that look 3 to 22 levels easier."""
        top = self.perceived[concept]
        topic = self.catalogue.of_topic(self.catalogue.topics[concept])
        return [c for c in topic if 3 <= top - self.perceived[c] <= 22]

    def _visit(self, concept: int) -> None:
        if self.path and self.path[-1] == concept:
            return
        self.path.append(concept)
        self.ability += self.settings.learning * max(0.0, self.perceived[concept] - self.ability)


def visit_times(visits: int, chance: Chance) -> list[datetime]:
    """Strictly growing times: evenings and days of study with days of rest between them."""
    day = datetime(2024, 9, 2) + timedelta(days=chance.integer(0, 75))
    times: list[datetime] = []
    while len(times) < visits:
        now = day + timedelta(seconds=chance.integer(8 * 3600, 20 * 3600))
        for _ in range(chance.integer(2, 9)):
            times.append(now)
            now += timedelta(seconds=chance.integer(120, 2400))
        # A session never lasts beyond 02:00 of the next day: two days on, times still grow.
        day += timedelta(days=chance.integer(2, 6))
    return times[:visits]


def read_catalogue(path: Path = LEVELS) -> Catalogue:
    """Return the catalogue of `levels.csv`."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return Catalogue(
        concepts=[row["concept"] for row in rows],
        topics=[row["topic"] for row in rows],
        levels=[float(row["level"]) for row in rows],
    )


def simulate(seed: int = 0, settings: Settings | None = None) -> str:
    """Return the text of `interactions.csv`, ordered by learner and time."""
    settings = settings or Settings()
    catalogue = read_catalogue()
    lines = ["learner,concept,time"]
    for number in range(1, settings.learners + 1):
        chance = Chance(seed, number)
        path = Learner(catalogue, settings, chance).walk()
        for concept, time in zip(path, visit_times(len(path), chance), strict=True):
            lines.append(f"u{number:03d},{catalogue.concepts[concept]},{time.isoformat()}")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Simulate the learners of the course campus.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=INTERACTIONS)
    arguments = parser.parse_args()
    arguments.out.write_bytes(simulate(arguments.seed).encode("utf-8"))


if __name__ == "__main__":
    main()
