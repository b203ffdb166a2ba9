"""What an experiment gives back (tables, pages, pictures), and what pages are made of."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from proprl import __version__
from proprl.errors import ProprlError
from proprl.experiments.running.plan import Wanted
from proprl.experiments.running.run import Result, Run
from proprl.experiments.settings.load import packaged
from proprl.experiments.show.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Do = Callable[[Sequence[Run]], list[Result]]
"""Gives the result of every run, in order; runs that were kept are not done again."""


@dataclass(frozen=True)
class Outcome:
    """What an experiment found."""

    results: Sequence[Result]
    tables: Sequence[Table]
    texts: Mapping[str, str]
    """Contents by file name."""
    figures: Mapping[str, Callable[[], Figure]] = field(default_factory=dict)
    """How to draw each picture, by file name without ending."""


Experiment = Callable[[Wanted, Do], Outcome]


def page(*parts: str) -> str:
    """Give a page of these parts, with an empty line between them; empty parts are left out."""
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def said(study: str, text: str = "how", **facts: object) -> str:
    """Give a text of a study's page with its facts filled in; `pages.toml` holds them.

    >>> said("ours", "papers", titles="ProPRL")
    '`table1` shows ProPRL with the settings of the papers instead.'
    """
    template: str = packaged("pages.toml")[study][text]
    return template.format(**facts)


def table_heads(study: str, table: str = "heads") -> list[str]:
    """Give the headings of one of a study's tables."""
    heads: list[str] = packaged("pages.toml")[study][table]
    return heads


def file_stem(name: str, wanted: Wanted) -> str:
    """Give the beginning of an experiment's file names; protocols do not overwrite each other.

    >>> file_stem("table3", Wanted()), file_stem("table3", Wanted(protocol="leak-free"))
    ('table3', 'table3-leak-free')
    """
    return name if wanted.protocol == "published" else f"{name}-{wanted.protocol}"


def one_method(experiment: str, wanted: Wanted, default: str) -> str:
    """Give the one method that was asked for, or the default."""
    methods = wanted.methods or [default]
    if len(methods) > 1:
        raise ProprlError(
            f"{experiment} is about one method; asked for {', '.join(methods)}: give one --method"
        )
    return methods[0]


def times_run(wanted: Wanted) -> str:
    """Say in words how often each method was run.

    >>> times_run(Wanted(repeats=1)), times_run(Wanted(protocol="leak-free"))
    ('1 seed', '5 folds')
    """
    word = "seed" if wanted.protocol == "published" else "fold"
    return f"{wanted.repeats} {word}{'' if wanted.repeats == 1 else 's'}"


def commit() -> str:
    """Give the commit that this code is at, and whether it was changed since; else the version."""
    git = ("git", "-C", str(Path(__file__).parents[2]))
    try:
        head, changed = (
            subprocess.run([*git, *words], capture_output=True, text=True, check=True).stdout
            for words in (("rev-parse", "--short=10", "HEAD"), ("status", "--porcelain", "--", "."))
        )
    except (OSError, subprocess.CalledProcessError):
        return f"version {__version__}"
    return head.strip() + (" with changes" if changed.strip() else "")
