"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
Data = Annotated[str, typer.Argument(help="A course folder, or the name of a bundled course.")]
Bundle = Annotated[Path, typer.Argument(help="The folder that `proprl train` wrote.")]
