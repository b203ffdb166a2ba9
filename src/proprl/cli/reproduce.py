"""`proprl reproduce`: the paper's tables, run here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proprl.cli import interrupts_raised
from proprl.cli.options import Json

if TYPE_CHECKING:
    from proprl.experiments.comparison import Cell


def reproduce(
    experiment: Annotated[str, typer.Argument(help="table1 or table2.")],
    data: Annotated[
        Path | None, typer.Option(help="Where the public data lies; else PROPRL_DATA.")
    ] = None,
    course: Annotated[
        list[str] | None, typer.Option(help="A course to run on; may be given several times.")
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(help="Only these methods; may be given several times.")
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="published, leak-free or new-concepts.")
    ] = "published",
    seeds: Annotated[int, typer.Option(help="Seeds, or folds under leak-free.", min=1)] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="One seed.")] = False,
    encoder: Annotated[str, typer.Option(help="Text encoder.")] = "auto",
    jobs: Annotated[int, typer.Option(help="Runs at the same time.", min=1)] = 1,
    out: Annotated[Path, typer.Option(help="Folder for tables and kept runs.")] = Path("results"),
    as_json: Json = False,
) -> None:
    """Run a table of the paper, beside the published numbers.

    What is done is kept: an interrupted run goes on where it stopped.

    Example: proprl reproduce table1 --data public-data --quick --jobs 2
    """
    from proprl.cli.console import ProgressBar, escape, print_json, print_table, say
    from proprl.errors import ProprlError
    from proprl.experiments.comparison import NAMES, compare
    from proprl.experiments.plans import EXPERIMENTS, plan
    from proprl.experiments.published import METRICS, SETS
    from proprl.experiments.runner import RunStore, run_all
    from proprl.files import write_text

    if experiment not in EXPERIMENTS:
        known = ", ".join(EXPERIMENTS)
        raise ProprlError(f"there is no experiment {experiment!r}; known: {known}")
    methods = method or list(EXPERIMENTS[experiment]())
    courses = course or list(SETS)
    runs = plan(methods, courses, protocol=protocol, repeats=1 if quick else seeds, encoder=encoder)
    root = None if data is None else str(data)
    store = RunStore(out / "runs")
    with interrupts_raised():  # processes under way must be ended
        results = run_all(runs, store, root=root, jobs=jobs, progress=ProgressBar())
    table = compare(
        results,
        methods=methods,
        courses=courses,
        ours="proprl" if "proprl" in methods else None,
        with_published=protocol == "published",
    )
    stem = f"{experiment}-{protocol}"
    for ending, text in (("md", table.markdown()), ("tex", table.latex()), ("csv", table.csv())):
        write_text(out / f"{stem}.{ending}", text)
    if as_json:
        print_json(results)
        return
    heads = [NAMES[m] for m in METRICS]
    if protocol == "published":
        heads += [f"paper {NAMES[m]}" for m in METRICS]
    for c in courses:  # one table each: all of them side by side are too wide for a terminal
        rows = [
            [m, *_numbers([table.cells[m, c, x] for x in METRICS], len(heads))] for m in methods
        ]
        print_table(f"{experiment}, {protocol}: {c}", ["method", *heads], rows)
    say(f"Wrote [bold]{escape(str(out / stem))}[/].md, .tex and .csv.")


def _numbers(cells: Sequence[Cell], count: int) -> list[float | None]:
    """Give our means and, where there is room for them, the published numbers."""
    return [*(cell.mean for cell in cells), *(cell.published for cell in cells)][:count]
