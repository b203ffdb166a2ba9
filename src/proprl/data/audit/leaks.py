"""What test or validation gives away: rows that train has seen, as they are or reversed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from proprl.data.audit.finding import Finding, LabelledRows, counted

_REASON = {
    0: "Of two concepts only one comes first, so a train positive gives its reverse away",
    1: "A train negative made by reversing a positive gives that positive away",
}


def leak_findings(rows: LabelledRows) -> Iterator[Finding]:
    """Yield, for each two parts, the rows of the later one that the earlier gives away."""
    parts = rows.present_parts()
    for earlier, later in combinations(parts, 2):
        here = rows.parts == later
        shared = here & np.isin(rows.codes, rows.codes[rows.parts == earlier])
        yield counted(
            f"{later}_rows_in_{earlier}",
            f"{later} rows that stand in {earlier}",
            "error",
            shared.sum(),
            here.sum(),
            f"A model that has seen a pair in {earlier} can repeat it in {later}: "
            "keep each pair in one part.",
            examples=rows.show(shared),
        )
    for later in ("validation", "test"):
        if "train" in parts and later in parts:
            yield _reversed(rows, later, label=0)
            yield _reversed(rows, later, label=1)


def _reversed(rows: LabelledRows, later: str, *, label: int) -> Finding:
    """Count rows of `later` with this label whose reverse has the other label in train."""
    here = (rows.parts == later) & (rows.labels == label)
    given = (rows.parts == "train") & (rows.labels == 1 - label)
    leaked = here & np.isin(rows.reverse_codes, rows.codes[given])
    name, other = ("positives", "negative") if label else ("negatives", "positive")
    return counted(
        f"{later}_reversed_{name}",
        f"{later} {name} whose reverse is a train {other}",
        "error",
        leaked.sum(),
        here.sum(),
        f"{_REASON[label]}: keep both orders of a pair in one part.",
        examples=rows.show(leaked),
    )
