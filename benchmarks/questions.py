"""What questions are worth: maps learned from answers to them, beside other ways to choose.

At first 50 positives and 50 negatives are known, as people choose them (half of the negatives are
positives turned round). Then 200 questions are answered in batches of 25, and after each batch the
model learns anew, with 50 trees. Chosen are pairs that no label settles: by `proprl ask`; by
uncertainty sampling (p nearest to 1/2); or at random. Average precision is of all pairs that no way
of choosing asked about, in the same run. Five runs (seeds 0 to 4): their means.

Of the LectureBank maps one half of the pairs takes part: how to choose was settled on the
development half, and the figures are of the test half. On `campus` all pairs take part whose
answer its labels tell: a pair that only follows from a chain of labels is neither asked nor judged,
and a pair without a label is a no. A second row of `campus` counts every chain as a yes.

    python benchmarks/questions.py [--set campus] [--seeds 5] [--part development] [--out FOLDER]

Needs the public data (PROPRL_DATA); a quarter of an hour of one core. Writes
questions-table.md, questions.csv, .png and .svg into FOLDER.
"""

from __future__ import annotations

import argparse
import csv
import io
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure
from sklearn.metrics import average_precision_score

from proprl.arrays import FloatArray, IntArray
from proprl.curriculum.questions import Standing, choose
from proprl.data import LabelledPairs, PairSplit, load_course
from proprl.data.splits.labelled import ASKED
from proprl.data.splits.parts import LEARNED_FROM, divide
from proprl.data.splits.whole_map import labels_as_people_draw_them, pair_digests
from proprl.evaluation import base_rate
from proprl.experiments.show.figures import PAGE, draw_curve, draw_legend, new_figure, save_figure
from proprl.experiments.show.pages import page
from proprl.experiments.show.tables import markdown_table
from proprl.files import write_text
from proprl.fitting import Choices, auto_background, fit_prepared, prepare
from proprl.graphs.closure import BoolArray, what_follows
from proprl.models.base import PairScorer
from proprl.pairs.background import open_pairs

OURS, UNCERTAIN, RANDOM = "proprl ask", "uncertainty sampling", "random"
START, BATCH, BATCHES, TREES = 50, 25, 8, 50
CHAINS = "campus, chains count"
SETS = ("lecturebank-208", "lecturebank-322", "campus", CHAINS)
SEEDS = 5

base_rate.INTERVAL_RESAMPLES = 2  # nobody looks at the interval here, and it takes half of the time


@dataclass(frozen=True)
class World:
    """A course, what is true of its pairs, and which pairs take part."""

    name: str
    truth: IntArray  # (n, n): 1 or 0
    takes_part: BoolArray  # (n, n)
    start: LabelledPairs
    learn: Callable[[LabelledPairs], tuple[PairScorer, FloatArray]]
    """From labels to a method that knows them, and what it says of the pairs that take part."""


def world(name: str, part: str, seed: int) -> World:
    """Give a set with its first labels."""
    course = load_course(name.partition(",")[0])
    prepared = prepare(course, Choices(settings={"trees": TREES}))
    labelled, n = course.labelled_pairs().distinct(), len(course)
    apart = ~np.eye(n, dtype=np.bool_)
    truth = np.zeros((n, n), dtype=np.int64)
    truth[tuple(labelled.positives.T)] = 1
    if course.name == "campus":
        follows = what_follows(n, labelled.positives)
        takes_part = apart if name == CHAINS else apart & (~follows | (truth == 1))
        truth = follows.astype(np.int64) if name == CHAINS else truth
        chosen = labelled
    else:
        every = np.argwhere(apart)
        half = pair_digests(course.names, every)[:, 0] & 1 == (part == "test")
        takes_part = np.zeros((n, n), dtype=np.bool_)
        takes_part[tuple(labelled.pairs.T)] = True
        takes_part[tuple(every[~half].T)] = False
        here = labelled.take(takes_part[tuple(labelled.pairs.T)])
        chosen = labels_as_people_draw_them(here, seed)
    rng = np.random.default_rng(seed)
    first = [
        rng.choice(np.flatnonzero(chosen.labels == label), START, replace=False) for label in (1, 0)
    ]
    pairs = np.argwhere(takes_part).astype(np.int64)

    def learn(known: LabelledPairs) -> tuple[PairScorer, FloatArray]:
        train, validation = divide(known, LEARNED_FROM, seed=0)
        split = PairSplit(train, validation, LabelledPairs.empty(), "asked", True)
        background = auto_background("sequitur", known, n, seed=seed)
        fitted = fit_prepared(prepared, split, background=background, seed=seed, device="cpu")
        scores = np.zeros((n, n))
        scores[tuple(pairs.T)] = fitted.fit.score(pairs)
        return fitted.scorer, scores

    return World(name, truth, takes_part, chosen.take(np.sort(np.concatenate(first))), learn)


def asked_by(
    way: str,
    here: World,
    known: LabelledPairs,
    model: tuple[PairScorer, FloatArray],
    rng: np.random.Generator,
) -> IntArray:
    """Give the pairs to ask about: (25, 2)."""
    scorer, scores = model
    n = len(scores)
    pairs = np.argwhere(open_pairs(known, n) & here.takes_part).astype(np.int64)
    p = scores[tuple(pairs.T)]
    if way == RANDOM:
        return pairs[rng.choice(len(pairs), BATCH, replace=False)]
    if way == UNCERTAIN:
        return pairs[np.argsort(np.abs(p - 0.5), kind="stable")[:BATCH]]
    standing = Standing.of(pairs, p, what_follows(n, known.positives))
    return pairs[choose(standing, scorer, BATCH)]


def answered(here: World, known: LabelledPairs, asked: IntArray) -> LabelledPairs:
    """Give the labels after these questions: yes, no, or turned round."""
    yes, back = here.truth[tuple(asked.T)], here.truth[tuple(asked[:, ::-1].T)]
    turned = asked[(yes == 0) & (back == 1)][:, ::-1]
    pairs = np.vstack([asked, turned])
    labels = np.concatenate([yes, np.ones(len(turned), dtype=np.int64)])
    both = known.joined(LabelledPairs(pairs, labels, np.full(len(pairs), ASKED)))
    return both.distinct()


@dataclass(frozen=True)
class Curve:
    """One run of one way to choose."""

    course: str
    way: str
    seed: int
    precision: Sequence[float]
    """The average precision after 0, 25, ... 200 answers."""
    yes: int
    """How many of the answers were yes, in either order."""


def run(name: str, part: str, seed: int) -> list[Curve]:
    """Ask in every way, and judge all of them by the pairs that none asked about."""
    here = world(name, part, seed)
    first = here.learn(here.start)
    unasked = here.takes_part.copy()
    unasked[tuple(here.start.pairs.T)] = False
    maps: dict[str, list[FloatArray]] = {}
    yes: dict[str, int] = {}
    for way in (OURS, UNCERTAIN, RANDOM):
        known, maps[way], model = here.start, [first[1]], first
        rng = np.random.default_rng([7, seed])
        for _ in range(BATCHES):
            asked = asked_by(way, here, known, model, rng)
            for both in (asked, asked[:, ::-1]):
                unasked[tuple(both.T)] = False
            known = answered(here, known, asked)
            model = here.learn(known)
            maps[way].append(model[1])
        yes[way] = len(known.positives) - len(here.start.positives)
    true = here.truth[unasked]
    return [
        Curve(name, way, seed, [average_precision_score(true, m[unasked]) for m in found], yes[way])
        for way, found in maps.items()
    ]


def mean(curves: Iterable[Curve], course: str, way: str) -> FloatArray:
    """Give the mean curve of a way to choose."""
    mine = [one.precision for one in curves if (one.course, one.way) == (course, way)]
    return np.asarray(np.mean(mine, axis=0))


def draw(curves: Sequence[Curve], courses: Sequence[str]) -> Figure:
    """Draw the mean curves, a panel for each set."""
    figure = new_figure(PAGE, 2.3 * -(-len(courses) // 2), columns=2, rows=-(-len(courses) // 2))
    for axis, course in zip(figure.axes, courses, strict=False):
        for index, way in enumerate((OURS, UNCERTAIN, RANDOM)):
            points = enumerate(mean(curves, course, way).tolist())
            draw_curve(axis, index, way, [(BATCH * k, value) for k, value in points])
        axis.set_title(course, loc="left")
        axis.set(xlabel="answers", ylabel="average precision", xlim=(0, None))
    draw_legend(figure)
    return figure


def table(curves: Sequence[Curve], courses: Sequence[str]) -> str:
    """Give means and standard errors after 0, 100 and 200 answers, and which lines are reached."""
    rows = []
    for course in courses:
        of = {way: mean(curves, course, way) for way in (OURS, UNCERTAIN, RANDOM)}
        ours, uncertain = (
            np.array([one.precision for one in curves if (one.course, one.way) == (course, way)])
            for way in (OURS, UNCERTAIN)
        )
        lead = (ours - uncertain)[:, -1]
        error = lead.std(ddof=1) / len(lead) ** 0.5 if len(lead) > 1 else float("nan")
        for way, values in of.items():
            yes = np.mean([one.yes for one in curves if (one.course, one.way) == (course, way)])
            shown = [f"{values[k]:.3f}" for k in (0, BATCHES // 2, BATCHES)]
            lines = ["", ""]
            if way == OURS:
                lines = [
                    f"{_reached(lead.mean() >= 0)} ({lead.mean():+.3f} ± {error:.3f})",
                    _reached(values[BATCHES // 2] >= of[RANDOM][-1]),
                ]
            rows.append([course, way, *shown, f"{yes:.0f}", *lines])
    heads = ["set", "chosen by", "at first", "after 100", "after 200", "of them yes"]
    heads += ["200: not below uncertainty", "100: as random at 200"]
    return markdown_table(heads, rows)


def write(curves: Sequence[Curve], courses: Sequence[str], minutes: float, folder: Path) -> None:
    """Write the numbers, the table and the curves."""
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(["set", "chosen_by", "seed", "answers", "average_precision"])
    for one in curves:
        for k, value in enumerate(one.precision):
            writer.writerow([one.course, one.way, one.seed, BATCH * k, f"{value:.4f}"])
    write_text(folder / "questions.csv", content.getvalue())
    shown = table(curves, courses)
    spent = f"{minutes:.0f} minutes of one core."
    print(shown, spent, sep="\n")
    how = (__doc__ or "").split("\n\n")
    write_text(folder / "questions-table.md", page("# Questions", shown, *how[1:3], spent))
    save_figure(lambda: draw(curves, courses), folder / "questions")


def _reached(yes: bool) -> str:
    return "reached" if yes else "not reached"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", action="append", choices=SETS)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--part", choices=("development", "test"), default="test")
    parser.add_argument("--out", type=Path, default=Path("results"))
    wanted = parser.parse_args()
    torch.set_num_threads(1)
    courses, curves, started = wanted.set or SETS, [], time.process_time()
    for course in courses:
        for seed in range(wanted.seeds):
            curves += run(course, wanted.part, seed)
            print(course, seed, f"{time.process_time() - started:.0f} s", flush=True)
    write(curves, courses, (time.process_time() - started) / 60, wanted.out)


if __name__ == "__main__":
    main()
