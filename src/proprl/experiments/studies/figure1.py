"""Figure 1: how similar the concepts of pairs are before a network is trained, and while it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from proprl.arrays import FloatArray
from proprl.errors import ProprlError
from proprl.experiments.running.plan import Wanted, plan
from proprl.experiments.running.similarity import KINDS
from proprl.experiments.settings.load import packaged
from proprl.experiments.settings.methods import title_of
from proprl.experiments.show.figures import COLOURS, LINE_STYLES, PAGE, draw_legend, new_figure
from proprl.experiments.show.pages import (
    Do,
    Outcome,
    file_stem,
    one_method,
    page,
    said,
    table_heads,
)
from proprl.experiments.show.tables import Table, csv_text, markdown_table
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
    once = plan([method], replace(wanted, asked_courses=courses, repeats=1))
    results = do([replace(run, watched=True) for run in once])
    seen = {course: r["similarity"] for course, r in zip(courses, results, strict=True)}
    rows = [_row(course, kind, seen[course][kind]) for course in courses for kind in KINDS]
    stem, title = file_stem("figure1", wanted), title_of(method)
    table = Table(
        f"Figure 1, {wanted.protocol}: similarity of pairs, {title}", table_heads("figure1"), rows
    )
    grown = 100 * packaged("published.toml")["grown_share"]
    how = said("figure1", title=title, encoder=once[0].encoder, grown=grown)
    picture = f"![Similarity before and during training]({stem}.png)"
    texts = {
        f"{stem}.md": page(f"# {table.title}", how, markdown_table(table.heads, rows), picture),
        f"{stem}-before.csv": csv_text(table_heads("figure1", "before"), _density_rows(seen)),
        f"{stem}-drift.csv": csv_text(table_heads("figure1", "drift"), _drift_rows(seen)),
    }
    return Outcome(results, [table], texts, {stem: lambda: draw(seen)})


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
    """Give the medians, and the shares of pairs that are more similar at the end than before."""
    before, first, last = (np.array(similarity[when]) for when in ("before", "first", "last"))
    medians = [f"{np.median(cosines):.3f}" for cosines in (before, first, last)]
    grown = [f"{100 * (last > start).mean():.1f} %" for start in (before, first)]
    return [course, kind, len(before), *medians, *grown]


def _density_rows(seen: Mapping[str, Similarity]) -> list[Sequence[object]]:
    rows: list[Sequence[object]] = []
    for course, similarity in seen.items():
        edges, density = densities(similarity)
        for kind in KINDS:
            bins = np.stack([edges[:-1], edges[1:], density[kind]], axis=1)
            rows += [(course, kind, *bin_) for bin_ in bins.tolist()]
    return rows


def _drift_rows(seen: Mapping[str, Similarity]) -> list[Sequence[object]]:
    return [
        (course, kind, epoch, *quartiles)
        for course, similarity in seen.items()
        for kind in KINDS
        for epoch, quartiles in enumerate(similarity[kind]["quartiles"], start=1)
    ]
