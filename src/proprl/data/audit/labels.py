"""What is odd about the labels: repeats, contradictions, cycles, hubs, concepts without any."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import rustworkx as rx
from scipy.stats import binomtest

from proprl.arrays import IntArray, SparseMatrix
from proprl.data.audit.finding import SHOWN, Finding, LabelledRows, Severity, counted
from proprl.data.splits.labelled import pair_codes

_ENOUGH = 0.1
"""The share of either label under which accuracy says little and learning needs weights."""

_UNLIKELY = 0.001
"""Below this p, hubs get more pairs right than the commoner label does, and not by chance."""

_LISTED_HUBS = 5

_WITHOUT: dict[str, tuple[Severity, str]] = {
    "resource": (
        "warning",
        "The resource view knows nothing of these concepts: "
        "link them to resources, or check how their names are spelled in the texts.",
    ),
    "behaviour": (
        "warning",
        "The behaviour view knows nothing of these concepts: "
        "collect more events, or read scores on them with care.",
    ),
    "label": (
        "note",
        "No expert has judged these concepts, so no result says anything about them: "
        "label a few of their pairs.",
    ),
}
"""How grave it is that a concept is without something, and what that means."""


def label_findings(rows: LabelledRows) -> Iterator[Finding]:
    """Yield repeats, contradictions, cycles and how the labels are shared out."""
    yield _repeated(rows)
    yield _contradicting(rows)
    yield _mutual(rows)
    yield _cycles(rows)
    yield _positives(rows)
    yield from _missing(rows)


def _repeated(rows: LabelledRows) -> Finding:
    repeats = ~rows.first
    return counted(
        "repeated_pairs",
        "rows that repeat an earlier pair",
        "warning",
        repeats.sum(),
        len(rows),
        "A repeated pair weighs twice in training and in every metric: keep each pair once.",
        examples=rows.show(repeats),
    )


def _contradicting(rows: LabelledRows) -> Finding:
    positive = rows.labels == 1
    both = np.intersect1d(rows.codes[positive], rows.codes[~positive])
    return counted(
        "contradicting_labels",
        "pairs with both labels",
        "error",
        len(both),
        len(np.unique(rows.codes)),
        "The same pair is labelled both 1 and 0, so no answer can be right: "
        "keep one label for each.",
        examples=rows.show(positive & np.isin(rows.codes, both)),
    )


def _mutual(rows: LabelledRows) -> Finding:
    codes, reverse = pair_codes(rows.positives), pair_codes(rows.positives[:, ::-1])
    mutual = rows.positives[np.isin(codes, reverse) & (codes < reverse)]
    return counted(
        "mutual_positives",
        "two concepts that are each other's prerequisite",
        "warning",
        len(mutual),
        len(rows.positives),
        "Of two concepts only one can be learned first: decide which, or drop both labels.",
        examples=[rows.arrow(pair).replace("→", "⇄") for pair in mutual[:SHOWN]],
    )


def _cycles(rows: LabelledRows) -> Finding:
    graph: rx.PyDiGraph[int, None] = rx.PyDiGraph()
    graph.add_nodes_from(list(range(len(rows.names))))
    graph.add_edges_from_no_data([(i, j) for i, j in rows.positives.tolist()])
    groups = [sorted(group) for group in rx.strongly_connected_components(graph) if len(group) > 1]
    groups.sort(key=lambda group: (-len(group), group))
    group_of = np.full(len(rows.names), -1)
    for number, group in enumerate(groups):
        group_of[group] = number
    ends: IntArray = group_of[rows.positives]
    inside = (ends[:, 0] >= 0) & (ends[:, 0] == ends[:, 1])
    return counted(
        "cycles",
        "positives that stand in a cycle",
        "warning",
        inside.sum(),
        len(rows.positives),
        "Nobody can start to learn a cycle: find the label in it that is wrong and remove it.",
        examples=[rows.arrow(_cycle(graph, group[0])) for group in groups[:SHOWN]],
        details={"groups": len(groups), "largest": len(groups[0]) if groups else 0},
    )


def _cycle(graph: rx.PyDiGraph[int, None], start: int) -> list[int]:
    """Return a shortest cycle through a node that is known to stand in one."""
    ways = (
        rx.dijkstra_shortest_paths(graph, after, target=start)
        for after in sorted(graph.successor_indices(start))
    )
    back = min((list(way[start]) for way in ways if start in way), key=len)
    return [start, *back]


def _positives(rows: LabelledRows) -> Finding:
    positives = int((rows.labels == 1).sum())
    share = positives / len(rows) if len(rows) else 0.0
    rare = not _ENOUGH <= share <= 1 - _ENOUGH
    return Finding(
        "positives",
        "rows with label 1",
        "warning" if rare else "note",
        positives,
        len(rows),
        "Always saying the commoner label is right on "
        f"{max(share, 1 - share):.1%} of the rows: compare accuracy with that number.",
        details={"share": share},
    )


def _missing(rows: LabelledRows) -> Iterator[Finding]:
    parts = {part: rows.labels[rows.parts == part] for part in rows.present_parts()}
    parts = parts or {"all pairs": rows.labels}
    for label, name in ((0, "negatives"), (1, "positives")):
        lacking = [part for part, labels in parts.items() if not (labels == label).any()]
        yield counted(
            f"missing_{name}",
            f"parts without {name}",
            "warning",
            len(lacking),
            len(parts),
            f"Without label {label} a part can be neither learned from nor measured on "
            f"(no AUC): label some pairs {label}.",
            examples=lacking,
        )


def hub_findings(rows: LabelledRows) -> Iterator[Finding]:
    """Yield how many pairs the commonest label of their source, or of their target, answers.

    Labels are counted in train and answer test. Where the course has no such parts, each distinct
    pair is answered by the others.
    """
    if {"train", "test"} <= set(rows.present_parts()):
        train, test, where = rows.parts == "train", rows.parts == "test", "test"
    else:
        train, test, where = rows.first, rows.first, "labelled"  # a repeat would answer itself
    for end, name in enumerate(("source", "target")):
        yield _hubs(rows, name, rows.pairs[:, end], train, test, where)


def _hubs(
    rows: LabelledRows,
    end: str,
    concepts: IntArray,
    train: npt.NDArray[np.bool_],
    test: npt.NDArray[np.bool_],
    where: str,
) -> Finding:
    n = len(rows.names)
    total = np.bincount(concepts[train], minlength=n)
    positive = np.bincount(concepts[train], weights=rows.labels[train], minlength=n)
    labels, at = rows.labels[test], concepts[test]
    own = train[test].astype(np.int64)  # a pair never votes on itself
    votes = (2 * positive - total)[at] - own * (2 * labels - 1)  # above 0: mostly positives
    usual = int(rows.labels[train].mean() >= 0.5)
    right = int((np.where(votes == 0, usual, votes > 0) == labels).sum())
    usual_right = int((labels == usual).sum())
    share = usual_right / len(labels)
    unlikely = binomtest(right, len(labels), share, alternative="greater").pvalue < _UNLIKELY
    hubs = [
        {"name": rows.names[i], "pairs": int(total[i]), "positives": int(positive[i])}
        for i in np.argsort(-total, kind="stable")[:_LISTED_HUBS]
    ]
    return Finding(
        f"{end}_hubs",
        f"{where} pairs that the usual label of their {end} gets right",
        "warning" if unlikely else "ok",
        right,
        len(labels),
        f"The usual label of the {end} is right {right} times, the commoner label {usual_right}: "
        + ("measure on concepts that training has not seen." if unlikely else "nothing to do."),
        tuple(f"{h['name']}: {h['positives']} of {h['pairs']} are positive" for h in hubs[:SHOWN]),
        {"accuracy": right / len(labels), "commoner_label": share, "hubs": hubs},
    )


def coverage_findings(
    names: tuple[str, ...],
    rows: LabelledRows | None,
    transitions: SparseMatrix | None,
    incidence: SparseMatrix | None,
) -> Iterator[Finding]:
    """Yield the concepts without resource, behaviour or label, for each table there is."""
    having: dict[str, npt.NDArray[np.bool_]] = {}
    if incidence is not None:
        having["resource"] = np.asarray(incidence.sum(axis=1) > 0)
    if transitions is not None:
        having["behaviour"] = np.asarray(transitions.sum(axis=0) + transitions.sum(axis=1) > 0)
    if rows is not None:
        having["label"] = np.isin(np.arange(len(names)), rows.pairs)
    for what, has in having.items():
        severity, meaning = _WITHOUT[what]
        lacking = np.flatnonzero(~has)
        yield counted(
            f"concepts_without_{what}",
            f"concepts without {what}",
            severity,
            len(lacking),
            len(names),
            meaning,
            examples=[names[row] for row in lacking[:SHOWN]],
        )
