"""What answers must hold: known concepts, known words, and where people disagree."""

from __future__ import annotations

import polars as pl

from proprl.data.answers import ANSWERS, settled
from proprl.data.splits.labelled import ASKED, DRAWN
from proprl.data.tables.checks import Check
from proprl.data.tables.pair_checks import chances, words


def check_answers(check: Check) -> pl.DataFrame:
    """Return the answers: source, target, answer, who, when, origin, and chance if any has one."""
    faults = len(check.findings.errors)
    check.ends()
    said = {word: word for word in ANSWERS}
    answer = words(check, "answer", said, f"must be one of {', '.join(ANSWERS)}")
    columns = [check.frame["source"], check.frame["target"], answer.rename("answer")]
    none = pl.Series([""] * len(check.frame), dtype=pl.String)
    for column in ("who", "when"):
        given = check.frame[column] if column in check.frame.columns else none
        columns.append(given.fill_null("").rename(column))
    origin = pl.Series("origin", [ASKED] * len(check.frame), dtype=pl.String)
    if "origin" in check.frame.columns:
        picked = {ASKED: ASKED, DRAWN: DRAWN, "": ASKED}
        expected = f"must be {ASKED} or {DRAWN}, or empty, which means {ASKED}"
        origin = words(check, "origin", picked, expected).rename("origin")
    chance = chances(check, origin)
    frame = pl.DataFrame([*columns, origin, *([] if chance is None else [chance.rename("chance")])])
    if len(check.findings.errors) == faults:
        _warn_of_disagreement(check, frame)
    return frame


def _warn_of_disagreement(check: Check, answers: pl.DataFrame) -> None:
    disputed = settled(answers).disputed
    last = {row: pair for pair, row in disputed.items()}
    faulty = pl.Series([k in last for k in range(len(answers))], dtype=pl.Boolean)
    pair = check.joined("source", "target")
    check.report(
        faulty,
        lambda row: _disagreement(answers, last[row]),
        values=pair,
        warning=True,
    )


def _disagreement(answers: pl.DataFrame, pair: tuple[str, str]) -> str:
    """Say who said what of two concepts, each person's last words."""
    said: dict[str, str] = {}
    for row in answers.iter_rows(named=True):
        if {row["source"], row["target"]} == set(pair):
            who, order = row["who"] or "somebody", f"{row['source']} → {row['target']}"
            said[who] = f"{who} says {row['answer']} to {order}"
    return (
        f"people disagree ({', '.join(said.values())}), so this pair has no label: agree, and "
        "answer again"
    )
