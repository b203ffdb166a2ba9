"""`proprl course list | info | check`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proprl.cli.options import Data, Json

if TYPE_CHECKING:
    from proprl.data import Course

app = typer.Typer(help="Look at courses and check them.", no_args_is_help=True)


@app.command("list")
def list_courses(as_json: Json = False) -> None:
    """List the courses that come with proprl.

    Example: proprl course list
    """
    from proprl.cli.console import print_json, print_table
    from proprl.data import bundled_courses, load_course

    courses = [load_course(name) for name in bundled_courses()]
    if as_json:
        print_json([{"name": c.name, "concepts": len(c), "about": c.description} for c in courses])
        return
    rows = [(c.name, len(c), c.description) for c in courses]
    print_table("Bundled courses", ("name", "concepts", "about"), rows)


@app.command()
def info(data: Data, as_json: Json = False) -> None:
    """Tell what a course holds, and which views a model can use.

    Example: proprl course info campus
    """
    from proprl.cli.console import print_json, print_problems, print_table
    from proprl.data import course_facts, load_course

    course = load_course(data)
    facts = course_facts(course)
    if as_json:
        print_json(facts)
        return
    rows = [(name.replace("_", " "), value) for name, value in facts.items()]
    print_table(f"{course.name}: {course.description}", ("what", "value"), rows)
    if course.warnings:
        print_problems(course.warnings, "Warnings")


@app.command()
def check(
    path: Annotated[Path, typer.Argument(help="A course folder.")], as_json: Json = False
) -> None:
    """List everything that is wrong with a course folder; exit 1 if anything is.

    Example: proprl course check my-course
    """
    from proprl.cli.console import escape, print_json, print_problems, problem_json, say
    from proprl.data import check_course, read_course

    errors, warnings = check_course(path)
    if as_json:
        print_json(
            {
                "errors": [problem_json(problem) for problem in errors],
                "warnings": [problem_json(problem) for problem in warnings],
            }
        )
    else:
        if errors:
            print_problems(errors, f"{path}: {len(errors)} problems")
        if warnings:
            print_problems(warnings, f"{path}: {len(warnings)} warnings")
        if not errors:
            say(f"{escape(str(path))} is a sound course. {_views(read_course(path))}")
    if errors:
        raise typer.Exit(1)


def _views(course: Course) -> str:
    """Say what a model will have to do without."""
    from proprl.data import course_facts

    facts = course_facts(course)
    missing = [
        what
        for what, table in (
            ("resources that hold concepts", "links_of_concepts_and_resources"),
            ("learner behaviour", "transitions"),
            ("labelled pairs", "labelled_pairs"),
        )
        if not facts[table]
    ]
    return f"It has no {' and no '.join(missing)}." if missing else "Nothing is missing."
