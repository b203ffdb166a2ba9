"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Seed = Annotated[int, typer.Option(help="The same seed gives the same bits.", min=0, max=2**32 - 1)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
Data = Annotated[
    str, typer.Argument(help="A course folder, or the name of a bundled course or public set.")
]
Bundle = Annotated[Path, typer.Argument(help="The folder that `proprl train` wrote.")]
BundleOrCourse = Annotated[
    str,
    typer.Argument(
        help="A model's folder, or a course: its folder or name. A course is trained on the way."
    ),
]
