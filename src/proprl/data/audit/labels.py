"""Labels that repeat, contradict or chase each other, whatever part they stand in."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import rustworkx as rx

from proprl.arrays import IntArray
from proprl.data.audit.finding import SHOWN, Finding, counted
from proprl.data.audit.rows import LabelledRows, pair_codes

_ENOUGH = 0.1
"""The share of either label under which accuracy says little and learning needs weights."""


def label_findings(rows: LabelledRows) -> Iterator[Finding]:
    """Yield what the labels say about themselves."""
    yield _repeated(rows)
    yield _contradicting(rows)
    yield _mutual(rows)
    yield _cycles(rows)
    yield _positives(rows)
    yield from _missing(rows)


def _repeated(rows: LabelledRows) -> Finding:
    first = np.unique(rows.codes, return_index=True)[1]
    repeats = np.ones(len(rows), dtype=np.bool_)
    repeats[first] = False
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
        "The same pair is called a prerequisite and not one, so no answer can be right: "
        "keep one label for each.",
        examples=rows.show(positive & np.isin(rows.codes, both)),
    )


def _mutual(rows: LabelledRows) -> Finding:
    n = len(rows.names)
    codes, reverse = pair_codes(rows.positives, n), pair_codes(rows.positives[:, ::-1], n)
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
        "Whoever always says the commoner label is right on "
        f"{max(share, 1 - share):.1%} of the rows: read accuracy against that number.",
        details={"share": share},
    )


def _missing(rows: LabelledRows) -> Iterator[Finding]:
    parts = {part: rows.labels[rows.where(part)] for part in rows.present_parts()}
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
