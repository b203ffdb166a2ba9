"""`proprl place`: a placement test."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proprl.cli import interrupts_raised
from proprl.cli.console import err, escape, print_json, say
from proprl.cli.options import BundleOrCourse, Json

if TYPE_CHECKING:
    from proprl.curriculum.placement import Placement

NAMED = 12
"""So many concepts are named in a sentence."""

Target = Annotated[
    list[str] | None,
    typer.Option(help="Only what this concept needs matters; may be given several times."),
]
Slip = Annotated[
    float, typer.Option(help="How often something is known and the answer is no.", min=0)
]
Guess = Annotated[
    float, typer.Option(help="How often something is not known and the answer is yes.", min=0)
]
AtMost = Annotated[
    int | None,
    typer.Option(help="Ask so many questions at most.", show_default="40 % of the concepts"),
]
Answers = Annotated[
    Path | None,
    typer.Option(help="Ask nothing: take answers (y or n) from a file with concept,answer."),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        help="Add learned steps to the map from this probability on.",
        show_default="0.35",
        min=0,
        max=1,
    ),
]


def place(
    data: BundleOrCourse,
    target: Target = None,
    slip: Slip = 0.05,
    guess: Guess = 0.05,
    at_most: AtMost = None,
    answers: Answers = None,
    threshold: Threshold = None,
    as_json: Json = False,
) -> None:
    """Find out what a learner knows with few questions: the map says what follows from them.

    It asks about the concept whose answer settles most, and stops where few judgements are in
    doubt. Answers may be wrong now and then.

    Example: proprl place campus

    Example: proprl place campus.proprl --target "Gradient descent" --at-most 15

    Example: proprl place campus --answers answers.csv --json
    """
    from proprl.cli.model_of import model_of
    from proprl.cli.progress_bar import ProgressBar
    from proprl.curriculum.graph import map_of
    from proprl.curriculum.placement import Placement, read_answers

    fitted = model_of(data).fitted_
    drawn = map_of(fitted, threshold=threshold, progress=ProgressBar())
    test = Placement(drawn, target or (), slip=slip, guess=guess, at_most=at_most)
    if answers is None:
        with suppress(KeyboardInterrupt), interrupts_raised():  # Ctrl-C quits; what was said counts
            _ask(test, aside=as_json)
    else:
        for row, knows in read_answers(answers, drawn.ids, drawn.names):
            test.answer(row, knows)
    if as_json:
        print_json(_as_json(test))
    else:
        _tell(test)


def _ask(test: Placement, *, aside: bool) -> None:
    """Ask until nothing more is worth a question, or the learner quits."""
    names = _names(test)
    say(
        f"{len(test.rows)} concepts, at most {test.at_most} questions. "
        "y: yes, n: no, u: undo the last answer, q: quit.",
        aside=aside,
    )
    while (row := test.question()) is not None:
        said = _said(f"{len(test.answers) + 1}. Can you do [bold]{escape(names[row])}[/]? ", aside)
        if said in ("y", "yes", "n", "no"):
            test.answer(row, said[0] == "y")
        elif said in ("q", "quit"):
            return
        elif said not in ("u", "undo"):
            say("Answer y, n, u or q.", aside=aside)
        elif not test.undo():
            say("There is no answer to undo.", aside=aside)


def _said(question: str, aside: bool) -> str:
    """Ask, and give the answer; the end of the input quits."""
    from proprl.cli.console import out

    console = err if aside else out
    console.print(question, end="", soft_wrap=True)
    line = sys.stdin.readline()
    if not sys.stdin.isatty():  # what comes from a file does not show by itself
        console.print(escape(line.strip()))
    return line.strip().casefold() if line else "q"


def _tell(test: Placement) -> None:
    names, belief = _names(test), test.belief
    known = int(test.state.sum())
    asked = len(test.answers)
    say(
        f"\nAfter {asked} question{'' if asked == 1 else 's'}: "
        f"[bold]{known} of {len(test.rows)} concepts are judged known, the others not[/]. "
        f"About {right_in_100(belief.doubt)} in 100 of these judgements are right, if the map is."
    )
    for heading, rows in (
        ("Learned last", test.learned_last()),
        ("Ready for now", test.ready_for()),
        ("Least sure", test.least_sure()),
    ):
        if rows:
            more = f", and {len(rows) - NAMED} more" if len(rows) > NAMED else ""
            shown = ", ".join(names[row] for row in rows[:NAMED])
            say(f"[bold]{heading}[/]: {escape(shown)}{more}.")
    for row, knows in test.spoken_against():
        said = "yes" if knows else "no"
        say(f"The answer {said} to {escape(names[row])} was not believed: others speak against it.")
    if alone := len(test.alone):
        what = "concept stands" if alone == 1 else "concepts stand"
        say(f"{alone} {what} alone in the map and had no part in this.")


def right_in_100(doubt: float) -> int:
    """Give how many in 100 judgements are right; never all of them.

    >>> right_in_100(0.126), right_in_100(0.0)
    (87, 99)
    """
    return min(99, round(100 * (1 - doubt)))


def _names(test: Placement) -> list[str]:
    from proprl.curriculum.summary import names_apart

    return names_apart(test.ways.graph.ids, test.ways.graph.names)


def _as_json(test: Placement) -> dict[str, Any]:
    graph, belief = test.ways.graph, test.belief
    ids, question = graph.ids, test.question()

    def answered(answers: list[tuple[int, bool]]) -> list[dict[str, Any]]:
        return [{"concept": ids[row], "knows": knows} for row, knows in answers]

    return {
        "asked": len(test.answers),
        "at_most": test.at_most,
        "expected_right": 1 - belief.doubt,
        "known": [ids[row] for row in test.state.nonzero()[0]],
        "learned_last": [ids[row] for row in test.learned_last()],
        "ready_for": [ids[row] for row in test.ready_for()],
        "concepts": [
            {"id": ids[row], "name": graph.names[row], "chance": chance}
            for row, chance in zip(test.rows.tolist(), belief.chance.tolist(), strict=True)
        ],
        "answers": answered(test.answers),
        "not_believed": answered(test.spoken_against()),
        "ask_next": None if question is None else ids[question],
        "alone": [ids[row] for row in test.alone],
        "slip": belief.slip,
        "guess": belief.guess,
    }
