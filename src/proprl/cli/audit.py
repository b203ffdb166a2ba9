"""`proprl course audit`: what in a course would mislead a model or flatter its results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proprl.cli.options import Json

if TYPE_CHECKING:
    from proprl.data import Course
    from proprl.data.audit import Audit


def audit(
    data: Annotated[
        str, typer.Argument(help="A course folder, or the name of a bundled course or public set.")
    ],
    as_json: Json = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 if there are errors.")] = False,
    alignment: Annotated[
        str | None,
        typer.Option(
            help="For a public set: fixed (default), published, with its faults, or shifted, "
            "with its ids one row out and nothing else."
        ),
    ] = None,
    root: Annotated[
        Path | None, typer.Option("--data", help="For a public set: the folder it lies in.")
    ] = None,
) -> None:
    """Look for leaks, contradictions and displaced ids in a course.

    Example: proprl course audit my-course --strict
    """
    from proprl.cli.console import print_json
    from proprl.data.audit import audit_course

    found = audit_course(_course(data, alignment, root))
    if as_json:
        print_json(found.to_json())
    else:
        _print(found)
    if strict and found.errors:
        raise typer.Exit(1)


def _course(data: str, alignment: str | None, root: Path | None) -> Course:
    """Read a course with every row it has: repeated pairs are what an audit looks for."""
    from proprl.data import bundled_courses, load_course, read_course
    from proprl.data.public import BENCHMARKS, load_benchmark

    if data in BENCHMARKS:
        return load_benchmark(data, root, alignment=alignment or "fixed")  # type: ignore[arg-type]
    for option, value in (("--alignment", alignment), ("--data", root)):
        if value is not None:
            raise typer.BadParameter(
                f"{option} is for the public sets only: {', '.join(BENCHMARKS)}"
            )
    if data in bundled_courses() or not Path(data).exists():
        return load_course(data)  # it says what to do where there is no such course
    return read_course(data, repeated_pairs="keep")


def _print(audit: Audit) -> None:
    from proprl.cli.console import escape, print_table, say

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
    errors = len(audit.errors)
    say(f"{errors} error{'' if errors == 1 else 's'}." if errors else "No errors.")
