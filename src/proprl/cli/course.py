"""`proprl course list | info | check | audit | fetch`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proprl.cli.console import counted, escape, print_json, print_problems, print_table, say
from proprl.cli.options import Data, Json

if TYPE_CHECKING:
    from proprl.data import Course
    from proprl.data.audit import Audit

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


@app.command("list")
def list_courses(root: DataRoot = None, as_json: Json = False) -> None:
    """List the bundled courses, and the public sets to fetch.

    Example: proprl course list
    """
    from proprl.data import bundled_courses, load_course

    courses = [load_course(name) for name in bundled_courses()]
    heads, rows = ("name", "concepts", "about"), [(c.name, len(c), c.description) for c in courses]
    public = _public_sets(root)
    if as_json:
        here = {"kind": "bundled", "present": True}
        print_json([dict(zip(heads, row, strict=True)) | here for row in rows] + public)
        return
    print_table("Bundled courses", heads, rows)
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
    """Download what is missing of a public set, and check it.

    Each file is compared with its published checksum.

    Example: proprl course fetch mooc
    """
    from proprl.cli.progress_bar import ProgressBar
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
    from proprl.data import course_facts, load_course

    course = load_course(data, root=root)
    facts = course_facts(course)
    if as_json:
        print_json(facts)
        return
    rows = [(name.replace("_", " "), value) for name, value in facts.items()]
    print_table(f"{course.name}: {course.description}", ("what", "value"), rows)
    if count := len(course.warnings):
        some = f"The first {_WARNINGS_SHOWN} of {count} warnings"
        title = some if count > _WARNINGS_SHOWN else "Warnings"
        print_problems(course.warnings[:_WARNINGS_SHOWN], title)


@app.command()
def check(
    path: Annotated[Path, typer.Argument(help="A course folder.")], as_json: Json = False
) -> None:
    """List everything that is wrong with a course folder.

    Exits 1 if anything is.

    Example: proprl course check my-course
    """
    from proprl.data import bundled_courses, check_course, read_course
    from proprl.data.bundled import bundled_folder

    if not path.exists() and str(path) in bundled_courses():
        path = bundled_folder(str(path))
    errors, warnings = check_course(path)
    if as_json:
        print_json({"errors": [*map(vars, errors)], "warnings": [*map(vars, warnings)]})
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
    needed = {
        "links_of_concepts_and_resources": "resources that hold concepts",
        "transitions": "learner behaviour",
        "labelled_pairs": "labelled pairs",
    }
    missing = [what for table, what in needed.items() if not facts[table]]
    return f"It has no {' and no '.join(missing)}." if missing else "Nothing is missing."


@app.command()
def audit(
    data: Data,
    as_json: Json = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 if there are errors.")] = False,
    alignment: Annotated[
        str | None,
        typer.Option(
            help="For a public set: fixed (default), published, with its faults, or shifted, "
            "with its ids one row out and nothing else."
        ),
    ] = None,
    root: DataRoot = None,
) -> None:
    """Look for leaks, contradictions and displaced ids in a course.

    Example: proprl course audit my-course --strict
    """
    from proprl.data.audit import audit_course

    found = audit_course(_every_row(data, alignment, root))
    if as_json:
        print_json(found.to_json())
    else:
        _print_audit(found)
    if strict and found.errors:
        raise typer.Exit(1)


def _every_row(data: str, alignment: str | None, root: Path | None) -> Course:
    """Read a course with every row it has: repeated pairs are what an audit looks for."""
    from proprl.data import bundled_courses, load_course, read_course
    from proprl.data.public import BENCHMARKS, load_benchmark

    if data in BENCHMARKS:
        return load_benchmark(data, root, alignment=alignment or "fixed")  # type: ignore[arg-type]
    for option, value in (("--alignment", alignment), ("--data", root)):
        if value is not None:
            public = ", ".join(BENCHMARKS)
            raise typer.BadParameter(f"{option} is for the public sets only: {public}")
    if data in bundled_courses() or not Path(data).exists():
        return load_course(data)  # it says what to do where there is no such course
    return read_course(data, repeated_pairs="keep")


def _print_audit(audit: Audit) -> None:
    rows = [
        (
            f"{finding.severity}: {finding.title}",
            f"{finding.count} of {finding.total}",
            finding.meaning,
            finding.examples[0] if finding.examples else None,
        )
        for finding in audit.findings
        if finding.severity != "ok"
    ]
    print_table(audit.course, ("finding", "count", "what it means", "example"), rows)
    sound = [finding.title for finding in audit.findings if finding.severity == "ok"]
    if sound:
        say(f"Nothing to report: {escape(', '.join(sound))}.")
    for check, reason in audit.skipped.items():
        say(f"Not looked at: {escape(check.replace('_', ' '))}: {escape(reason)}.")
    say(f"{counted(audit.errors, 'error')}." if audit.errors else "No errors.")
