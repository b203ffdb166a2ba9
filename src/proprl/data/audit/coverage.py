"""Concepts about which a course says little."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from proprl.arrays import SparseMatrix
from proprl.data.audit.finding import SHOWN, Finding, Severity, counted
from proprl.data.audit.rows import LabelledRows


def coverage_findings(
    names: tuple[str, ...],
    rows: LabelledRows | None,
    transitions: SparseMatrix | None,
    incidence: SparseMatrix | None,
) -> Iterator[Finding]:
    """Yield the concepts without resource, behaviour or label, for each table there is."""
    if incidence is not None:
        yield _without(
            "resource",
            names,
            incidence.sum(axis=1) > 0,
            "warning",
            "The resource view knows nothing of these concepts: "
            "link them to resources, or check how their names are spelled in the texts.",
        )
    if transitions is not None:
        yield _without(
            "behaviour",
            names,
            transitions.sum(axis=0) + transitions.sum(axis=1) > 0,
            "warning",
            "The behaviour view knows nothing of these concepts: "
            "collect more events, or read scores on them with care.",
        )
    if rows is not None:
        labelled = np.zeros(len(names), dtype=np.bool_)
        labelled[rows.pairs] = True
        yield _without(
            "label",
            names,
            labelled,
            "note",
            "No expert has judged these concepts, so nothing measured here speaks for them: "
            "label a few of their pairs.",
        )


def _without(
    what: str,
    names: tuple[str, ...],
    has: npt.NDArray[np.bool_],
    severity: Severity,
    meaning: str,
) -> Finding:
    lacking = np.flatnonzero(~np.asarray(has))
    return counted(
        f"concepts_without_{what}",
        f"concepts without {what}",
        severity,
        len(lacking),
        len(names),
        meaning,
        examples=[names[row] for row in lacking[:SHOWN]],
    )
