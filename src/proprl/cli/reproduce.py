"""`proprl reproduce`: the paper's tables and figures, run here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proprl.cli import INTERRUPTED, interrupts_raised
from proprl.cli.console import err, escape, print_json, print_table, say
from proprl.cli.options import Json
from proprl.errors import ProprlError

if TYPE_CHECKING:
    from proprl.experiments.show.pages import Outcome


Named = Annotated[
    str,
    typer.Argument(
        help="table1, table2, table3, figure1, case-study, hyper, faults, ours, labels, "
        "tune, whole-map, reasons or all."
    ),
]
PublicData = Annotated[
    Path | None, typer.Option(help="Where the public data lies; else PROPRL_DATA.")
]
Courses = Annotated[
    list[str] | None, typer.Option(help="A course to run on; may be given several times.")
]
Methods = Annotated[
    list[str] | None, typer.Option(help="Only these methods; may be given several times.")
]
Protocol = Annotated[str, typer.Option(help="published, leak-free or new-concepts.")]
Seeds = Annotated[int, typer.Option(help="Seeds, or folds under leak-free.", min=1)]
Part = Annotated[str, typer.Option(help="The half of a map: development, or test (for whole-map).")]
Quick = Annotated[bool, typer.Option("--quick", help="One seed.")]
Encoder = Annotated[str, typer.Option(help="Text encoder.")]
Jobs = Annotated[int, typer.Option(help="Runs at the same time.", min=1)]
Out = Annotated[Path, typer.Option(help="Folder for tables and kept runs.")]


def reproduce(
    experiment: Named,
    data: PublicData = None,
    course: Courses = None,
    method: Methods = None,
    protocol: Protocol = "published",
    seeds: Seeds = 5,
    part: Part = "development",
    quick: Quick = False,
    encoder: Encoder = "auto",
    jobs: Jobs = 1,
    out: Out = Path("results"),
    as_json: Json = False,
) -> None:
    """Run a table or figure of the paper beside what was published.

    What is done is kept: an interrupted run goes on where it stopped.

    Example: proprl reproduce table1 --data public-data --quick --jobs 2
    """
    from proprl.cli.progress_bar import ProgressBar
    from proprl.experiments.catalogue import ALL, find_experiments
    from proprl.experiments.running.plan import Wanted
    from proprl.experiments.running.run import WHOLE_MAP
    from proprl.experiments.running.store import RunStore, run_all
    from proprl.experiments.running.workers import KEPT

    if part != Wanted().part and experiment != WHOLE_MAP:
        raise ProprlError(f"--part is for {WHOLE_MAP}: the others have one test part")
    experiments = find_experiments(experiment)
    wanted = Wanted(course, method, protocol, 1 if quick else seeds, encoder, part)
    root = None if data is None else str(data)
    store = RunStore(out / "runs")
    found = {}
    for name, perform in experiments.items():
        try:
            with interrupts_raised():  # processes under way must be ended
                outcome = perform(
                    wanted,
                    lambda runs: run_all(runs, store, root=root, jobs=jobs, progress=ProgressBar()),
                )
        except KeyboardInterrupt:
            err.print(f"In {escape(str(store.folder))} {KEPT}.", soft_wrap=True)
            raise typer.Exit(INTERRUPTED) from None
        found[name] = list(outcome.results)
        if not as_json:
            for table in outcome.tables:
                print_table(table.title, table.heads, table.rows)
        _write(outcome, out)
        if not as_json:
            _tell(outcome, out)
    if as_json:
        print_json(found if experiment == ALL else found[experiment])


def _write(outcome: Outcome, out: Path) -> None:
    from proprl.experiments.show.figures import save_figure
    from proprl.files import write_text

    for name, text in outcome.texts.items():
        write_text(out / name, text)
    for stem, draw in outcome.figures.items():
        save_figure(draw, out / stem)


def _tell(outcome: Outcome, out: Path) -> None:
    names = [*outcome.texts, *(f"{stem}.png and .svg" for stem in outcome.figures)]
    say(f"Wrote {', '.join(escape(name) for name in names)} into [bold]{escape(str(out))}[/].")
