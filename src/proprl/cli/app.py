"""The commands by name. Heavy imports stand inside the commands, so that --help is quick."""

from __future__ import annotations

from typing import Annotated

import typer

from proprl import __version__
from proprl.cli import (
    ask,
    course,
    demo,
    explain,
    export,
    graph,
    place,
    predict,
    reproduce,
    train,
    ways,
)

app = typer.Typer(
    name="proprl",
    help="Learn which concepts must be learned before which.\n\nStart with: proprl demo",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # boxes and colours would cost a third of the time that help takes
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"proprl {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options of the program itself."""


app.command()(demo.demo)
app.add_typer(course.app, name="course")
app.command()(train.train)
app.command()(graph.graph)
app.command()(explain.explain)
app.command()(ways.path)
app.command()(ways.ready)
app.command()(ask.ask)
app.command()(place.place)
app.command()(export.export)
app.command()(predict.evaluate)
app.command()(predict.predict)
app.command()(reproduce.reproduce)
