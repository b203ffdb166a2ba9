"""Figure 1: how alike concepts are before a graph network is trained, and in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from proprl.arrays import FloatArray
from proprl.errors import ProprlError
from proprl.experiments.running.outcome import Do, Outcome, Table, Wanted
from proprl.experiments.running.plan import plan, title_of
from proprl.experiments.running.similarity import KINDS
from proprl.experiments.settings.published import published
from proprl.experiments.show.figures import COLOURS, LINE_STYLES, PAGE, draw_legend, new_figure
from proprl.experiments.show.pages import file_stem, one_method, said, table_heads
from proprl.experiments.show.tables import csv_text, markdown_table
from proprl.models.networks.scorer import NetworkScorer
from proprl.models.registry import method as scorer_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BINS = 30

Similarity = Mapping[str, Mapping[str, Any]]
"""What `SimilarityWatch` has seen: by kind of pair."""


def figure1(wanted: Wanted, do: Do) -> Outcome:
    """Follow the similarity of pairs through one training of DGCPL."""
    method = one_method("figure1", wanted, "dgcpl")
    if not issubclass(scorer_of(method), NetworkScorer):
        raise ProprlError(f"{method} has no network, so there are no representations to follow")
    courses = wanted.asked_courses or ("mooc",)
    runs = [
        replace(run, watched=True)
        for run in plan([method], replace(wanted, asked_courses=courses, repeats=1))
    ]
    results = do(runs)
    seen = {course: r["similarity"] for course, r in zip(courses, results, strict=True)}
    heads = table_heads("figure1")
    rows = [_row(course, kind, seen[course][kind]) for course in courses for kind in KINDS]
    stem = file_stem("figure1", wanted)
    title = title_of(method)
    heading = f"Figure 1, {wanted.protocol}: similarity of pairs, {title}"
    picture = f"![Similarity before and during training]({stem}.png)\n"
    grown = 100 * published().grown_share
    how = said("figure1", title=title, encoder=runs[0].encoder, grown=grown)
    page = [f"# {heading}\n", how, markdown_table(heads, rows), picture]
    texts = {
        f"{stem}.md": "\n".join(page),
        f"{stem}-before.csv": csv_text(
            ["course", "pairs", "from", "to", "density"], _density_rows(seen)
        ),
        f"{stem}-drift.csv": csv_text(
            ["course", "pairs", "epoch", "quartile 1", "median", "quartile 3"], _drift_rows(seen)
        ),
    }
    return Outcome(results, [Table(heading, heads, rows)], texts, {stem: lambda: draw(seen)})


def grown_share(similarity: Mapping[str, Any], start: str) -> float:
    """Give the share of pairs that are more similar at the end than at `start`.

    >>> grown_share({"before": [0.5, 0.5, 0.5], "last": [0.6, 0.7, 0.5]}, "before")
    0.6666666666666666
    """
    return float((np.array(similarity["last"]) > np.array(similarity[start])).mean())


def densities(similarity: Similarity) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Give the edges of bins over all similarities before training, and each kind's density."""
    every = np.concatenate([similarity[kind]["before"] for kind in KINDS])
    edges = np.histogram_bin_edges(every, BINS)
    return edges, {
        kind: np.histogram(similarity[kind]["before"], edges, density=True)[0] for kind in KINDS
    }


def draw(seen: Mapping[str, Similarity]) -> Figure:
    """Draw, for each course, the similarities before training and their drift."""
    figure = new_figure(PAGE, 2.5 * len(seen), columns=2, rows=len(seen))
    for index, (course, similarity) in enumerate(seen.items()):
        before, during = figure.axes[2 * index : 2 * index + 2]
        name = f"{course}: " if len(seen) > 1 else ""
        _draw_before(before, similarity)
        before.set_title(f"(a) {name}before training", loc="left")
        _draw_during(during, similarity)
        during.set_title(f"(b) {name}during training", loc="left")
    draw_legend(figure, panel=1)
    return figure


def _draw_before(axis: Axes, similarity: Similarity) -> None:
    edges, density = densities(similarity)
    for kind, colour, line in zip(KINDS, COLOURS, LINE_STYLES, strict=False):
        axis.stairs(density[kind], edges, color=colour, linestyle=line, linewidth=1.2)
        axis.axvline(np.median(similarity[kind]["before"]), color=colour, linestyle=line, lw=0.6)
    axis.set(xlabel="cosine similarity of the texts' vectors", ylabel="density")


def _draw_during(axis: Axes, similarity: Similarity) -> None:
    for kind, colour, line in zip(KINDS, COLOURS, LINE_STYLES, strict=False):
        low, middle, high = np.array(similarity[kind]["quartiles"]).T
        epochs = np.arange(1, len(middle) + 1)
        axis.fill_between(epochs, low, high, color=colour, alpha=0.1, linewidth=0)
        for edge in (low, high):
            axis.plot(epochs, edge, color=colour, linestyle=line, linewidth=0.5)
        axis.plot(epochs, middle, color=colour, linestyle=line, label=kind)
    axis.set(xlabel="epoch", ylabel="cosine similarity")


def _row(course: str, kind: str, similarity: Mapping[str, Any]) -> list[object]:
    medians = [f"{np.median(similarity[when]):.3f}" for when in ("before", "first", "last")]
    grown = [f"{100 * grown_share(similarity, start):.1f} %" for start in ("before", "first")]
    return [course, kind, len(similarity["before"]), *medians, *grown]


def _density_rows(seen: Mapping[str, Similarity]) -> list[Sequence[object]]:
    rows: list[Sequence[object]] = []
    for course, similarity in seen.items():
        edges, density = densities(similarity)
        for kind in KINDS:
            bins = zip(edges[:-1].tolist(), edges[1:].tolist(), density[kind].tolist(), strict=True)
            rows += [(course, kind, *bin_) for bin_ in bins]
    return rows


def _drift_rows(seen: Mapping[str, Similarity]) -> list[Sequence[object]]:
    return [
        (course, kind, epoch, *quartiles)
        for course, similarity in seen.items()
        for kind in KINDS
        for epoch, quartiles in enumerate(similarity[kind]["quartiles"], start=1)
    ]
