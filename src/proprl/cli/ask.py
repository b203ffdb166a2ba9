"""`proprl ask`: the questions whose answers help the map most."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proprl.cli.console import counted, escape, print_json, say
from proprl.cli.options import BundleOrCourse, Json

if TYPE_CHECKING:
    from proprl.curriculum.questions import Question
    from proprl.data import Course
    from proprl.fitted import Fitted

Answers = Annotated[
    Path | None,
    typer.Option(
        help="Where answers are kept: needed for a model's folder, and for a bundled or fetched "
        "course.",
        show_default="answers.csv in the course folder",
    ),
]
Who = Annotated[
    str | None, typer.Option(help="Who answers.", show_default="the name you logged in with")
]
Count = Annotated[int, typer.Option(help="Ask so many questions.", min=1)]
Calibrate = Annotated[
    int | None,
    typer.Option(
        help="Draw N pairs by lot instead, among those that no label settles. Their answers tell "
        "how many prerequisites there are in all.",
        min=1,
    ),
]
Out = Annotated[
    Path | None, typer.Option(help="Write the questions into a spreadsheet FILE.csv instead.")
]
Take = Annotated[
    Path | None, typer.Option(help="Take the answers back that stand in such a spreadsheet.")
]


def ask(
    data: BundleOrCourse,
    answers: Answers = None,
    who: Who = None,
    count: Count = 10,
    calibrate: Calibrate = None,
    out: Out = None,
    take: Take = None,
    as_json: Json = False,
) -> None:
    """Ask what is needed before what: first the pairs whose answers help the map most.

    Each answer is kept as it is given, the next model learns from it, and nothing is asked twice.

    Example: proprl ask my-course

    Example: proprl ask my-course --calibrate 50 --out questions.csv

    Example: proprl ask my-course --take questions.csv --who Ann
    """
    from proprl.cli.progress_bar import ProgressBar
    from proprl.curriculum.question_sheet import write_sheet
    from proprl.curriculum.questions import drawn_by_lot, worth_asking
    from proprl.data.answers import answered_pairs

    _check_options(calibrate, out, take, as_json)
    keep = None if as_json or out is not None else _answers_file(data, answers)
    course, bundle = _course_and_bundle(data, answers)
    if take is not None and keep is not None:
        _take(take, course, keep, who or _login())
        return
    fitted = bundle or _trained_on(course)
    answered = answered_pairs(course.answers, course.ids)
    if calibrate is None:
        questions = worth_asking(fitted, count, answered=answered, progress=ProgressBar())
    else:
        questions = drawn_by_lot(fitted, calibrate, answered=answered)
    if as_json:
        print_json([vars(question) for question in questions])
    elif out is not None:
        write_sheet(questions, out)
        say(
            f"Wrote {counted(questions, 'question')} into [bold]{escape(str(out))}[/]. Fill in the "
            "column answer: yes, no, or reversed where the other order holds. Then:"
        )
        given = "FILE.csv" if answers is None and _not_ones_own(data) else answers
        where = "" if given is None else f" --answers {escape(str(given))}"
        say(f"  proprl ask {escape(data)} --take {escape(str(out))}{where}")
    elif keep is not None:
        _interview(questions, fitted, course, keep, who or _login(), learns=bundle is None)


def _check_options(
    calibrate: int | None, out: Path | None, take: Path | None, as_json: bool
) -> None:
    if sum([out is not None, take is not None, as_json]) > 1:
        raise typer.BadParameter("give one of --out, --take and --json")
    if take is not None and calibrate is not None:
        raise typer.BadParameter("--calibrate draws new questions, --take takes answers back")
    if out is not None and out.suffix != ".csv":
        raise typer.BadParameter(f"--out writes a spreadsheet that ends in .csv, not {out}")


def _answers_file(data: str, answers: Path | None) -> Path:
    """Say where answers are kept; only a course folder of one's own has a place for them."""
    from proprl.data.folder.answers_file import ANSWERS_FILE

    if answers is not None:
        return answers
    if what := _not_ones_own(data):
        raise typer.BadParameter(
            f"{data} is {what}, which answers do not change: say where to keep yours, with "
            "--answers FILE.csv"
        )
    return Path(data) / ANSWERS_FILE


def _not_ones_own(data: str) -> str:
    """Say what DATA is, where it is no course folder of one's own; else ""."""
    from proprl.data import bundled_courses
    from proprl.data.public import BENCHMARKS, WHOLE_MAPS
    from proprl.training.bundle import ROOT

    if (Path(data) / ROOT).exists():
        return "a trained model"
    if data in bundled_courses():
        return "a course that comes with proprl"
    return "a public set" if data in (*BENCHMARKS, *WHOLE_MAPS) else ""


def _course_and_bundle(data: str, answers: Path | None) -> tuple[Course, Fitted | None]:
    """Give a course with the answers so far, and the model if DATA is one.

    A bundle learns nothing from answers: they only say what not to ask again.
    """
    import polars as pl

    from proprl.data import Course, load_course
    from proprl.data.folder.answers_file import ANSWERS_FILE
    from proprl.data.folder.course_folder import course_with_answers
    from proprl.estimator import load_model
    from proprl.training.bundle import ROOT

    fitted = None
    if (Path(data) / ROOT).exists():
        fitted = load_model(data).fitted_
        concepts = pl.DataFrame({"id": fitted.concept_ids, "name": fitted.concept_names})
        course = Course.from_tables(concepts=concepts, name=fitted.course_name)
    else:
        course = load_course(data)
    if answers is not None:
        course = course_with_answers(course, answers)
    for warning in course.warnings:
        if warning.file == (ANSWERS_FILE if answers is None else answers.name):
            say(f"[yellow]{escape(str(warning))}[/]", aside=True)
    return course, fitted


def _trained_on(course: Course) -> Fitted:
    from proprl.cli.model_of import model_on

    return model_on(course).fitted_


def _interview(
    questions: list[Question], fitted: Fitted, course: Course, keep: Path, who: str, *, learns: bool
) -> None:
    """Ask at the terminal."""
    from proprl.cli import INTERRUPTED, interrupts_raised
    from proprl.cli.asking import DOES_NOT_LEARN, LEARNS, Asking
    from proprl.curriculum.questions import known_pairs
    from proprl.data.answers import answered_pairs
    from proprl.data.folder.answers_file import AnswersFile

    file = AnswersFile(keep)
    if file.taken_out:
        say(f"[yellow]The damaged last line was taken out: {escape(file.taken_out)}[/]", aside=True)
    known = known_pairs(fitted, answered_pairs(course.answers, course.ids))
    then = LEARNS if learns else DOES_NOT_LEARN
    asking = Asking(questions, course, file, who, known.positives, then)
    try:
        with interrupts_raised():  # what was answered is told
            asking.run()
    except KeyboardInterrupt:
        say("")
        asking.tell_kept()
        raise typer.Exit(INTERRUPTED) from None
    asking.tell_kept()


def _take(sheet: Path, course: Course, keep: Path, who: str) -> None:
    """Take answers back from a spreadsheet: all of them, or none if anything is wrong."""
    from proprl.curriculum.question_sheet import read_sheet
    from proprl.data.folder.answers_file import AnswersFile

    answers, left = read_sheet(sheet, course.ids, who)
    file = AnswersFile(keep)
    for answer in answers:
        file.add(answer)
    unanswered = f" {left} without an answer can still be filled in." if left else ""
    say(f"Took {counted(answers, 'answer')} into [bold]{escape(str(keep))}[/].{unanswered}")


def _login() -> str:
    """Give the name that the user logged in with; "" where there is none, as in a container."""
    from getpass import getuser

    try:
        return getuser()
    except (KeyError, OSError):
        return ""
