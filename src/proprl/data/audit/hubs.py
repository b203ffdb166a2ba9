"""Concepts whose name alone decides their labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest

from proprl.arrays import IntArray
from proprl.data.audit.finding import SHOWN, Finding
from proprl.data.audit.rows import LabelledRows

_UNLIKELY = 0.001
_TOP = 5
_ENDS = ("source", "target")


def hub_findings(rows: LabelledRows) -> Iterator[Finding]:
    """Yield how far the majority label of its source, or of its target, answers a pair.

    Majorities are taken in train and answer test. Where the course has no such parts, each
    distinct pair is answered by the majority of the others.
    """
    if {"train", "test"} <= set(rows.present_parts()):
        train, test = rows.where("train"), rows.where("test")
        where = "test"
    else:
        train = np.zeros(len(rows), dtype=np.bool_)
        train[np.unique(rows.codes, return_index=True)[1]] = True  # a repeat answers itself
        test, where = train, "labelled"
    for end, name in enumerate(_ENDS):
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
    top = np.argsort(-total, kind="stable")[:_TOP]
    hubs = [_hub(rows.names[i], total[i], positive[i]) for i in top]
    return Finding(
        f"{end}_hubs",
        f"{where} pairs that the usual label of their {end} answers",
        "warning" if unlikely else "ok",
        right,
        len(labels),
        f"Who looks at the {end} alone gets {right} right, who always says the commoner label "
        f"{usual_right}: "
        + ("measure on concepts that training has not seen." if unlikely else "nothing to do."),
        tuple(f"{h['name']}: {h['positives']} of {h['pairs']} are positive" for h in hubs[:SHOWN]),
        {"accuracy": right / len(labels), "commoner_label": share, "hubs": hubs},
    )


def _hub(name: str, pairs: int, positives: float) -> dict[str, Any]:
    return {"name": name, "pairs": int(pairs), "positives": int(positives)}
