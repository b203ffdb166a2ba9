"""`proprl course list | info | check | audit | fetch`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proprl.cli.audit import audit
from proprl.cli.options import Data, Json

if TYPE_CHECKING:
    from proprl.data import Course

DataRoot = Annotated[
    Path | None,
    typer.Option(
        "--data",
        help="Folder of the public sets; else PROPRL_DATA, else a folder of your cache.",
        show_default=False,
    ),
]

_WARNINGS_SHOWN = 20
"""Warnings that `info` shows; a public set has over a hundred repeated rows."""

app = typer.Typer(help="Look at courses and check them.", no_args_is_help=True)
app.command()(audit)


@app.command("list")
def list_courses(root: DataRoot = None, as_json: Json = False) -> None:
    """List the courses that come with proprl, and the public sets that it can fetch.

    Example: proprl course list
    """
    from proprl.cli.console import print_json, print_table
    from proprl.data import bundled_courses, load_course

    courses = [load_course(name) for name in bundled_courses()]
    public = _public_sets(root)
    if as_json:
        bundled = [{"name": c.name, "concepts": len(c), "about": c.description} for c in courses]
        print_json([{**entry, "kind": "bundled", "present": True} for entry in bundled] + public)
        return
    rows = [(c.name, len(c), c.description) for c in courses]
    print_table("Bundled courses", ("name", "concepts", "about"), rows)
    shown = ("name", "concepts", "resources", "transitions", "labelled_pairs", "present")
    print_table(
        "Public sets: get one with `proprl course fetch NAME`",
        (*(column.replace("_", " ") for column in shown), "about, and whom to cite"),
        [
            (*(_yes_or_no(entry[column]) for column in shown), f"{entry['about']}. {entry['cite']}")
            for entry in public
        ],
    )


def _public_sets(root: Path | None) -> list[dict[str, object]]:
    """Say what each public set holds, and whether it is here."""
    from proprl.data.public import BENCHMARKS, WHOLE_MAPS, data_root, missing_files

    return [
        {
            "name": public.name,
            "about": public.title,
            "kind": "public",
            "present": not missing_files(public, data_root(root)),
            **public.facts,
            "cite": public.citation,
        }
        for public in (*BENCHMARKS.values(), *WHOLE_MAPS.values())
    ]


def _yes_or_no(value: object) -> object:
    return ("yes" if value else "no") if isinstance(value, bool) else value


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="A public set: `proprl course list` lists them.")],
    root: DataRoot = None,
    as_json: Json = False,
) -> None:
    """Download a public set: what is missing, each file compared with its published checksum.

    Example: proprl course fetch mooc
    """
    from proprl.cli.console import ProgressBar, escape, print_json, say
    from proprl.data import fetch_benchmark
    from proprl.data.public import find_benchmark

    public = find_benchmark(name)
    bar = ProgressBar()
    bar.begin(f"Fetching {name}", len(public.files))
    try:
        folder = fetch_benchmark(name, root, on_file=lambda _path: bar.step())
    finally:
        bar.end()
    if as_json:
        print_json({"name": name, "folder": str(folder), "files": len(public.files)})
        return
    say(f"{name} is complete in {escape(str(folder))}. Please cite: {escape(public.citation)}")


@app.command()
def info(data: Data, root: DataRoot = None, as_json: Json = False) -> None:
    """Tell what a course holds, and which views a model can use.

    Example: proprl course info campus
    """
    from proprl.cli.console import print_json, print_problems, print_table
    from proprl.data import course_facts, load_course

    course = load_course(data, root=root)
    facts = course_facts(course)
    if as_json:
        print_json(facts)
        return
    rows = [(name.replace("_", " "), value) for name, value in facts.items()]
    print_table(f"{course.name}: {course.description}", ("what", "value"), rows)
    if course.warnings:
        count = len(course.warnings)
        title = (
            "Warnings"
            if count <= _WARNINGS_SHOWN
            else f"The first {_WARNINGS_SHOWN} of {count} warnings"
        )
        print_problems(course.warnings[:_WARNINGS_SHOWN], title)


@app.command()
def check(
    path: Annotated[Path, typer.Argument(help="A course folder.")], as_json: Json = False
) -> None:
    """List everything that is wrong with a course folder; exit 1 if anything is.

    Example: proprl course check my-course
    """
    from proprl.cli.console import (
        counted,
        escape,
        print_json,
        print_problems,
        problem_json,
        say,
    )
    from proprl.data import bundled_courses, check_course, read_course
    from proprl.data.bundled import bundled_folder

    if not path.exists() and str(path) in bundled_courses():
        path = bundled_folder(str(path))
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
            print_problems(errors, f"{path}: {counted(errors, 'problem')}")
        if warnings:
            print_problems(warnings, f"{path}: {counted(warnings, 'warning')}")
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
